import { afterDrift, afterHidden, afterSame, noLongerKnown, stale } from "./afterRead";
import {
  type BeforeReset,
  confirmedMemory,
  countedReset,
  type Evidence,
  identityIn,
  identityMarks,
  knownCredential,
  pendingReset,
  valuesIn,
  type Verdict,
} from "./evidence";
import { type SecretResponse } from "../records/response";
import { type Desired, formOf, programOf } from "./desired";
import { type Learned } from "./findings";
import { type Marks, marksOf } from "./marks";
import { type Context, maySettle, type Reset } from "./plan";
import { pastTime } from "./schedule";
import {
  emptyMemory,
  type Memory,
  type PendingReset,
  type State,
  withFormer,
  withRecord,
} from "./state";

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

function withPendingReset(
  { state, read }: BeforeReset,
  desired: Desired,
  due: Reset,
  context: Context,
): State {
  const { kind, now } = context;
  if (state === undefined) {
    return withPendingReset(firstState(read, desired, context), desired, due, context);
  }
  const { memory } = state;
  const shown = marksOf(memory, read?.credentials ?? {});
  const identity = memory.identity ?? identityIn(kind, shown);
  const mark = identity && shown[identity];
  const canSettle = mark !== undefined && !memory.former.includes(mark);
  return {
    ...state,
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending: pendingReset(memory, desired, due, { now, canSettle }),
      identity,
      // What a read shows just before a reset is replaced by it, whether or not it was known.
      former: withFormer(memory, identityMarks(kind, shown), memory.current),
      replaced:
        knownCredential(kind, memory.current, memory) ?? knownCredential(kind, shown, memory),
    },
  };
}

/** What is known of a secret before its first reset: only the marks of what that replaces, and no value. */
function firstState(
  read: SecretResponse | undefined,
  desired: Desired,
  { now }: Context,
): BeforeReset {
  const empty = { ...emptyMemory(now), ...programOf(desired), form: formOf(desired) };
  const memory: Memory = { ...empty, current: marksOf(empty, read?.credentials ?? {}) };
  const state: State = { rotationCount: 0, memory };
  return { state: read ? withRecord(state, read) : state, read };
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

function afterRecordRead(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const verdict = compareRecord(memory, shown, context);
  if (memory.pending) {
    const isSettled = verdict === "new" && maySettle(memory, context);
    return isSettled
      ? settled(saved, memory.pending, read, context)
      : { state: saved, findings: [] };
  }
  if (verdict === "former") return stale(saved);
  if (verdict === "hidden") return afterHidden(saved, read, context);
  return verdict === "current"
    ? afterSame(saved, read, shown, context)
    : afterDrift(saved, read, shown, context);
}

/** A read shows the result of the pending reset. */
function settled(
  saved: State,
  pending: PendingReset,
  read: SecretResponse,
  context: Context,
): Learned {
  const generatedAt = pastTime(pending.firstSentAt, context.now);
  const state = confirmedReset(saved, [read], generatedAt, context);
  return {
    state,
    findings: [{ kind: "settled" }, ...noLongerKnown(saved.memory.current, state.memory.current)],
  };
}
