import { type CredentialName, credentialNames } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { withCreationTime } from "./adoption";
import {
  bestMark,
  bestOf,
  better,
  knownIn,
  type Marks,
  marksOf,
  onlyKnown,
  triggerMark,
  unknownIn,
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
 * What a record proves. It is judged as a whole, because a reset replaces all credentials:
 * - `hidden`: nothing, because it does not show the best credential that is known, or shows only half of a pair of
 *   keys, or because what was current before the pending reset is not known;
 * - `stale`: nothing, because it is older than a confirmed reset, or than another roll;
 * - `same`: it shows what is current, or what may have been current before the pending reset, whose effect is not seen;
 * - `new`: other credentials. The pending reset was applied; without one, someone else has changed them;
 * - `foreign`: keys of neither before nor after the pending roll: someone else rolled, and it was not applied;
 * - `elsewhere`: it is from another place, and shows nothing that is known: it may be another secret.
 */
export type Verdict = "hidden" | "stale" | "same" | "new" | "foreign" | "elsewhere";

/** A key that is still shown this long after the roll that replaced it is current, whatever the memory says. */
const latestReadMs = 24 * 3_600_000;

export function judge(memory: Memory, shown: Marks, context: Context): Verdict {
  const { best, current, former, maybeFormer, pending } = memory;
  const { before = {} } = pending ?? {};
  const all = Object.values(shown);
  const known = [...former, ...maybeFormer, ...Object.values(current), ...Object.values(before)];
  if (isElsewhere(memory, context) && !known.some((mark) => all.includes(mark))) return "elsewhere";
  const by = better(best, bestOf(current)) ?? bestOf(shown) ?? "password";
  const mark = shown[by];
  // The record is as old as its best credential, although another one may repeat a former one.
  const telling = mark === undefined ? all : [mark];
  // A password may return, but no roll makes an earlier key current again.
  const earlier = context.kind.minInterval !== undefined && !pending ? [...former, ...maybeFormer] : former;
  if (mayBeLate(memory, context) && telling.some((one) => earlier.includes(one))) return "stale";
  if (mark === undefined) return "hidden";
  if (mark === current[by]) return "same";
  if (pending !== undefined) {
    if (before[by] === undefined) return "hidden";
    if (mark === before[by] || maybeFormer.includes(mark)) return "same";
    if (before.nextKey === undefined || before.nextKey === shown.currentKey) return "new";
  }
  // A half replaces a known pair only if it shows a roll of it: receivers need both.
  if (current.nextKey && shown.nextKey === undefined && shown.currentKey !== current.nextKey) return "hidden";
  return pending === undefined ? "new" : "foreign";
}

/** Whether a read may still show what the last reset has replaced. */
function mayBeLate({ scheduledFrom, rolledAt = scheduledFrom }: Memory, { kind, now }: Context): boolean {
  return kind.minInterval === undefined || Math.abs(now.getTime() - Date.parse(rolledAt)) < latestReadMs;
}

/**
 * The state with a pending reset that is about to be sent. It is saved if nothing comes back.
 *
 * @param read what the platform has shown before it; undefined if it cannot be read
 */
export function withPending(
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
  const before = currentBefore(memory, shown, context);
  const { at, since } = madeNow(desired, now);
  const empty: State = { rotationCount: saved?.rotationCount ?? 0, memory };
  return {
    ...(known ?? (read ? withRecord(empty, read) : empty)),
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      pending: {
        ...(isAgain ? { ...last, count: last.count + 1 } : { trigger, reason, count: 1 }),
        // Of several in a row, the first one may be the one that was applied.
        at: earlier(at, last?.at),
        since: last ? last.since : since,
        lastAt: at,
        // Without it, no read can settle the reset.
        before: bestOf(before) ? before : undefined,
      },
      current: { ...unknownMarks(Object.keys(shown)), ...current },
      // What was current before an earlier reset may be replaced, and so may be what is shown, unless it is current.
      maybeFormer: latest([
        ...memory.maybeFormer,
        ...bestMark(last?.before),
        ...(before === shown ? [] : bestMark(shown)),
      ]),
      best: better(best, bestOf({ ...onlyKnown(current), ...shown })),
      ...(kind.minInterval !== undefined && { rolledAt: at }),
      place: place ?? memory.place,
      declared: declaredIn(desired),
    },
  };
}

/** What is current just before a reset, whatever an earlier unconfirmed one has done. Empty if that is not known. */
function currentBefore(memory: Memory, shown: Marks, context: Context): Marks {
  const { current, pending } = memory;
  // What a pending reset may have replaced may be current.
  const settled = { ...memory, pending: undefined, ...(pending && { maybeFormer: [] }) };
  const verdict = judge(settled, shown, context);
  if (verdict === "new" || verdict === "same") return shown;
  // A stale record shows that the last confirmed reset has replaced it, but not what a pending one has done.
  if (verdict === "stale" && !pending) return onlyKnown(current);
  const compared = knownIn(current).filter((name) => shown[name] !== undefined);
  const isConsistent = compared.length > 0 && compared.every((name) => shown[name] === current[name]);
  return isConsistent ? onlyKnown(current) : {};
}

