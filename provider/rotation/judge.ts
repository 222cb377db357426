import { bestOf, better, type Marks, type Memory } from "./memory";
import { type Context, isElsewhere } from "./plan";

/**
 * What a record proves, as a whole, because a reset replaces all credentials:
 * - `hidden`: nothing, because it does not show the best credential that is known;
 * - `stale`: nothing, because it is older than a confirmed reset;
 * - `same`: it shows what is current, or was before the pending reset, which is not seen yet;
 * - `new`: other credentials. The pending reset was applied; without one, someone else has changed them;
 * - `foreign`: keys of neither before nor after the pending roll: someone else rolled, and it was not applied;
 * - `elsewhere`: it is from another place, and shows nothing that is known: it may be another secret.
 */
export type Verdict = "hidden" | "stale" | "same" | "new" | "foreign" | "elsewhere";

/** A key that is still shown so long after the roll that replaced it is current, whatever the memory says. */
const latestReadMs = 24 * 3_600_000;

export function judge(memory: Memory, shown: Marks, context: Context): Verdict {
  const { best, current, former, replaced, pending } = memory;
  const { before } = pending ?? {};
  const isShown = (marks: readonly string[]) => marks.some((mark) => mark !== "" && isIn(mark, shown));
  const known = [...former, ...replaced, ...Object.values(current), ...Object.values(before ?? {})];
  if (isElsewhere(memory, context) && !isShown(known)) return "elsewhere";
  const by = better(better(best, bestOf(current)), bestOf(before ?? {})) ?? bestOf(shown);
  const isStale = (marks: readonly string[]) =>
    marks.some((mark) => former.includes(mark)) && isRecent(memory, context);
  if (by === undefined) return "hidden";
  const mark = shown[by];
  // The record is as old as its best credential, although another one may repeat a former one.
  if (mark === undefined) return isStale(Object.values(shown)) ? "stale" : "hidden";
  if (isStale([mark])) return "stale";
  if (mark === current[by]) return "same";
  if (pending === undefined) return "new";
  if (before?.[by] === undefined) return "hidden";
  if (mark === before[by] || replaced.includes(mark)) return "same";
  if (before.nextKey === undefined || before.nextKey === shown.currentKey) return "new";
  // Keys are saved as a pair: receivers need both.
  return shown.nextKey === undefined ? "hidden" : "foreign";
}

function isIn(mark: string, marks: Marks): boolean {
  return Object.values(marks).includes(mark);
}

/** Whether a read may still show what the last reset has replaced. */
function isRecent({ rotatedAt }: Memory, { kind, now }: Context): boolean {
  return kind.minInterval === undefined || Math.abs(now.getTime() - Date.parse(rotatedAt)) < latestReadMs;
}
