import { type SecretKind } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Desired } from "../desired";
import { type Message } from "../findings";
import { type Context, type DueRetirement, type Plan, type Reset } from "../plan";
import { saltedMark } from "../marks";
import { type Memory } from "../state";
import {
  addsSecret,
  isDuration,
  isOver,
  isReplacedForDate,
  isUrgent,
  lastsOf,
  noOverlap,
  retirementReason,
} from "./overlap";

/** What the announcement of a rotation adds, after a space, about the secrets that stay valid. Empty if nothing. */
export function overlapNote(
  memory: Memory | undefined,
  desired: Desired,
  due: Reset,
  context: Context,
): string {
  const { kind } = context;
  if (!kind.overlaps || isUnknown(desired.overlap)) return "";
  const hasFormer = memory?.overlap !== undefined && addsSecret(kind, desired);
  const former = hasFormer ? ` ${formerNote(memory, desired, due, context)}` : "";
  const first = memory === undefined ? firstNote(kind) : "";
  return `${former} ${currentNote(memory, desired, due, context)}${first}`;
}

/** What the announcement of a new resource adds, after a space. Later ones say how many passwords these are. */
export function firstNote({ isOfServer, noun, word }: SecretKind): string {
  if (!isOfServer) return "";
  return ` The first retirement removes all ${word}s that the ${noun} had before its first rotation.`;
}

/** The former one may have been retired by a verification, which only a read shows. */
function formerNote(memory: Memory, desired: Desired, due: Reset, context: Context): string {
  const { word } = context.kind;
  const isWaiting = due.reason === "schedule" && !retirementReason(memory, desired, context);
  return isWaiting
    ? `If the former ${word} is still valid, the rotation waits until it is retired.`
    : `The former ${word} is retired first, if it is still valid.${ownTokenNote(memory, context)}`;
}

/** Empty unless the former one is the token that Rekey uses. */
function ownTokenNote({ salt, replaced }: Memory, { ownToken }: Context): string {
  const isOwn = ownToken !== undefined && saltedMark(salt, ownToken) === replaced?.mark;
  return isOwn ? " It is rekey:queueToken: the retirement fails until that is the new one." : "";
}

function currentNote(
  memory: Memory | undefined,
  desired: Desired,
  { reason }: Reset,
  { kind: { word }, now }: Context,
): string {
  const lasts = lastsOf(desired);
  if (lasts === noOverlap) {
    return `The current ${word} is replaced at once: clients are refused until they have the new one.`;
  }
  if (isReplacedForDate({ reason, generatedAt: memory?.generatedAt }, desired, now)) {
    return `The current ${word} stays valid until the next \`up\`, or until a verification retires it.`;
  }
  return isDuration(lasts)
    ? `The current ${word} stays valid for ${lasts}.`
    : `The current ${word} stays valid until a verification retires it.`;
}

/** The announcement of a retirement. The read before it may show that the former one was retired already. */
export function plannedRetirement(
  memory: Memory,
  { why }: DueRetirement,
  context: Context,
): Message | undefined {
  const { overlap } = memory;
  if (!overlap) return undefined;
  const because =
    why === "date"
      ? "because rotatedSince has asked for it"
      : `because its time is over (overlap: ${overlap.lasts})`;
  const text = `the former ${context.kind.word} is retired, if it is still valid, ${because}. Both have been valid since ${overlap.since}.${ownTokenNote(memory, context)}`;
  return { text };
}

/** The warning that a retirement waits for a run with `rekey:scheduledResets` on. */
export function postponedRetirement(
  { word }: SecretKind,
  { overlap }: Memory,
  desired: Desired,
  { now, isScheduleOn }: Context,
): Message[] {
  if (!overlap || isScheduleOn || !isOver(overlap, now) || isUrgent(overlap, desired, now)) {
    return [];
  }
  const text = `the former ${word} is due to be retired (overlap: ${overlap.lasts}). Both have been valid since ${overlap.since}. The retirement is postponed: rekey:scheduledResets is off.`;
  return [{ text, isWarning: true }];
}

/** What a destroy would leave. A verification may have retired the former one, which only a read shows. */
export function leftByDestroy({ word }: SecretKind, { overlap }: Memory, plan: Plan): Message[] {
  if (!overlap || plan.kind === "reset" || plan.kind === "retire") return [];
  const text = `if the former ${word} is still valid, as it has been since ${overlap.since}, a destroy leaves both valid.`;
  return [{ text }];
}

/**
 * The warning of a destroy that leaves two valid.
 *
 * @param retired the marks of current secrets whose former ones were retired
 */
export function leftValid(
  { word }: SecretKind,
  { overlap, current }: Memory,
  retired: ReadonlySet<string>,
): Message[] {
  if (!overlap || Object.values(current).some((mark) => retired.has(mark))) return [];
  const text = `this resource has not retired the former ${word}. If it is still valid, both stay valid, as they have been since ${overlap.since}.`;
  return [{ text, isWarning: true }];
}
