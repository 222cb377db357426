import { createHmac, randomBytes } from "node:crypto";
import { StateError } from "../platform/errors";
import { type CredentialName, credentialNames, type Credentials } from "../records/credentials";

/**
 * Salted marks of former credentials of one secret. They are compared with what the platform shows, because a read may
 * be late, and a response may repeat an old record. The credentials themselves are not kept.
 */
export interface Marks {
  readonly salt: string;
  /** Position in `credentialNames` of the best credential that was ever marked. */
  readonly rank: number;
  /** Marks of credentials that a confirmed reset has replaced; the newest last. */
  readonly former: readonly string[];
  /** Mark of what was current before a reset that is not confirmed. */
  readonly pending?: string | undefined;
}

/** Former credentials that are remembered of one secret. */
const maxFormer = 8;

/** The first credential of a record; undefined if it shows none. */
export function firstOf(credentials: Credentials): CredentialName | undefined {
  return credentialNames.find((name) => credentials[name] !== undefined);
}

/**
 * Reads the saved form: `1:<rank>:<salt>:<former marks>:<pending mark>`, the salt and the marks in base64url. Frozen by
 * test vectors: a state must be readable after an upgrade.
 *
 * @throws StateError if it is damaged, or was written by a newer version
 */
export function readMarks(text: string | undefined): Marks {
  if (text === undefined) {
    return { salt: randomBytes(16).toString("base64url"), rank: credentialNames.length, former: [] };
  }
  const form = /^1:(\d):([\w-]{22}):((?:[\w-]{16}(?:,[\w-]{16})*)?):((?:[\w-]{16})?)$/;
  const [, rank, salt, former, pending] = form.exec(String(text)) ?? [];
  if (salt === undefined) {
    const advice =
      "Use the version of pulumi-rekey that wrote it, or a newer one, or restore an earlier export of the state.";
    throw new StateError({ output: "formerMarks", reason: "cannot be read", advice });
  }
  const all = former ? former.split(",") : [];
  return { salt, rank: Number(rank), former: all, ...(pending && { pending }) };
}

/** The saved form; undefined if there is nothing to save. */
export function writeMarks({ rank, salt, former, pending = "" }: Marks): string | undefined {
  if (former.length === 0 && pending === "") return undefined;
  return `1:${rank}:${salt}:${former.join(",")}:${pending}`;
}

/** After an unconfirmed reset: the first of these credentials may still be the current one. */
export function withPending(marks: Marks, credentials: Credentials): Marks {
  const first = firstOf(credentials);
  return first === undefined
    ? marks
    : { ...marks, rank: rankWith(marks, first), pending: markOfFirst(marks, credentials) };
}

/** After a confirmed reset: the first credential of each of these records is former, and so is the pending one. */
export function withFormer(marks: Marks, ...records: readonly Credentials[]): Marks {
  const { salt, pending } = marks;
  const replaced = [pending, ...records.map((credentials) => markOfFirst(marks, credentials))];
  const added = replaced.filter((mark) => mark !== undefined);
  const former = [...marks.former.filter((mark) => !added.includes(mark)), ...new Set(added)].slice(-maxFormer);
  const rank = records
    .flatMap((one) => firstOf(one) ?? [])
    .reduce((best, name) => rankWith({ rank: best }, name), marks.rank);
  return { salt, rank, former };
}

/**
 * What a record proves:
 * - `current`: its credentials are neither former nor pending ones;
 * - `stale`: it is older than a confirmed reset;
 * - `pending`: it shows what was current before an unconfirmed reset;
 * - `hidden`: it does not show the credential by which records of this secret are judged.
 */
export type Verdict = "current" | "stale" | "pending" | "hidden";

/**
 * Judges a record as a whole, by its first credential and by those that were marked: a reset replaces all of them.
 *
 * @param known the credentials that are known to exist
 */
export function judge(marks: Marks, known: readonly CredentialName[], credentials: Credentials): Verdict {
  const first = firstOf(credentials);
  if (first === undefined) return "hidden";
  const best = known.reduce((rank, name) => rankWith({ rank }, name), marks.rank);
  if (credentialNames.indexOf(first) > best) return "hidden";
  // Of a record, what was marked may be another credential than the first: a platform may mask some, now and then.
  const shown = credentialNames.map((name) => markOf(marks, credentials[name]));
  if (marks.former.some((mark) => shown.includes(mark))) return "stale";
  if (marks.pending !== undefined && shown.includes(marks.pending)) return "pending";
  // A credential that was always hidden proves nothing without the one that was marked.
  const hasMarks = marks.former.length > 0 || marks.pending !== undefined;
  return hasMarks && shown[marks.rank] === undefined ? "hidden" : "current";
}

function rankWith({ rank }: Pick<Marks, "rank">, name: CredentialName): number {
  return Math.min(rank, credentialNames.indexOf(name));
}

/** The mark of the first credential. */
function markOfFirst(marks: Pick<Marks, "salt">, credentials: Credentials): string | undefined {
  return markOf(marks, credentials[firstOf(credentials) ?? "password"]);
}

/** 96 bits of an HMAC-SHA256 of a credential. */
function markOf({ salt }: Pick<Marks, "salt">, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return createHmac("sha256", Buffer.from(salt, "base64url"))
    .update(value)
    .digest()
    .subarray(0, 12)
    .toString("base64url");
}
