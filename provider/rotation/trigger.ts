import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The inputs whose change requests one more reset. */
export interface Trigger {
  readonly version?: Scalar | null | undefined;
  readonly triggers?: Readonly<Record<string, Scalar | null | undefined>> | null | undefined;
}

type Scalar = string | number | boolean;

/** How a saved mark compares with a trigger. `unreadable`: it was written by a newer version, or is damaged. */
export type Comparison = "same" | "different" | "unreadable";

/**
 * The canonical form of a trigger, in which `1` and `"1"`, and no triggers and `{}`, are the same. Frozen by test
 * vectors: another form would reset every password on an upgrade.
 */
export function canonicalTrigger({ version, triggers }: Trigger): string {
  const entries = Object.entries(triggers ?? {})
    .flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, String(value)] as const]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([version === null || version === undefined ? null : String(version), entries]);
}

/** Whether a trigger is empty. Removing the whole trigger requests nothing. */
export function isNoTrigger(trigger: Trigger): boolean {
  return canonicalTrigger(trigger) === canonicalTrigger({});
}

/**
 * The mark that is saved for a trigger: `1:<salt>:<HMAC-SHA256>`. A version can be a short secret, which a plain hash
 * would reveal, so the mark is salted and also kept secret.
 */
export function markTrigger(trigger: Trigger): string {
  const salt = randomBytes(16);
  return `1:${salt.toString("hex")}:${macOf(salt, trigger).toString("hex")}`;
}

/** Compares a saved mark with a trigger. */
export function compareTrigger(mark: unknown, trigger: Trigger): Comparison {
  const parts = typeof mark === "string" ? /^1:([0-9a-f]{32}):([0-9a-f]{64})$/.exec(mark) : null;
  if (!parts?.[1] || !parts[2]) return "unreadable";
  const salt = Buffer.from(parts[1], "hex");
  return timingSafeEqual(Buffer.from(parts[2], "hex"), macOf(salt, trigger)) ? "same" : "different";
}

function macOf(salt: Buffer, trigger: Trigger): Buffer {
  return createHmac("sha256", salt).update(canonicalTrigger(trigger)).digest();
}

/** Whether a trigger is the one of a mark. Removing the trigger does not count as changing it. */
export function isSameTrigger(mark: string, trigger: Trigger): boolean {
  return isNoTrigger(trigger) || compareTrigger(mark, trigger) === "same";
}

/**
 * The mark of the trigger that a confirmed reset applied. A removed trigger stays the applied one, so that restoring it
 * requests nothing. The same holds for one whose reset was not confirmed before it was removed, because this reset
 * replaces that one.
 *
 * @param saved the attempted mark, else the applied one
 */
export function appliedMark(saved: readonly (string | undefined)[], trigger: Trigger): string {
  if (!isNoTrigger(trigger)) return markTrigger(trigger);
  return saved.find((mark) => mark !== undefined && compareTrigger(mark, {}) !== "same") ?? markTrigger(trigger);
}
