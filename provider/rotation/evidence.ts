import { type CredentialName, credentialNames } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { withCreation } from "./adoption";
import {
  bestMark,
  bestOf,
  better,
  knownIn,
  type Marks,
  marksOf,
  missingIn,
  onlyKnown,
  triggerMark,
  unknownMarks,
} from "./marks";
import {
  credentialsIn,
  emptyMemory,
  isSame,
  type Made,
  maxFormer,
  type Memory,
  picked,
  type ResetReason,
  type State,
  withoutValues,
  withRecord,
} from "./memory";
import { type Finding, type Learned } from "./messages";
import { type Context, declaredIn, type Desired, isElsewhere, maySettle } from "./plan";
import { readDate } from "./schedule";

/**
 * What a record proves, as a whole, because a reset replaces all credentials:
 * - `hidden`: nothing, because it does not show the best credential that is known, or only half of a pair of keys, or
 *   because what was before the pending reset is not known;
 * - `stale`: nothing, because it is older than a confirmed reset, or than another roll;
 * - `same`: it shows what is current, or what may have been before the pending reset, which is not seen yet;
 * - `new`: other credentials. The pending reset was applied; without one, someone else has changed them;
 * - `foreign`: keys of neither before nor after the pending roll: someone else rolled, and it was not applied;
 * - `elsewhere`: it is from another place, and shows nothing that is known: it may be another secret.
 */
export type Verdict = "hidden" | "stale" | "same" | "new" | "foreign" | "elsewhere";

/** A key that is still shown so long after the roll that replaced it is current, whatever the memory says. */
const latestReadMs = 24 * 3_600_000;

export function judge(memory: Memory, shown: Marks, context: Context): Verdict {
  const { best, current, former, replacedByOthers, pending, rotatedAt, rolledAt = rotatedAt } = memory;
  const { before } = pending ?? {};
  const all = Object.values(shown);
  const known = [...former, ...replacedByOthers, ...Object.values(current), ...Object.values(before ?? {})];
  if (isElsewhere(memory, context) && !known.some((mark) => all.includes(mark))) return "elsewhere";
  const by = better(best, bestOf(current)) ?? bestOf(shown) ?? "password";
  const mark = shown[by];
  const isKey = context.kind.minInterval !== undefined;
  // No roll returns to an earlier key.
  const earlier = isKey && !pending ? [...former, ...replacedByOthers] : former;
  const isRecent = !isKey || Math.abs(context.now.getTime() - Date.parse(rolledAt)) < latestReadMs;
  // The record is as old as its best credential, although another one may repeat a former one.
  if (isRecent && (mark === undefined ? all : [mark]).some((one) => earlier.includes(one))) return "stale";
  if (mark === undefined) return "hidden";
  if (mark === current[by]) return "same";
  // A half replaces a known pair only if it shows a roll of it: receivers need both.
  const isHalf = current.nextKey && shown.nextKey === undefined && shown.currentKey !== current.nextKey;
  if (pending === undefined) return isHalf ? "hidden" : "new";
  if (before?.[by] === undefined) return "hidden";
  if (mark === before[by] || replacedByOthers.includes(mark)) return "same";
  if (before.nextKey === undefined || before.nextKey === shown.currentKey) return "new";
  return isHalf ? "hidden" : "foreign";
}

