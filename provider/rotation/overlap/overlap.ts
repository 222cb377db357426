import { type SecretKind } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Desired } from "../desired";
import { type Context, type DueRetirement } from "../plan";
import { dueAt, isOlder, readInterval } from "../schedule";
import { type Memory, type Overlap, type ResetReason } from "../state";

/** The former one stays valid until a verification has proven the new one after the hand-over. */
export const untilVerified = "verified";
/** The former one is replaced at once. */
export const noOverlap = "none";

/** @throws Error that names the expected form */
export function readOverlap(written: string): void {
  if (written === untilVerified || written === noOverlap) return;
  readInterval(written, { orValues: `"${untilVerified}", "${noOverlap}"` });
}

/** How long the former one stays valid: the input `overlap`, or its default. */
export function lastsOf({ overlap }: Desired): string {
  return overlap ?? untilVerified;
}

/** Whether the former one stays valid for a time, whether or not a verification proves the new one. */
export function isDuration(lasts: string): boolean {
  return lasts !== untilVerified && lasts !== noOverlap;
}

/**
 * Whether a rotation adds a secret, so that two are valid. With `none`, a platform that has an operation for it
 * replaces the secret at once; at a server, a password is added, and the former one is removed in the same run.
 */
export function addsSecret({ overlaps, paths }: SecretKind, { overlap }: Desired): boolean {
  const isReplacedAtOnce = overlap === noOverlap && paths !== undefined;
  return overlaps === true && !isReplacedAtOnce;
}

/** Until when the former one is valid (ISO 8601, UTC); undefined unless its overlap is a duration. */
export function validUntil({ since, lasts }: Pick<Overlap, "since" | "lasts">): string | undefined {
  return isDuration(lasts) ? dueAt(since, lasts).toISOString() : undefined;
}

/** Whether what a rotation replaces must not stay valid, because a date asks for its replacement, or has before. */
export function isReplacedForDate(
  { reason, generatedAt }: { reason: ResetReason; generatedAt: string | undefined },
  { rotatedSince }: Pick<Desired, "rotatedSince">,
  now: Date,
): boolean {
  return reason === "rotatedSince" || isOlder({ generatedAt }, rotatedSince, now);
}

/** Whether the former one must not stay valid: a date asks for its replacement now, or has when it was rotated. */
export function isUrgent(
  { isUrgent: wasUrgent, formerGeneratedAt }: Overlap,
  { rotatedSince }: Pick<Desired, "rotatedSince">,
  now: Date,
): boolean {
  return wasUrgent === true || isOlder({ generatedAt: formerGeneratedAt }, rotatedSince, now);
}

/**
 * Whether the former one should not be valid any more. With `none`, it never should be: its retirement has failed, or
 * `overlap` was changed since.
 */
export function isOver({ since, lasts }: Overlap, now: Date): boolean {
  if (!isDuration(lasts)) return lasts === noOverlap;
  return dueAt(since, lasts) <= now;
}

/** Why the former one is due to be retired, if it is. A changed `overlap` counts from the next `up` on. */
export function retirementReason(
  memory: Memory,
  desired: Desired,
  { now, isScheduleOn }: Pick<Context, "now" | "isScheduleOn">,
): DueRetirement["why"] | undefined {
  const { overlap } = memory;
  if (overlap === undefined) return undefined;
  if (isUrgent(overlap, desired, now)) return "date";
  if (!isScheduleOn || isOverlapChanged(memory, desired)) return undefined;
  return isOver(overlap, now) ? "time" : undefined;
}

/** Whether `overlap` differs from what is saved of the former one that is valid now, or is not known yet. */
export function isOverlapChanged({ overlap }: Memory, desired: Desired): boolean {
  if (overlap === undefined) return false;
  return isUnknown(desired.overlap) || lastsOf(desired) !== overlap.lasts;
}

/** The memory with the `overlap` of the program, if a former one is valid. */
export function withLasts(memory: Memory, desired: Desired): Memory {
  const { overlap } = memory;
  return overlap ? { ...memory, overlap: { ...overlap, lasts: lastsOf(desired) } } : memory;
}
