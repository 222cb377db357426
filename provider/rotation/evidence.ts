import { type CredentialName, type Credentials } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { type SecretKind } from "../platform/secretKind";
import { type Desired, formOf, programOf } from "./desired";
import { type Marks, marksOf, namesIn, triggerMark } from "./marks";
import {
  emptyMemory,
  isSame,
  type KnownCredential,
  type Memory,
  type PendingReset,
  progressOf,
  type State,
  withFormer,
  withoutValues,
  withRecord,
} from "./memory";
import { type Finding, type Learned } from "./findings";
import { type Context, maySettle, type Reset } from "./plan";
import { isFuture, pastTime, readDate } from "./schedule";

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
  confirmed(unconfirmed: State, responses: readonly SecretResponse[], generatedAt: string, context: Context): State;
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

/** The evidence of a secret that a reset replaces by another one. */
export const recordEvidence: Evidence = {
  compare: compareRecord,
  withPending: withPendingReset,
  confirmed: confirmedReset,
  afterRead: afterRecordRead,
};

function compareRecord(memory: Memory, shown: Marks, { kind }: Context): Verdict {
  const { identity = identityIn(kind, shown), current, former, pending } = memory;
  const mark = identity && shown[identity];
  if (identity === undefined || mark === undefined) return "hidden";
  if (former.includes(mark)) return "former";
  if (mark !== current[identity]) return "new";
  return pending ? "former" : "current";
}

/** The credential by which a record with these marks can be compared. */
export function identityIn({ identities }: SecretKind, marks: Marks | Credentials): CredentialName | undefined {
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

/** The marks by which a former record is recognized, whichever of its credentials is shown. */
function identityMarks({ identities }: SecretKind, marks: Marks): string[] {
  return identities.flatMap((name) => marks[name] ?? []);
}

function withPendingReset({ state, read }: BeforeReset, desired: Desired, due: Reset, context: Context): State {
  const { kind } = context;
  const memory = state?.memory ?? { ...emptyMemory(context.now), ...programOf(desired) };
  const shown = marksOf(memory, read?.credentials ?? {});
  const identity = memory.identity ?? identityIn(kind, shown);
  const isCurrentKnown =
    identity !== undefined && shown[identity] !== undefined && !memory.former.includes(shown[identity]);
  return {
    ...(state ?? newState(memory, read)),
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending: pendingReset(memory, desired, due, { now: context.now, canSettle: isCurrentKnown }),
      identity,
      // What a read shows just before a reset is replaced by it, whether or not it was known.
      former: withFormer(memory, identityMarks(kind, shown), memory.current),
      replaced: knownCredential(kind, memory.current, memory) ?? knownCredential(kind, shown, memory),
      form: formOf(desired),
    },
  };
}

