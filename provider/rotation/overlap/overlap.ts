import { type SecretKind } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Desired } from "../desired";
import { type Context, type Retirement } from "../plan";
import { dueAt, dueFrom, isOlder, readInterval } from "../schedule";
import { type Memory, type Overlap } from "../state";

/** Until a verification has proven the new one after the hand-over. */
export const untilVerified = "verified";
/** The former one is replaced at once. */
export const noOverlap = "none";

/** @throws Error that names the expected form */
export function readOverlap(written: string): void {
  if (written !== untilVerified && written !== noOverlap) readInterval(written);
}

/** How long the former one stays valid, as the program has it. */
export function lastsOf({ overlap }: Desired): string {
  return overlap ?? untilVerified;
}

export function isDuration(lasts: string): boolean {
  return lasts !== untilVerified && lasts !== noOverlap;
}

/** Whether a rotation adds a secret, so that two are valid. The platform replaces a token at once if it is asked to. */
export function addsSecret(kind: SecretKind, desired: Desired): boolean {
  const isReplaced = desired.overlap === noOverlap && kind.paths !== undefined;
  return kind.overlaps === true && !isReplaced;
}

/** Until when the former one is valid; undefined if that is not a time. */
export function validUntil({ since, lasts }: Pick<Overlap, "since" | "lasts">): string | undefined {
  return isDuration(lasts) ? dueAt(since, lasts).toISOString() : undefined;
}

/** Whether the former one must not stay valid: a date has asked for it to be replaced, now or when it was rotated. */
export function isUrgent(
  { reason, formerGeneratedAt }: Pick<Overlap, "reason" | "formerGeneratedAt">,
  { rotatedSince }: Pick<Desired, "rotatedSince">,
  now: Date,
): boolean {
  return (
    reason === "rotatedSince" || isOlder({ generatedAt: formerGeneratedAt }, rotatedSince, now)
  );
}

/** Whether its time is over. What was `none` when it was saved was another one when it was rotated. */
export function isOver({ since, lasts }: Overlap, now: Date): boolean {
  if (!isDuration(lasts)) return lasts === noOverlap;
  return dueFrom(since, lasts) <= now;
}

/** Why the former one is to be retired now, if it is. An `overlap` that is changed now counts from the next `up` on. */
export function whyRetired(
  memory: Memory,
  desired: Desired,
  { now, isScheduleOn }: Pick<Context, "now" | "isScheduleOn">,
): Retirement["why"] | undefined {
  const { overlap } = memory;
  if (overlap === undefined) return undefined;
  if (isUrgent(overlap, desired, now)) return "date";
  if (!isScheduleOn || isOverlapChanged(memory, desired)) return undefined;
  return isOver(overlap, now) ? "time" : undefined;
}

/** Whether the program says something else of the former one that is valid now, or it is not known yet. */
export function isOverlapChanged({ overlap }: Memory, desired: Desired): boolean {
  if (overlap === undefined) return false;
  return isUnknown(desired.overlap) || lastsOf(desired) !== overlap.lasts;
}

/** The memory with what the program says of the former one. */
export function withLasts(memory: Memory, desired: Desired): Memory {
  const { overlap } = memory;
  return overlap ? { ...memory, overlap: { ...overlap, lasts: lastsOf(desired) } } : memory;
}
