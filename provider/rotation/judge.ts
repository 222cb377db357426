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
  const all = Object.values(shown);
  const known = [...former, ...replaced, ...Object.values(current), ...Object.values(before ?? {})];
  if (isElsewhere(memory, context) && !known.some((mark) => mark !== "" && all.includes(mark))) return "elsewhere";
  const by = better(better(best, bestOf(current)), bestOf(before ?? {})) ?? bestOf(shown);
  if (by === undefined) return "hidden";
  const mark = shown[by];
  // The record is as old as its best credential, although another one may repeat a former one.
  const isStale = (mark === undefined ? all : [mark]).some((one) => former.includes(one)) && isRecent(memory, context);
  if (isStale) return "stale";
  if (mark === undefined) return "hidden";
  if (mark === current[by]) return "same";
  // Keys are saved as a pair: receivers need both.
  const isHalf = current.nextKey !== undefined && shown.nextKey === undefined;
  if (pending === undefined) return isHalf ? "hidden" : "new";
  if (before?.[by] === undefined) return "hidden";
  if (mark === before[by] || replaced.includes(mark)) return "same";
  if (before.nextKey === undefined || before.nextKey === shown.currentKey) return "new";
  return isHalf ? "hidden" : "foreign";
}

/** Whether a read may still show what the last reset has replaced. */
function isRecent({ rotatedAt }: Memory, { kind, now }: Context): boolean {
  return kind.minInterval === undefined || Math.abs(now.getTime() - Date.parse(rotatedAt)) < latestReadMs;
}
