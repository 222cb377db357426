import { createHash } from "node:crypto";

/**
 * The mark that is saved for an account: `1:` and 48 bits of a hash, because a fleet saves one for each database.
 * Frozen by a test vector: another form would warn of another account after an upgrade.
 */
export function markAccount(baseUrl: string, username: string): string {
  const hash = createHash("sha256").update(JSON.stringify([baseUrl, username]));
  return `1:${hash.digest("base64url").slice(0, 8)}`;
}

/**
 * Whether a saved mark is that of another account. A state of an earlier version has none, and a newer version may have
 * another form: neither is known to be of another account.
 *
 * @param current returns the mark of this run; undefined if its settings are not known
 */
export function isOtherAccount(saved: unknown, current: () => string | undefined): boolean {
  if (typeof saved !== "string" || !saved.startsWith("1:")) return false;
  const mark = current();
  return mark !== undefined && mark !== saved;
}
