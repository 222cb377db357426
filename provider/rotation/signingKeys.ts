import { type SecretResponse } from "../records/response";
import { type Desired, formOf } from "./desired";
import { afterDrift, afterHidden, afterSame, noLongerKnown, stale } from "./afterRead";
import {
  type BeforeReset,
  confirmedMemory,
  countedReset,
  type Evidence,
  pendingReset,
  valuesIn,
  type Verdict,
} from "./evidence";
import { type Marks, marksOf, triggerMark } from "./marks";
import {
  emptyMemory,
  type KeyMemory,
  type Memory,
  type PendingReset,
  type State,
  withFormer,
  withRecord,
} from "./state";
import { type Learned } from "./findings";
import { type Context, type Plan, type Question, type Refusal, type Reset } from "./plan";
import { dueAt, isFuture, pastTime } from "./schedule";

/**
 * Signing keys come in pairs. A roll makes the next key the current one and generates a new next key, so a read proves
 * exactly whether a roll was applied: the current key is the old next one, or it is not.
 */
export const keyEvidence: Evidence = {
  compare: compareKeys,
  withPending: withPendingRoll,
  confirmed: confirmedRoll,
  afterRead: afterKeyRead,
};

/**
 * For this long after a roll, a read that shows an old key counts as outdated. Later, the read is believed: the
 * platform may have restored a backup.
 */
const latestReadMs = 24 * 3_600_000;

function compareKeys(memory: Memory, { currentKey, nextKey }: Marks, context: Context): Verdict {
  const { current, pending } = memory;
  if (currentKey === undefined) return "hidden";
  if (memory.former.includes(currentKey) && (pending || mayBeLate(memory, context))) {
    return "former";
  }
  if (currentKey === current.currentKey) return pending ? "former" : "current";
  if (pending || current.nextKey === undefined || currentKey === current.nextKey) return "new";
  // Half of another pair is not enough: receivers need both.
  return nextKey === undefined ? "hidden" : "new";
}

/** Whether a read may still show what the last roll has replaced. */
function mayBeLate({ keys, scheduledFrom }: Memory, { now }: Context): boolean {
  const { rolledAt = scheduledFrom } = keys ?? {};
  return Math.abs(now.getTime() - Date.parse(rolledAt)) < latestReadMs;
}

function withPendingRoll(
  { state, read }: BeforeReset,
  desired: Desired,
  due: Reset,
  context: Context,
): State {
  const memory = state?.memory ?? emptyMemory(context.now);
  const shown = marksOf(memory, read?.credentials ?? {});
  const isIdentified = shown.currentKey !== undefined && !memory.former.includes(shown.currentKey);
  const pending = pendingReset(memory, desired, due, {
    now: context.now,
    canSettle: isIdentified,
  });
  return {
    ...(state ?? { rotationCount: 0 }),
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending,
      // The pair that the roll replaces, even if it was not known before.
      current: isIdentified ? { ...memory.current, ...shown } : memory.current,
      keys: { ...memory.keys, ...context.account, rolledAt: pending.lastSentAt },
      ...(!state && { form: formOf(desired) }),
    },
  };
}

function confirmedRoll(
  unconfirmed: State,
  responses: readonly SecretResponse[],
  rolledAt: string,
  context: Context,
): State {
  const { memory } = unconfirmed;
  const before = memory.current;
  const values = valuesIn(responses);
  const shown = marksOf(memory, values);
  // A roll makes the next key the current one, even if no response shows that. A key that was current before cannot be
  // one that a roll makes current: then what is remembered is not a real pair.
  const wasCurrent = [before.currentKey, ...memory.former].some((mark) => mark === before.nextKey);
  const isNextKnown = before.nextKey !== undefined && !wasCurrent;
  const rolled: Marks = isNextKnown ? { currentKey: before.nextKey } : {};
  const current: Marks = { ...rolled, ...shown };
  const currentKey =
    shown.currentKey === undefined && isNextKnown ? unconfirmed.nextKey : undefined;
  return {
    ...countedReset(unconfirmed, responses, rolledAt),
    ...(currentKey !== undefined && { currentKey }),
    ...values,
    memory: {
      ...confirmedMemory(memory, context.now),
      current,
      former: withFormer(memory, replacedKeys(before), current),
      isUnread: undefined,
      generatedAt: current.currentKey === before.nextKey ? memory.keys?.nextGeneratedAt : undefined,
      keys: { ...memory.keys, nextGeneratedAt: rolledAt },
    },
  };
}