function newState(memory: Memory, read: SecretResponse | undefined): State {
  const empty: State = { rotationCount: 0, memory };
  return read ? withRecord(empty, read) : empty;
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

/** The time of a reset that is sent now. What is generated for a date is at least as young as the date. */
function sentFor({ rotatedSince }: Desired, now: Date): string {
  const date = rotatedSince ? readDate(rotatedSince) : now;
  return new Date(Math.max(date.getTime(), now.getTime())).toISOString();
}

function confirmedReset(
  unconfirmed: State,
  responses: readonly SecretResponse[],
  generatedAt: string,
  context: Context,
): State {
  const { kind } = context;
  const { memory } = unconfirmed;
  const values = valuesIn(responses);
  const current = marksOf(memory, values);
  const identity = identityIn(kind, current);
  return {
    ...countedReset(unconfirmed, responses, generatedAt),
    ...values,
    memory: {
      ...confirmedMemory(memory, context.now),
      identity: identity ?? memory.identity,
      current,
      former: withFormer(memory, identityMarks(kind, memory.current), current),
      isUnread: undefined,
      generatedAt,
    },
  };
}

/** The credentials of responses; of those with the same name, that of the first response. */
export function valuesIn(responses: readonly SecretResponse[]): Credentials {
  const all = responses.map(({ credentials }) => credentials);
  return Object.assign({}, ...all.toReversed()) as Credentials;
}

/** The state after a confirmed reset, without the values that it has replaced. */
export function countedReset(unconfirmed: State, responses: readonly SecretResponse[], rotatedAt: string): State {
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

function afterRecordRead(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const verdict = compareRecord(memory, shown, context);
  if (memory.pending) {
    const isSettled = verdict === "new" && maySettle(memory, context);
    return isSettled ? settled(saved, memory.pending, read, context) : { state: saved, findings: [] };
  }
  if (verdict === "former") return stale(saved);
  if (verdict === "hidden") return afterHidden(saved, read, context);
  return verdict === "current" ? afterSame(saved, read, shown, context) : afterDrift(saved, read, shown, context);
}

/** A read shows the result of the pending reset. */
function settled(saved: State, pending: PendingReset, read: SecretResponse, context: Context): Learned {
  const generatedAt = pastTime(pending.firstSentAt, context.now);
  const state = confirmedReset(saved, [read], generatedAt, context);
  return { state, findings: [{ kind: "settled" }, ...lost(saved.memory.current, state.memory.current)] };
}

/** A read that shows a former credential changes nothing. */
export function stale(saved: State): Learned {
  const why =
    "the platform still shows a former credential. If that lasts, set a new version, which resets it once more";
  return { state: saved, findings: [{ kind: "notCompared", why }] };
}

/** Of the record, only fields that are no credentials are taken. What is hidden now is not waited for any longer. */
export function afterHidden(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const names = namesIn(memory.current);
  const state = {
    ...withRecord(saved, read),
    otherFields: saved.otherFields,
    memory: { ...memory, isUnread: undefined },
  };
  const unseen: Finding[] = memory.isUnread ? [{ kind: "unknown" }] : hidden(names);
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", changedFields(saved, read)), ...unseen],
  };
}

/** The secret is unchanged; other credentials of its record may be new, or shown for the first time. */
export function afterSame(saved: State, read: SecretResponse, shown: Marks, context: Context): Learned {
  const { memory } = saved;
  const { current } = memory;
  const known = namesIn(current);
  const changed = known.filter((name) => shown[name] !== undefined && shown[name] !== current[name]);
  const missing = known.filter((name) => shown[name] === undefined);
  const state: State = {
    ...withRecord(saved, read),
    ...read.credentials,
    otherFields: read.otherFields,
    memory: { ...memory, current: { ...current, ...shown }, isUnread: undefined },
  };
  const findings = [...found("drift", [...changed, ...changedFields(saved, read)]), ...hidden(missing)];
  return { state: withCreationTime(state, context), findings };
}

/** Someone else has changed the secret, or it was not known before. */
export function afterDrift(saved: State, read: SecretResponse, shown: Marks, context: Context): Learned {
  const { memory } = saved;
  const { kind } = context;
  const known = knownCredential(kind, memory.current, memory);
  const state: State = {
    ...withRecord(withoutValues(saved), read),
    ...read.credentials,
    otherFields: read.otherFields,
    memory: {
      ...memory,
      identity: memory.identity ?? identityIn(kind, shown),
      current: shown,
      former: withFormer(memory, identityMarks(kind, memory.current), shown),
      replaced: known ?? memory.replaced,
      isUnread: undefined,
    },
  };
  const names = [...namesIn(shown), ...changedFields(saved, read)];
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", known ? names : []), ...lost(memory.current, shown)],
  };
}

/** The state of a secret that is adopted without a reset. */
export function adopted(desired: Desired, read: SecretResponse | undefined, context: Context): Learned {
  const memory = emptyMemory(context.now);
  const { credentials = {} } = read ?? {};
  const current = marksOf(memory, credentials);
  const identity = identityIn(context.kind, current);
  const state: State = {
    ...credentials,
    rotationCount: 0,
    memory: {
      ...memory,
      ...programOf(desired),
      applied: triggerMark(memory, desired),
      identity,
      current,
      form: formOf(desired),
      keys: context.account,
    },
  };
  const why = read
    ? "the platform does not show them"
    : "nothing was contacted, because rekey:databasePath is not set, so this platform cannot be read";
  return {
    state: read ? withCreationTime(withRecord(state, read), context) : state,
    findings: identity ? tokenOnly(identity) : [{ kind: "adopted", why }],
  };
}

/**
 * Takes the `creationTime` of a record, if it is not in the future, for the time when its secret was generated: nothing
 * better is known of an adopted one.
 */
function withCreationTime(state: State, { kind, now }: Context): State {
  const seconds = state.record?.["creationTime"];
  const isAdopted = progressOf(state).outcome === "adopted" && !kind.rolls;
  if (!isAdopted || typeof seconds !== "number") return state;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime()) || isFuture(at.toISOString(), now)) return state;
  return { ...state, memory: { ...state.memory, generatedAt: at.toISOString() } };
}

function changedFields({ record = {} }: State, read: SecretResponse): string[] {
  return Object.keys(record).filter((name) => {
    return read.record[name] !== undefined && !isSame(record[name], read.record[name]);
  });
}

/** A database may have one token instead of a password, as the console of a vendor shows it. */
export function tokenOnly(identity: CredentialName | undefined): Finding[] {
  return identity === "restToken" ? [{ kind: "tokenOnly" }] : [];
}

/** What was known before, and is not known any more. */
export function lost(before: Marks, after: Marks): Finding[] {
  return found(
    "unknown",
    namesIn(before).filter((name) => after[name] === undefined),
  );
}

/** Credentials that are saved, and that a read does not show. */
function hidden(names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const why = `the platform does not show ${names.join(", ")}. If it was changed outside of Rekey, set a new version`;
  return [{ kind: "notCompared", why }];
}

/** A finding about some names, if there are any. */
function found(kind: Finding["kind"], names: readonly string[]): Finding[] {
  return names.length > 0 ? [{ kind, names }] : [];
}

/** The earlier of two times: a clock may have been set back. */
function earlier(a: string, b: string): string {
  return a < b ? a : b;
}
