import { type CredentialName, type Credentials } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { type SecretKind } from "../domain/secretKind";
import { type Desired } from "./desired";
import { type Learned } from "./findings";
import { type Marks, triggerMark } from "./marks";
import { type Context, type Reset } from "./plan";
import { readDate } from "./schedule";
import {
  type KnownCredential,
  type Memory,
  type PendingReset,
  type State,
  withoutValues,
  withRecord,
} from "./state";

/**
 * What a record proves about the credential by which it is compared:
 * - `hidden`: nothing, because the record does not show it;
 * - `former`: nothing, because it is one that was replaced, or the one that the pending reset is to replace;
 * - `current`: it is unchanged;
 * - `new`: the pending reset was applied; without one, someone else has changed it.
 */
export type Verdict = "hidden" | "former" | "current" | "new";

/** How records of a kind are compared with what is remembered, and what follows from it. */
export interface Evidence {
  compare(memory: Memory, shown: Marks, context: Context): Verdict;
  /** The state with a reset that is about to be sent. It is saved if nothing comes back. */
  withPending(before: BeforeReset, desired: Desired, due: Reset, context: Context): State;
  /**
   * The state after a reset that is known to be applied.
   *
   * @param responses its own, unless that was lost, and that of a read after it
   */
  confirmed(
    unconfirmed: State,
    responses: readonly SecretResponse[],
    generatedAt: string,
    context: Context,
  ): State;
  /** The state after a read, also while a reset is pending. What is masked or missing is not shown, not gone. */
  afterRead(saved: State, read: SecretResponse, context: Context): Learned;
}

/** What is known before a reset. */
export interface BeforeReset {
  /** Undefined for a new resource that is not adopted. */
  readonly state: State | undefined;
  /** Undefined if the platform cannot be read. */
  readonly read: SecretResponse | undefined;
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
  { connection }: Pick<Memory, "connection">,
): KnownCredential | undefined {
  const name = identityIn(kind, marks);
  return name && { name, mark: marks[name] ?? "", username: connection?.username };
}

/** The marks by which an old record is recognized, whichever of its credentials it shows. */
export function identityMarks({ identities }: SecretKind, marks: Marks): string[] {
  return identities.flatMap((name) => marks[name] ?? []);
}

/** The reset that is about to be sent, as one more in a row if it repeats one that was not confirmed. */
export function pendingReset(
  memory: Memory,
  desired: Desired,
  { reason }: Reset,
  { now, canSettle }: { readonly now: Date; readonly canSettle: boolean },
): PendingReset {
  const { pending: last } = memory;
  const trigger = triggerMark(memory, desired);
  const isAgain = last !== undefined && (trigger === "" || trigger === last.trigger);
  const sentAt = sentFor(desired, now);
  return {
    ...(isAgain ? { ...last, count: last.count + 1 } : { trigger, reason, count: 1 }),
    // Of several in a row, the first one may be the one that was applied.
    firstSentAt: last ? earlier(last.firstSentAt, sentAt) : sentAt,
    lastSentAt: sentAt,
    canSettle: canSettle || undefined,
  };
}

/**
 * The time of a reset that is sent now. It is never before `rotatedSince`: with a clock that is two minutes slow and a
 * date of one minute ago, the new secret would look older than the date, and the next `up` would reset it again.
 */
export function sentFor({ rotatedSince }: Desired, now: Date): string {
  const date = rotatedSince ? readDate(rotatedSince) : now;
  return new Date(Math.max(date.getTime(), now.getTime())).toISOString();
}

/** The credentials of responses; of those with the same name, that of the first response. */
export function valuesIn(responses: readonly SecretResponse[]): Credentials {
  const all = responses.map(({ credentials }) => credentials);
  return Object.assign({}, ...all.toReversed()) as Credentials;
}

/** The state after a confirmed reset, without the values that it has replaced. */
export function countedReset(
  unconfirmed: State,
  responses: readonly SecretResponse[],
  rotatedAt: string,
): State {
  const empty: State = { ...withoutValues(unconfirmed), otherFields: undefined, problems: [] };
  return {
    ...responses.reduce(withRecord, empty),
    rotatedAt,
    rotationCount: unconfirmed.rotationCount + 1,
    rotationReason: unconfirmed.memory.pending?.reason,
  };
}

/** What the memory of each kind says after its pending reset was confirmed. */
export function confirmedMemory(memory: Memory, now: Date): Memory {
  const { trigger = "", lastSentAt = now.toISOString() } = memory.pending ?? {};
  return {
    ...memory,
    applied: trigger || memory.applied,
    pending: undefined,
    // A clock may have been set back since.
    scheduledFrom: earlier(lastSentAt, now.toISOString()),
  };
}

/** The earlier of two times: a clock may have been set back. */
function earlier(a: string, b: string): string {
  return a < b ? a : b;
}
