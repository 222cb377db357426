import { type CredentialName, credentialNames } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { type Finding, type Learned } from "./findings";
import { judge, type Verdict } from "./judge";
import {
  bestMark,
  bestOf,
  better,
  emptyMemory,
  knownIn,
  type Made,
  type Marks,
  marksOf,
  maxFormer,
  type Memory,
  missingIn,
  onlyKnown,
  type ResetReason,
  unknownMarks,
} from "./memory";
import { type Context, declaredIn, type Desired, isElsewhere, maySettle } from "./plan";
import { skipped } from "./rolls";
import { isFuture, readDate } from "./schedule";
import { credentialsIn, isSame, picked, type State, withoutValues, withRecord } from "./state";
import { triggerMark } from "./trigger";

/**
 * The state before a reset is sent. It is saved if nothing comes back.
 *
 * @param reason what asks for it
 * @param read what the platform has shown before it; undefined if it cannot be read
 */
export function begin(
  saved: State | undefined,
  desired: Desired,
  reason: ResetReason,
  read: SecretResponse | undefined,
  context: Context,
): State {
  const { kind, now, place } = context;
  // What is known of a secret at another place says nothing about the one here.
  const known = saved && isElsewhere(saved.memory, context) ? undefined : saved;
  const memory = known?.memory ?? memoryOf(context);
  const { pending: last, current, best } = memory;
  const trigger = triggerMark(memory, desired);
  const isAgain = last !== undefined && (trigger === "" || trigger === last.trigger);
  const shown = read ? marksOf(memory, read.credentials) : {};
  // Whatever a pending reset has done: unless it is stale or hidden, a read shows what is current now.
  const verdict = read ? judge({ ...memory, pending: undefined }, shown, context) : "hidden";
  const isShown = verdict === "new" || verdict === "same";
  const before = read && currentBefore(memory, shown, verdict);
  // Of several in a row, the first one may be the one that was applied. Clocks may have been set back.
  const at = now.toISOString();
  const empty: State = { rotationCount: saved?.rotationCount ?? 0, outcome: "unknown", memory };
  return {
    ...(known ?? (read ? withRecord(empty, read) : empty)),
    outcome: "unknown",
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending: {
        trigger: isAgain ? last.trigger : trigger,
        reason: isAgain ? last.reason : reason,
        count: isAgain ? last.count + 1 : 1,
        at: last && last.at < at ? last.at : at,
        since: last ? last.since : sinceOf(desired),
        before: before && bestOf(before) ? before : undefined,
      },
      current: { ...unknownMarks(Object.keys(shown)), ...current },
      // What was current before an earlier one is replaced, and so is what a record shows whose best credential is
      // hidden.
      replaced: latest([...memory.replaced, ...bestMark(last?.before), ...(isShown ? [] : bestMark(shown))]),
      best: better(best, bestOf(isShown ? shown : { ...before, ...shown })),
      ...(kind.minInterval !== undefined && { rolledAt: at }),
      place: place ?? memory.place,
      declared: declaredIn(desired, memory.declared),
    },
  };
}

/** What is current before a reset, by a read. Undefined if that is not known: no read can then settle the reset. */
function currentBefore({ pending, current }: Memory, shown: Marks, verdict: Verdict): Marks | undefined {
  if (verdict === "new" || verdict === "same") return shown;
  const known = knownIn(current).filter((name) => shown[name] !== undefined);
  const isConsistent = known.length > 0 && known.every((name) => shown[name] === current[name]);
  // A stale record shows that the last confirmed reset has replaced it; what a pending one has done, it does not show.
  return isConsistent || (verdict === "stale" && !pending) ? onlyKnown(current) : undefined;
}

/** When a reset that is about to be sent generates the secret, and the date that it applies. */
export function madeNow(desired: Desired, { now }: Context): Made & { readonly at: string } {
  return { at: now.toISOString(), since: sinceOf(desired) };
}

function sinceOf({ rotatedSince }: Desired): string | undefined {
  return rotatedSince ? readDate(rotatedSince).toISOString() : undefined;
}

function memoryOf({ kind, now }: Context): Memory {
  return emptyMemory(kind.minInterval === undefined ? 1 : 2, now);
}

/** What came back after a reset. */
interface Shown {
  readonly response?: SecretResponse | undefined;
  /** What a read has shown after it. */
  readonly read?: SecretResponse | undefined;
}

