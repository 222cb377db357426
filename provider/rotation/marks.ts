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
  /** Mark of the key that an unconfirmed roll makes the current one. */
  readonly expected?: string | undefined;
}

/** Marks of the credentials of one record, by their names. */
export type Marked = Readonly<Partial<Record<CredentialName, string>>>;

/** Former credentials that are remembered of one secret. */
const maxFormer = 8;

/** The first credential of a record; undefined if it shows none. The next key is not yet one that could be former. */
export function firstOf(credentials: Credentials | Marked): CredentialName | undefined {
  return credentialNames.find((name) => name !== "nextKey" && credentials[name] !== undefined);
}

/** Marks of current credentials, and their salt. */
interface SavedMarked {
  readonly salt: string;
  readonly marked: Marked;
}

/**
 * Reads the saved form of the marks of current credentials whose values are not saved: `1:<salt>:<position in
 * credentialNames>=<mark>,…`. Frozen by test vectors.
 *
 * @throws StateError if it is damaged, or was written by a newer version
 */
export function readMarked(text: string): SavedMarked {
  const [, salt, list] = /^1:([\w-]{22}):(\d=[\w-]{16}(?:,\d=[\w-]{16})*)$/.exec(String(text)) ?? [];
  if (salt === undefined || list === undefined) throw unreadable("currentMarks");
  const entries = list.split(",").map((entry) => [credentialNames[Number(entry[0])], entry.slice(2)] as const);
  if (entries.some(([name]) => name === undefined)) throw unreadable("currentMarks");
  return { salt, marked: Object.fromEntries(entries) as Marked };
}

/** The saved form; undefined if there is nothing to save. */
export function writeMarked({ salt, marked }: SavedMarked): string | undefined {
  const list = credentialNames.flatMap((name, position) =>
    marked[name] === undefined ? [] : [`${position}=${marked[name]}`],
  );
  return list.length === 0 ? undefined : `1:${salt}:${list.join(",")}`;
}

function unreadable(output: "formerMarks" | "currentMarks"): StateError {
  const advice =
    "Use the version of pulumi-rekey that wrote it, or a newer one, or restore an earlier export of the state.";
  return new StateError({ output, reason: "cannot be read", advice });
}

/**
 * Reads the saved form: `1:<rank>:<salt>:<former marks>:<pending mark>`, for an unconfirmed roll with `:<expected
 * mark>`, the salt and the marks in base64url. Frozen by test vectors: a state must be readable after an upgrade.
 *
 * @param saltOfOthers the salt of other marks of the same secret; by default a new one
 * @throws StateError if it is damaged, or was written by a newer version
 */
export function readMarks(text: string | undefined, saltOfOthers?: string): Marks {
  if (text === undefined) {
    const salt = saltOfOthers ?? randomBytes(16).toString("base64url");
    return { salt, rank: credentialNames.length, former: [] };
  }
  const form = /^1:(\d):([\w-]{22}):((?:[\w-]{16}(?:,[\w-]{16})*)?):((?:[\w-]{16})?)(?::([\w-]{16}))?$/;
  const [, rank, salt, former, pending, expected] = form.exec(String(text)) ?? [];
  if (salt === undefined || (saltOfOthers ?? salt) !== salt) throw unreadable("formerMarks");
  const all = former ? former.split(",") : [];
  return { salt, rank: Number(rank), former: all, ...(pending && { pending }), ...(expected && { expected }) };
}

/** The saved form; undefined if there is nothing to save. */
export function writeMarks({ rank, salt, former, pending = "", expected }: Marks): string | undefined {
  if (former.length === 0 && pending === "") return undefined;
  return [1, rank, salt, former.join(","), pending, ...(expected === undefined ? [] : [expected])].join(":");
}

/** The marks of the credentials that a record shows. */
export function markAll(marks: Pick<Marks, "salt">, credentials: Credentials): Marked {
  const shown = credentialNames.flatMap((name) => {
    const value = credentials[name];
    return value === undefined ? [] : [[name, markOf(marks, value)] as const];
  });
  return Object.fromEntries(shown);
}

/** After an unconfirmed reset: the first of these credentials may still be the current one. */
export function withPending(marks: Marks, record: Marked): Marks {
  const first = firstOf(record);
  if (first === undefined) return marks;
  const { expected: _former, ...others } = marks;
  const { [first]: pending, nextKey: expected } = record;
  return { ...others, rank: rankWith(marks, first), pending, ...(expected !== undefined && { expected }) };
}

/** After a confirmed reset: the first credential of each of these records is former, and so is the pending one. */
export function withFormer(marks: Marks, ...records: readonly Marked[]): Marks {
  const { salt, pending } = marks;
  const replaced = [pending, ...records.map((record) => record[firstOf(record) ?? "password"])];
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
 * - `other`: its current key is neither that before an unconfirmed roll nor the one after it: someone else rolled;
 * - `hidden`: it does not show the credential by which records of this secret are judged.
 */
export type Verdict = "current" | "stale" | "pending" | "other" | "hidden";

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
  const record = markAll(marks, credentials);
  const shown = Object.values(record);
  if (marks.former.some((mark) => shown.includes(mark))) return "stale";
  if (marks.pending !== undefined && shown.includes(marks.pending)) return "pending";
  // A credential that was always hidden proves nothing without the one that was marked.
  const hasMarks = marks.former.length > 0 || marks.pending !== undefined;
  const marked = credentialNames[marks.rank];
  if (hasMarks && (marked === undefined || record[marked] === undefined)) return "hidden";
  const { expected } = marks;
  return expected === undefined || expected === record.currentKey ? "current" : "other";
}

/** After a read that shows new credentials: those before are former. A next key that was skipped is former as well. */
export function withReplaced(marks: Marks, before: Marked, { currentKey: now }: Marked): Marks {
  const skipped = [marks.expected, before.nextKey].flatMap((next) =>
    now === undefined || next === undefined || next === now ? [] : [next],
  );
  return withFormer({ ...marks, former: [...new Set([...marks.former, ...skipped])] }, before);
}

function rankWith({ rank }: Pick<Marks, "rank">, name: CredentialName): number {
  return Math.min(rank, credentialNames.indexOf(name));
}

/** 96 bits of an HMAC-SHA256 of a credential. */
function markOf({ salt }: Pick<Marks, "salt">, value: string): string {
  return createHmac("sha256", Buffer.from(salt, "base64url"))
    .update(value)
    .digest()
    .subarray(0, 12)
    .toString("base64url");
}
