import { type Current, type Former, type Memory, type RotationReason } from "../memory/memory";
import { type Context, type DueFormers, type Plan } from "./plan";
import { noOverlap, type Program, untilRetirement } from "./program";
import { dueAt, isOlder, readInterval } from "../memory/schedule";

/** A former one that a date has replaced is valid until the next `up`. */
const untilNextUp = "next up";

/** @throws Error that names the expected form */
export function readOverlap(written: string): void {
  if (written === untilRetirement || written === noOverlap) return;
  readInterval(written, { orValues: `"${untilRetirement}", "${noOverlap}"` });
}

/** True for a duration, after which the rotation retires the former one. */
export function isDuration(validFor: string): boolean {
  return validFor !== noOverlap && !waitsForRetirement({ validFor });
}

/** True for a former one that is valid until a Retirement retires it. */
export function waitsForRetirement({ validFor }: Pick<Former, "validFor">): boolean {
  return validFor === untilRetirement || validFor === untilNextUp;
}

/** The former ones that are valid until something retires them, as far as it is known. */
export function validFormers({ formers }: Pick<Memory, "formers">): Former[] {
  return formers.filter(({ retireHash }) => retireHash !== undefined);
}

/** The former one with a mark, if it is valid. */
export function formerWith(memory: Pick<Memory, "formers">, mark?: string): Former | undefined {
  return validFormers(memory).find(({ credential }) => credential?.mark === mark);
}

/** The former one that has been valid for the longest time, which outputs and messages name. */
export function oldestFormer(memory: Pick<Memory, "formers">): Former | undefined {
  return validFormers(memory).toSorted((a, b) => (a.since < b.since ? -1 : 1))[0];
}

/**
 * The memory after former ones were retired: of those that are not valid, only the last one is of use, which the
 * current one has replaced.
 *
 * @param valid those that are left
 * @param again those that were retired before, and are valid again
 */
export function onlyValid(
  memory: Memory,
  valid: readonly Former[],
  again: readonly Former[] = [],
): Memory {
  const last = memory.formers.at(-1);
  const left = memory.formers.flatMap((one) => {
    if (valid.includes(one)) return one;
    return one === last ? { ...one, retireHash: undefined, isValidAgain: undefined } : [];
  });
  return { ...memory, formers: [...again, ...left] };
}

/** Until when a former one is valid (ISO 8601, UTC); undefined unless it is for a duration. */
export function validUntil(former: Former | undefined): string | undefined {
  return former && isDuration(former.validFor)
    ? dueAt(former.since, former.validFor).toISOString()
    : undefined;
}

/** For how long what a rotation replaces stays valid. What is older than a date must not stay. */
export function validForAfter(
  reason: RotationReason | undefined,
  current: Pick<Current, "generatedAt">,
  { overlap, rotatedSince }: Program,
  now: Date,
): string {
  const isForDate = reason === "rotatedSince" || isOlder(current, rotatedSince, now);
  return isForDate && overlap !== noOverlap ? untilNextUp : overlap;
}

/** True if a former one will wait for a Retirement after a plan; undefined if that is not known. */
export function willWait(
  memory: Memory,
  program: Program,
  plan: Plan,
  now: Date,
): boolean | undefined {
  if (plan.kind === "maybe" || program.unknown.has("overlap")) return undefined;
  const isOfPlan =
    plan.kind === "rotate" &&
    waitsForRetirement({ validFor: validForAfter(plan.reason, memory.current, program, now) });
  return isOfPlan || validFormers(withOverlapOf(memory, program)).some(waitsForRetirement);
}

/**
 * A changed `overlap` counts from the next `up` on, and a run without scheduled rotations retires only for a date. What
 * is valid again is retired at once, unless a Retirement does it.
 */
export function dueFormers(
  memory: Memory,
  program: Program,
  { now, isScheduleOn }: Pick<Context, "now" | "isScheduleOn">,
): DueFormers | undefined {
  const isKept = isOverlapChanged(memory, program);
  const isForDate = (one: Former) =>
    one.validFor === untilNextUp || isOlder(one, program.rotatedSince, now);
  const isForTime = ({ isValidAgain, since, validFor }: Former) => {
    if (isValidAgain) return program.overlap !== untilRetirement;
    // With `none`, its retirement has failed, or `overlap` was changed since.
    const isOver = isDuration(validFor) ? dueAt(since, validFor) <= now : validFor === noOverlap;
    return isOver && !isKept;
  };
  const formers = validFormers(memory).filter(
    (one) => isForDate(one) || (isScheduleOn && isForTime(one)),
  );
  if (formers.length === 0) return undefined;
  return { why: formers.some(isForDate) ? "date" : "time", formers };
}

/** True if `overlap` differs from what is saved of a former one that is valid now, or is not known yet. */
export function isOverlapChanged(memory: Memory, { overlap, unknown }: Program): boolean {
  return validFormers(memory).some(
    ({ validFor }) => validFor !== untilNextUp && (unknown.has("overlap") || validFor !== overlap),
  );
}

/** The memory with the `overlap` of the program for the former ones that are valid. */
export function withOverlapOf(memory: Memory, { overlap }: Program): Memory {
  const formers = memory.formers.map((one) => {
    const isOpen = one.retireHash !== undefined && one.validFor !== untilNextUp;
    return isOpen ? { ...one, validFor: overlap } : one;
  });
  return { ...memory, formers };
}