/**
 * The state after a reset that is known to be applied.
 *
 * @param pending the state before it
 * @param made when the secret was generated
 */
export function confirm(
  pending: State,
  { response, read }: Shown,
  made: Made & { at: string },
  context: Context,
): State {
  const { memory } = pending;
  const { trigger = "", reason, before = {} } = memory.pending ?? {};
  const everything: Marks = { ...memory.current, ...before };
  const after: Memory = {
    ...memory,
    applied: trigger || memory.applied,
    pending: undefined,
    former: latest([...memory.former, ...memory.replaced, ...bestMark(before), ...bestMark(memory.current)]),
    replaced: [],
    rotatedAt: made.at,
    made: [...memory.made.slice(1), made],
  };
  // A roll makes the next key the current one, although nothing may show it.
  const isRolled = context.kind.minInterval !== undefined && everything.nextKey;
  const rolled: Marks = isRolled ? { currentKey: everything.nextKey } : {};
  const currentKey = rolled.currentKey === memory.current.nextKey ? pending.nextKey : undefined;
  let state: State = { ...withoutValues(pending), ...(currentKey && { currentKey }), problems: [] };
  let delivered: Marks = {};
  for (const one of [response, read]) {
    if (one === undefined) continue;
    const marks = marksOf(memory, one.credentials);
    const verdict = judge(after, marks, context);
    // A read that differs from what the response has delivered is older.
    const isOlder = knownIn(delivered).some((name) => marks[name] !== undefined && marks[name] !== delivered[name]);
    if (verdict === "stale" || isOlder) continue;
    // Without the credential by which records are judged, each is new only if it differs.
    const isNew = (name: CredentialName) =>
      verdict === "new" || ![memory.current[name], before[name]].includes(marks[name]);
    const names = credentialNames.filter((name) => marks[name] !== undefined && isNew(name));
    state = { ...withRecord(state, one), ...picked(one.credentials, names) };
    if (one === response) delivered = marksOf(memory, picked(one.credentials, names));
  }
  const current = marksOf(memory, credentialsIn(state));
  return {
    ...state,
    outcome: "reset",
    adoptedAt: undefined,
    rotatedAt: made.at,
    rotationCount: pending.rotationCount + 1,
    rotationReason: reason,
    memory: {
      ...after,
      current: { ...(context.canRead && unknownMarks(Object.keys(everything))), ...rolled, ...current },
      best: better(after.best, bestOf(onlyKnown(memory.current))),
      former: latest([...after.former, ...skipped(everything, current)]),
    },
  };
}

/**
 * The state of a secret that is adopted without a reset.
 *
 * @param desired undefined for an import, which does not know the program
 */
export function adopt(desired: Desired | undefined, read: SecretResponse | undefined, context: Context): Learned {
  const memory = memoryOf(context);
  const { credentials = {} } = read ?? {};
  const current = marksOf(memory, credentials);
  const adopted: State = {
    ...credentials,
    outcome: "adopted",
    adoptedAt: memory.rotatedAt,
    rotationCount: 0,
    memory: {
      ...memory,
      applied: desired && triggerMark(memory, desired),
      current,
      place: context.place,
      declared: desired ? declaredIn(desired) : { saveCredentials: false },
    },
  };
  if (read === undefined) return { state: adopted, findings: [{ kind: "not contacted" }] };
  const state = withCreation(withRecord(adopted, read), context);
  return { state, findings: bestOf(current) ? [] : [{ kind: "adopted" }] };
}

/** The state of an import, for which the program's trigger counts as applied. */
export function adoptTrigger(imported: State, desired: Desired): State {
  const { memory } = imported;
  return { ...imported, memory: { ...memory, applied: triggerMark(memory, desired) } };
}

/**
 * What a read shows. It is evidence with an age: a stale record changes nothing, and what is masked or missing is not
 * shown, not gone.
 */
export function learn(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const verdict = judge(memory, shown, context);
  const missing = missingIn(memory);
  if (verdict === "elsewhere") return { state: saved, findings: [{ kind: "elsewhere" }] };
  if (verdict === "stale") {
    return { state: saved, findings: [missing.length > 0 ? { kind: "unread", names: missing } : { kind: "stale" }] };
  }
  // It shows what is known: the same account by another address.
  const here: State = isElsewhere(memory, context) ? { ...saved, memory: { ...memory, place: context.place } } : saved;
  if (memory.pending === undefined) return changed(here, read, shown, verdict, context);
  if (verdict === "foreign") return overtaken(here, read, shown, context);
  if (verdict !== "new" || !maySettle(here.memory, context)) return { state: here, findings: [] };
  // It is not newer than the read. Clocks may have been set back.
  const { at, since } = memory.pending;
  const now = context.now.toISOString();
  const state = confirm(here, { read }, { at: at < now ? at : now, since }, context);
  const open = missingIn(state.memory);
  return {
    state,
    findings: [{ kind: "settled" }, ...(open.length > 0 ? [{ kind: "missing", names: open } as const] : [])],
  };
}

