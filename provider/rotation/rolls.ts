import { type Marked } from "./marks";
import { isWholeTime, refuseUnreadable, type RotationPlan } from "./planRotation";
import { dueAt } from "./schedule";

/** The saved state of a secret that is rolled: one reset makes the next credential the current one. */
export interface Rolls {
  /** ISO 8601 time of the last roll, also of one that was not confirmed, or of the read that noticed another one. */
  readonly lastRolledAt?: string | undefined;
  /** ISO 8601 time at which the current key was generated, if it is known. */
  readonly currentKeySince?: string | undefined;
  /** ISO 8601 time at which the next key was generated, if it is known. */
  readonly nextKeySince?: string | undefined;
}

/** The names of the outputs of rolls. */
export const rollOutputs = ["lastRolledAt", "currentKeySince", "nextKeySince"] as const satisfies (keyof Rolls)[];

/** The plan, unless it rolls once more before receivers can know the keys of the last roll. */
export function planRoll(plan: RotationPlan, saved: Rolls | undefined, minInterval: string, now: Date): RotationPlan {
  const last = saved?.lastRolledAt;
  if (plan.kind !== "reset" || last === undefined) return plan;
  if (!isWholeTime(last)) return refuseUnreadable("lastRolledAt");
  const allowed = dueAt(last, minInterval);
  if (allowed <= now) return plan;
  const why = `it was rolled, or may have been, at ${last}, and receivers that do not have its new keys yet would reject each message after a second roll. The first \`up\` after ${allowed.toISOString()} may roll it (minInterval)`;
  const { reason } = plan;
  if (reason === "schedule" || reason === "rotatedSince") return { kind: "keep", waits: { reason, why } };
  return { kind: "refuse", code: "REKEY_ROLLED_RECENTLY", why };
}

/**
 * What to save after a roll.
 *
 * @param before the keys before it
 * @param after those after it
 * @param at when it was noticed
 * @param generatedAt when the next key was generated; undefined if it was not this resource's roll
 */
export function afterRoll(
  saved: Rolls | undefined,
  before: Marked,
  after: Marked,
  at: string,
  generatedAt?: string,
): Rolls {
  const { currentKey, nextKey } = after;
  const known = new Map([
    [before.currentKey, saved?.currentKeySince],
    [before.nextKey, saved?.nextKeySince],
    [undefined, undefined],
  ]);
  const currentKeySince = known.get(currentKey);
  const nextKeySince = known.has(nextKey) ? known.get(nextKey) : generatedAt;
  return { lastRolledAt: at, currentKeySince, nextKeySince };
}