/**
 * The state with a pending reset that is about to be sent. It is saved if nothing comes back.
 *
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
  const memory = known?.memory ?? emptyMemory(context);
  const { pending: last, current, best } = memory;
  const trigger = triggerMark(memory, desired);
  const isAgain = last !== undefined && (trigger === "" || trigger === last.trigger);
  const shown = read ? marksOf(memory, read.credentials) : {};
  // Whatever a pending reset has done: unless it is stale or hidden, a read shows what is current now.
  const settled = { ...memory, pending: undefined, ...(last && { replacedByOthers: [] }) };
  const verdict = read && judge(settled, shown, context);
  const isShown = verdict === "new" || verdict === "same";
  const marked = knownIn(current).filter((name) => shown[name] !== undefined);
  const isConsistent = marked.length > 0 && marked.every((name) => shown[name] === current[name]);
  // A stale record shows that the last confirmed reset has replaced it; what a pending one has done, it does not show.
  const isKnown = isConsistent || (verdict === "stale" && !last);
  const before = isShown ? shown : isKnown ? onlyKnown(current) : {};
  // Of several in a row, the first one may be the one that was applied. Clocks may have been set back.
  const { at, since } = madeNow(desired, now);
  const empty: State = { rotationCount: saved?.rotationCount ?? 0, memory };
  return {
    ...(known ?? (read ? withRecord(empty, read) : empty)),
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending: {
        trigger: isAgain ? last.trigger : trigger,
        reason: isAgain ? last.reason : reason,
        count: isAgain ? last.count + 1 : 1,
        at: last && last.at < at ? last.at : at,
        since: last ? last.since : since,
        // Without it, no read can settle the reset.
        before: bestOf(before) ? before : undefined,
      },
      current: { ...unknownMarks(Object.keys(shown)), ...current },
      // What was current before an earlier one is replaced, and so is what a record shows whose best credential is
      // hidden.
      replacedByOthers: latest([
        ...memory.replacedByOthers,
        ...bestMark(last?.before),
        ...(isShown ? [] : bestMark(shown)),
      ]),
      best: better(best, bestOf({ ...onlyKnown(current), ...shown })),
      ...(kind.minInterval !== undefined && { rolledAt: at }),
      place: place ?? memory.place,
      declared: declaredIn(desired),
    },
  };
}

/** When a reset that is about to be sent generates the secret, and the date that it applies. */
export function madeNow({ rotatedSince }: Desired, now: Date): Made & { readonly at: string } {
  return { at: now.toISOString(), since: rotatedSince ? readDate(rotatedSince).toISOString() : undefined };
}

/**
 * The state after a reset that is known to be applied.
 *
 * @param shown what came back, and what reads have shown since then
 */
export function confirm(
  unconfirmed: State,
  shown: readonly SecretResponse[],
  made: Made & { readonly at: string },
  context: Context,
): State {
  const { memory } = unconfirmed;
  const { trigger = "", reason, before = {} } = memory.pending ?? {};
  const everything: Marks = { ...memory.current, ...before };
  const after: Memory = {
    ...memory,
    applied: trigger || memory.applied,
    pending: undefined,
    former: latest([...memory.former, ...memory.replacedByOthers, ...bestMark(before), ...bestMark(memory.current)]),
    replacedByOthers: [],
    rotatedAt: made.at,
    made: [...memory.made.slice(1), made],
  };
  // A roll makes the next key the current one, although nothing may show it. One that was current before it is former.
  const { nextKey } = everything;
  const rolled: Marks = nextKey && !after.former.includes(nextKey) ? { currentKey: nextKey } : {};
  const currentKey = rolled.currentKey === memory.current.nextKey ? unconfirmed.nextKey : undefined;
  let state: State = { ...withoutValues(unconfirmed), ...(currentKey && { currentKey }), problems: [] };
  let delivered: Marks | undefined;
  for (const one of shown) {
    const marks = marksOf(memory, one.credentials);
    const verdict = judge(after, marks, context);
    // A read that differs from what the response has delivered is older.
    const isOlder = credentialNames.some((name) => delivered?.[name] && marks[name] && marks[name] !== delivered[name]);
    if (verdict === "stale" || isOlder) continue;
    // Without the credential by which records are judged, each is new only if it differs.
    const isNew = (name: CredentialName) =>
      verdict === "new" || ![memory.current[name], before[name]].includes(marks[name]);
    const news = picked(one.credentials, credentialNames.filter(isNew));
    state = { ...withRecord(state, one), ...news };
    delivered ??= marksOf(memory, news);
  }
  const current = marksOf(memory, credentialsIn(state));
  return {
    ...state,
    rotatedAt: made.at,
    rotationCount: unconfirmed.rotationCount + 1,
    rotationReason: reason,
    memory: {
      ...after,
      current: { ...(context.canRead && unknownMarks(Object.keys(everything))), ...rolled, ...current },
      former: latest([...after.former, ...skipped(everything, current)]),
    },
  };
}

/**
 * The state after a read, also while a reset is pending. A read is evidence with an age: a stale record changes
 * nothing, and what is masked or missing is not shown, not gone.
 */