/** Someone else has rolled the keys: the doubt ends, and the pending roll was not applied. */
function overtaken(saved: State, read: SecretResponse, shown: Marks, context: Context): Learned {
  const { pending: _ended, ...memory } = saved.memory;
  const { state } = changed({ ...saved, memory }, read, shown, "new", context);
  const isAdopted = saved.rotatedAt === undefined;
  return {
    state: {
      ...state,
      outcome: isAdopted ? "adopted" : "reset",
      adoptedAt: isAdopted ? (saved.adoptedAt ?? memory.rotatedAt) : saved.adoptedAt,
    },
    findings: [{ kind: "overtaken" }],
  };
}

/** What was changed outside of Rekey, or was not known, if no reset is pending. */
function changed(saved: State, read: SecretResponse, shown: Marks, verdict: Verdict, context: Context): Learned {
  const { memory, record = {} } = saved;
  const { current, best, replaced } = memory;
  const known = knownIn(current);
  const lost = known.filter((name) => shown[name] === undefined);
  const different = known.filter((name) => shown[name] !== undefined && shown[name] !== current[name]);
  const by = bestOf(shown);
  // Keys are saved as a pair: receivers need both.
  const isPart = context.kind.minInterval !== undefined && different.length > 0 && lost.length > 0;
  const isHidden = verdict === "hidden" || isPart;
  const isOther = verdict === "new" && different.length > 0 && !isHidden;
  const former = isOther && by && current[by] ? [current[by]] : [];
  const isRolled = isOther && context.kind.minInterval !== undefined;
  const next = withRecord(isOther ? withoutValues(saved) : saved, read);
  const state = withCreation(
    {
      ...next,
      ...(isHidden ? { otherFields: saved.otherFields } : { ...read.credentials, otherFields: read.otherFields }),
      memory: {
        ...memory,
        current: isHidden ? current : { ...(isOther ? unknownMarks(lost) : onlyKnown(current)), ...shown },
        best: former.length > 0 ? better(best, by) : best,
        // It may return: what is current again is not a former one.
        replaced: latest([...replaced, ...former, ...(isRolled ? skipped(current, shown) : [])]).filter(
          (mark) => isHidden || !Object.values(shown).includes(mark),
        ),
        ...(isRolled && {
          rolledAt: context.now.toISOString(),
          made: [shown.currentKey === current.nextKey ? (memory.made[1] ?? {}) : {}, {}],
        }),
      },
    },
    context,
  );
  const fields = Object.keys(record).filter(
    (name) => read.record[name] !== undefined && !isSame(record[name], read.record[name]),
  );
  const findings: Finding[] = [];
  const drift = [...(isHidden ? [] : different), ...fields];
  if (drift.length > 0) findings.push({ kind: "drift", names: drift });
  else if (!isHidden && Object.keys(shown).some((name) => !current[name as CredentialName])) {
    findings.push({ kind: "read" });
  }
  if (isHidden && different.length > 0) findings.push({ kind: "differs", names: different });
  if (isHidden && missingIn(memory).length > 0) findings.push({ kind: "hidden" });
  else if (lost.length > 0) findings.push({ kind: isOther ? "missing" : "unseen", names: lost });
  return { state: isSame(saved, state) ? saved : state, findings };
}

/** The newest marks, each once. */
function latest(marks: readonly string[]): string[] {
  return [...new Set(marks.toReversed())].toReversed().slice(-maxFormer);
}

/** An adopted secret is as old as what has it, unless the platform's time is in the future. */
function withCreation(state: State, { kind, now }: Context): State {
  const { record, outcome, memory } = state;
  const seconds = record?.["creationTime"];
  if (outcome !== "adopted" || kind.minInterval !== undefined || typeof seconds !== "number") return state;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime()) || isFuture(at.toISOString(), now)) return state;
  return { ...state, memory: { ...memory, made: [{ ...memory.made[0], at: at.toISOString() }] } };
}