/** When a reset that is about to be sent generates the secret, and the date that it applies. */
export function madeNow({ rotatedSince }: Desired, now: Date): Made & { readonly at: string } {
  return { at: now.toISOString(), since: rotatedSince ? readDate(rotatedSince).toISOString() : undefined };
}

/**
 * The state after a reset that is known to be applied.
 *
 * @param responses its own, unless that was lost, and that of a read after it
 */
export function confirm(
  unconfirmed: State,
  responses: readonly SecretResponse[],
  made: Made & { readonly at: string },
  context: Context,
): State {
  const { memory } = unconfirmed;
  const { trigger = "", reason, before = {}, lastAt = made.at } = memory.pending ?? {};
  const previous: Marks = { ...memory.current, ...before };
  const after: Memory = {
    ...memory,
    applied: trigger || memory.applied,
    pending: undefined,
    former: latest([...memory.former, ...memory.maybeFormer, ...bestMark(before), ...bestMark(memory.current)]),
    maybeFormer: [],
    // From the last of several in a row: otherwise, the next one could be due at once.
    scheduledFrom: earlier(lastAt, context.now.toISOString()),
    made: [...memory.made.slice(1), made],
  };
  // A roll makes the next key the current one, although nothing may show it. One that was current before it is former.
  const { nextKey } = previous;
  const rolled: Marks = nextKey && !after.former.includes(nextKey) ? { currentKey: nextKey } : {};
  const currentKey = rolled.currentKey === memory.current.nextKey ? unconfirmed.nextKey : undefined;
  let state: State = { ...withoutValues(unconfirmed), ...(currentKey && { currentKey }), problems: [] };
  let delivered: Marks | undefined;
  for (const one of responses) {
    const marks = marksOf(memory, one.credentials);
    const verdict = judge(after, marks, context);
    // A read that differs from what the response has delivered is late.
    const isLate = credentialNames.some((name) => delivered?.[name] && marks[name] && marks[name] !== delivered[name]);
    if (verdict === "stale" || isLate) continue;
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
      current: { ...(context.canRead && unknownMarks(Object.keys(previous))), ...rolled, ...current },
      former: latest([...after.former, ...skipped(previous, current)]),
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
  if (verdict === "stale") return { state: saved, findings: [{ kind: verdict, names: unknownIn(memory.current) }] };
  // It shows what is known: the same account by another address.
  const here: State = isElsewhere(memory, context) ? { ...saved, memory: { ...memory, place: context.place } } : saved;
  const { pending, ...others } = here.memory;
  if (pending === undefined) return compare(here, read, shown, verdict, context);
  if (verdict === "foreign") {
    // Someone else has rolled the keys: the doubt ends, and the pending roll was not applied.
    const maybeFormer = [...others.maybeFormer, ...bestMark(pending.before)];
    const { state } = compare({ ...here, memory: { ...others, maybeFormer } }, read, shown, "new", context);
    return { state, findings: [{ kind: "overtaken" }] };
  }
  if (verdict !== "new" || !maySettle(here.memory, context)) return { state: here, findings: [] };
  // It is not newer than the read.
  const made = { at: earlier(pending.at, context.now.toISOString()), since: pending.since };
  const state = confirm(here, [read], made, context);
  return { state, findings: [{ kind: "settled" }, ...found("unknown", unknownIn(state.memory.current))] };
}

/** The state after a read if no reset is pending: what was changed outside of Rekey, or was not known, is found. */
function compare(saved: State, read: SecretResponse, shown: Marks, verdict: Verdict, context: Context): Learned {
  const { memory, record = {} } = saved;
  const { current, maybeFormer } = memory;
  const known = knownIn(current);
  const missing = known.filter((name) => shown[name] === undefined);
  const different = known.filter((name) => shown[name] !== undefined && shown[name] !== current[name]);
  const fields = Object.keys(record).filter(
    (name) => read.record[name] !== undefined && !isSame(record[name], read.record[name]),
  );
  if (verdict === "hidden") {
    // What is hidden is not waited for any longer: the next read may show it by chance.
    const waiting = { ...memory, current: onlyKnown(current) };
    const state = { ...withRecord(saved, read), otherFields: saved.otherFields, memory: waiting };
    const unseen = found("unseen", [...different, ...missing]);
    const findings = [...found("drift", fields), ...found("unknown", unknownIn(memory.current)), ...unseen];
    return { state: withCreationTime(state, context), findings };
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
      current: { ...(isOther ? unknownMarks(missing) : onlyKnown(current)), ...shown },
      // It may return: what is current again is not a former one.
      maybeFormer: latest([...maybeFormer, ...replaced]).filter((mark) => !Object.values(shown).includes(mark)),
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
    state: withCreationTime(next, context),
    findings: [...seen, ...found(isOther ? "unknown" : "unseen", missing)],
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

/** The earlier of two times: a clock may have been set back. */
function earlier(a: string, b = a): string {
  return a < b ? a : b;
}

/** The newest marks, each once. */
function latest(marks: readonly string[]): string[] {
  return [...new Set(marks.toReversed())].toReversed().slice(-maxFormer);
}
