import { type SecretKind } from "../../domain/secretKind";
import { type CredentialName, type Credentials } from "../../records/fields";
import { type Marks } from "../memory/marks";
import { type KnownCredential, type Memory } from "../memory/memory";

/**
 * The proof of a read about the credential by which a secret is compared:
 * - `hidden`: nothing, because it is not shown;
 * - `unchanged`: it is the current one. An open attempt has not been applied so far;
 * - `late`: nothing, because it shows one that was replaced before;
 * - `new`: another one, which may be that of the open attempt. Without an attempt, someone else has changed it;
 * - `foreign`: another one than the one that is expected, so someone else has changed it.
 */
export type Verdict = "hidden" | "unchanged" | "late" | "new" | "foreign";

/** Compares what a read shows with what is remembered. What an attempt expects makes it exact. */
export function compare(
  { current, past, attempt }: Pick<Memory, "current" | "past" | "attempt">,
  shown: Marks,
  kind: SecretKind,
): Verdict {
  const { marks, identity = identityIn(kind, shown) } = current;
  const mark = identity && shown[identity];
  if (identity === undefined || mark === undefined) return "hidden";
  if (past.includes(mark)) return "late";
  if (mark === marks[identity]) return "unchanged";
  // The next key of a pair is expected also without an attempt.
  const expected = attempt ? attempt.expects : marks.nextKey;
  return expected === undefined || mark === expected ? "new" : "foreign";
}

/** The credential by which a record with these marks can be compared. */
export function identityIn(
  { identities }: SecretKind,
  marks: Marks | Credentials,
): CredentialName | undefined {
  return identities.find((name) => marks[name] !== undefined);
}

/** The credential by which a record with these marks is compared, which is also the one that clients use. */
export function knownCredential(
  kind: SecretKind,
  marks: Marks,
  { connection }: Memory["program"],
): KnownCredential | undefined {
  const name = identityIn(kind, marks);
  const username = connection?.username ?? kind.username;
  return name && { name, mark: marks[name] ?? "", username };
}

/** The marks by which an old record is recognized, whichever of its credentials it shows. */
export function identityMarks({ identities }: SecretKind, marks: Marks): string[] {
  return identities.flatMap((name) => marks[name] ?? []);
}

/** The marks of what a change replaces: of a pair of keys both, because two rolls replace both. */
export function replacedMarks(kind: SecretKind, marks: Marks): string[] {
  const next = kind.next && marks[kind.next];
  return [...identityMarks(kind, marks), ...(next === undefined ? [] : [next])];
}