/** Both keys of a pair: two rolls replace both. After one roll, `withFormer` leaves out the one that is current. */
function replacedKeys({ currentKey, nextKey }: Marks): string[] {
  return [currentKey, nextKey].filter((mark) => mark !== undefined);
}

function afterKeyRead(saved: State, read: SecretResponse, context: Context): Learned {
  const shown = marksOf(saved.memory, read.credentials);
  const here = inAccount(saved, shown, context);
  if (here === undefined) return notHere(saved);
  const verdict = compareKeys(here.memory, shown, context);
  const { pending } = here.memory;
  if (pending) {
    return verdict === "new"
      ? afterPending(here, pending, read, context)
      : { state: here, findings: [] };
  }
  if (verdict === "former") return stale(here);
  if (verdict === "hidden") return afterHidden(here, read, context);
  return verdict === "current"
    ? afterSame(here, read, shown, context)
    : afterRollByOthers(here, read, shown, context);
}

/** The state in the account of the settings; undefined if that is another one, and the pair is not the known one. */
function inAccount(saved: State, shown: Marks, context: Context): State | undefined {
  const { memory } = saved;
  if (!isElsewhere(memory, context)) return saved;
  const known = [...memory.former, ...replacedKeys(memory.current)];
  const isKnown = replacedKeys(shown).some((mark) => known.includes(mark));
  return isKnown
    ? { ...saved, memory: { ...memory, keys: { ...memory.keys, ...context.account } } }
    : undefined;
}

function notHere(saved: State): Learned {
  const why = "it was read with different settings than before, and may be a different pair";
  return { state: saved, findings: [{ kind: "notCompared", why }] };
}

/** A read shows another current key than before the pending roll: the next one, or that of someone else. */
function afterPending(
  saved: State,
  pending: PendingReset,
  read: SecretResponse,
  context: Context,
): Learned {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const { nextKey } = memory.current;
  const isByOthers = nextKey !== undefined && shown.currentKey !== nextKey;
  if (isByOthers) {
    // Half of another pair is not enough: receivers need both.
    if (shown.nextKey === undefined) return { state: saved, findings: [] };
    return { state: overtaken(saved, pending, read, context), findings: [{ kind: "overtaken" }] };
  }
  if (!pending.canSettle) return { state: saved, findings: [] };
  const rolledAt = pastTime(pending.firstSentAt, context.now);
  const state = confirmedRoll(saved, [read], rolledAt, context);
  return {
    state,
    findings: [{ kind: "settled" }, ...noLongerKnown(memory.current, state.memory.current)],
  };
}

/**
 * Someone else has rolled both keys away since the pending roll was sent: what it was to do is done, and receivers need
 * time before another roll.
 */
function overtaken(
  saved: State,
  pending: PendingReset,
  read: SecretResponse,
  context: Context,
): State {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const now = context.now.toISOString();
  return {
    ...withRecord(saved, read),
    ...read.credentials,
    otherFields: undefined,
    memory: {
      ...confirmedMemory(memory, context.now),
      scheduledFrom: now,
      current: shown,
      isUnread: undefined,
      former: withFormer(memory, replacedKeys(memory.current), shown),
      generatedAt: pending.lastSentAt,
      keys: { ...memory.keys, rolledAt: now, nextGeneratedAt: pending.lastSentAt },
    },
  };
}