export function learn(saved: State, read: SecretResponse, context: Context): Learned {
  const { memory } = saved;
  const shown = marksOf(memory, read.credentials);
  const verdict = judge(memory, shown, context);
  if (verdict === "elsewhere") return { state: saved, findings: [{ kind: verdict }] };
  if (verdict === "stale") return { state: saved, findings: [{ kind: verdict, names: missingIn(memory) }] };
  // It shows what is known: the same account by another address.
  const here: State = isElsewhere(memory, context) ? { ...saved, memory: { ...memory, place: context.place } } : saved;
  const { pending, ...settled } = here.memory;
  if (pending === undefined) return changed(here, read, shown, verdict, context);
  if (verdict === "foreign") {
    // Someone else has rolled the keys: the doubt ends, and the pending roll was not applied.
    const replacedByOthers = [...settled.replacedByOthers, ...bestMark(pending.before)];
    const { state } = changed({ ...here, memory: { ...settled, replacedByOthers } }, read, shown, "new", context);
    return { state, findings: [{ kind: "overtaken" }] };
  }
  if (verdict !== "new" || !maySettle(here.memory, context)) return { state: here, findings: [] };
  // It is not newer than the read. Clocks may have been set back.
  const now = context.now.toISOString();
  const made = { at: pending.at < now ? pending.at : now, since: pending.since };
  const state = confirm(here, [read], made, context);
  return { state, findings: [{ kind: "settled" }, ...found("unknown", missingIn(state.memory))] };
}

/** What was changed outside of Rekey, or was not known, if no reset is pending. */
function changed(saved: State, read: SecretResponse, shown: Marks, verdict: Verdict, context: Context): Learned {
  const { memory, record = {} } = saved;
  const { current, replacedByOthers } = memory;
  const known = knownIn(current);
  const lost = known.filter((name) => shown[name] === undefined);
  const different = known.filter((name) => shown[name] !== undefined && shown[name] !== current[name]);
  const fields = Object.keys(record).filter(
    (name) => read.record[name] !== undefined && !isSame(record[name], read.record[name]),
  );
  if (verdict === "hidden") {
    // What is hidden is not waited for any longer: the next read may show it by chance.
    const waiting = { ...memory, current: onlyKnown(current) };
    const state = { ...withRecord(saved, read), otherFields: saved.otherFields, memory: waiting };
    const unseen = found("unseen", [...different, ...lost]);
    const findings = [...found("drift", fields), ...found("unknown", missingIn(memory)), ...unseen];
    return { state: withCreation(state, context), findings };
  }
  const isOther = verdict === "new" && different.length > 0;
  const replaced = isOther ? [...bestMark(current), ...skipped(current, shown)] : [];
  const isRolled = isOther && context.kind.minInterval !== undefined;
  const next: State = {
    ...withRecord(isOther ? withoutValues(saved) : saved, read),
    ...read.credentials,
    otherFields: read.otherFields,
    memory: {
      ...memory,
      current: { ...(isOther ? unknownMarks(lost) : onlyKnown(current)), ...shown },
      // It may return: what is current again is not a former one.
      replacedByOthers: latest([...replacedByOthers, ...replaced]).filter(
        (mark) => !Object.values(shown).includes(mark),
      ),
      ...(isRolled && {
        rolledAt: context.now.toISOString(),
        made: [shown.currentKey === current.nextKey ? (memory.made[1] ?? {}) : {}, {}],
      }),
    },
  };
  const drift = found("drift", [...different, ...fields]);
  const added = Object.keys(shown).filter((name) => !current[name as CredentialName]);
  const seen = drift.length > 0 ? drift : found("read", added);
  return {
    state: withCreation(next, context),
    findings: [...seen, ...found(isOther ? "unknown" : "unseen", lost)],
  };
}

/** A finding about some names, if there are any. */
function found(kind: Finding["kind"], names: readonly string[]): Finding[] {
  return names.length > 0 ? [{ kind, names }] : [];
}

/** The next key, if it did not become the current one. */
function skipped(before: Marks, { currentKey }: Marks): string[] {
  return currentKey && before.nextKey && before.nextKey !== currentKey ? [before.nextKey] : [];
}

/** The newest marks, each once. */
function latest(marks: readonly string[]): string[] {
  return [...new Set(marks.toReversed())].toReversed().slice(-maxFormer);
}