/** Someone else has rolled the keys, or they were not known before. */
function afterRollByOthers(
  saved: State,
  read: SecretResponse,
  shown: Marks,
  context: Context,
): Learned {
  const { memory } = saved;
  const before = memory.current;
  const { state, findings } = afterDrift(saved, read, shown, context);
  if (before.currentKey === undefined) return { state, findings };
  const isOneRoll = shown.currentKey === before.nextKey;
  const keys: KeyMemory = {
    ...memory.keys,
    rolledAt: context.now.toISOString(),
    nextGeneratedAt: undefined,
  };
  const rolled: Memory = {
    ...state.memory,
    former: withFormer(memory, replacedKeys(before), shown),
    generatedAt: isOneRoll ? memory.keys?.nextGeneratedAt : undefined,
    keys,
  };
  return { state: { ...state, memory: rolled }, findings, isRolledOnce: isOneRoll };
}

/**
 * The state in which a roll that a read has noticed counts as that of the new version: a run that was killed before it
 * could save it has made it, or someone else.
 */
export function claimed({ state, findings }: Learned, desired: Desired): Learned {
  const { memory } = state;
  const rotatedAt = memory.keys?.rolledAt ?? memory.scheduledFrom;
  const next: State = {
    ...state,
    rotatedAt,
    rotationCount: state.rotationCount + 1,
    rotationReason: "trigger",
    memory: { ...memory, applied: triggerMark(memory, desired), scheduledFrom: rotatedAt },
  };
  return {
    state: next,
    findings: [{ kind: "claimed" }, ...findings.filter(({ kind }) => kind === "unknown")],
  };
}

/** Whether the settings are those of another account than the memory's. Only a read can show that both are the same. */
export function isElsewhere({ keys }: Memory, { account: here }: Context): boolean {
  return (
    keys?.account !== undefined && here?.account !== undefined && keys.account !== here.account
  );
}

/** Keys of another account are not rolled. */
export function otherAccount(_: Reset, { memory, context }: Question): Refusal | undefined {
  if (!memory || !isElsewhere(memory, context)) return undefined;
  return {
    kind: "refuse",
    code: "REKEY_OTHER_ACCOUNT",
    why: whyElsewhere(memory, context),
    isUntilRead: true,
  };
}

export function whyElsewhere({ keys }: Memory, { account }: Context): string {
  const differs =
    keys?.address === account?.address
      ? "it was last rolled or adopted with a different rekey:queueUserId or rekey:queueToken"
      : `it belongs to ${keys?.address}, but the settings are for ${account?.address}`;
  return `${differs}, and no read has shown that the keys are the same. Restore the old settings, or use a separate resource for the other signing keys (a new name, or \`--replace\`)`;
}

/** A second roll before receivers know the keys of the first one is an outage. */
export function rolledRecently(
  due: Reset,
  { memory, desired, context }: Question,
): Plan | undefined {
  const { minInterval: usual } = context.kind;
  const rolledAt = memory?.keys?.rolledAt;
  // A time in the future is that of a clock that was ahead: it locks nothing.
  if (usual === undefined || rolledAt === undefined || isFuture(rolledAt, context.now)) {
    return undefined;
  }
  const allowed = dueAt(rolledAt, desired.minInterval ?? usual);
  if (allowed.getTime() <= Math.max(context.now.getTime(), Date.parse(rolledAt))) return undefined;
  const why = `it was, or may have been, rolled at ${rolledAt}, and after a second roll, receivers that do not have the new keys yet would reject every message. The first \`up\` after ${allowed.toISOString()} may roll it (minInterval)`;
  const isByTime = due.reason === "schedule" || due.reason === "rotatedSince";
  if (isByTime && !due.isAgain) return { kind: "keep", waits: { ...due, why } };
  return { kind: "refuse", code: "REKEY_ROLLED_RECENTLY", why };
}

/** When the second of two rolls may be made, which an old pair needs. */
export function secondRollAt(
  { keys }: Memory,
  { minInterval }: Desired,
  { kind, now }: Context,
): string {
  const interval = minInterval ?? kind.minInterval;
  return (interval ? dueAt(keys?.rolledAt ?? now.toISOString(), interval) : now).toISOString();
}
