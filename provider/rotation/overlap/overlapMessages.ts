import { type SecretKind } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Desired } from "../desired";
import { type Message } from "../findings";
import { type Context, type Reset, type DueRetirement } from "../plan";
import { type Memory } from "../state";
import {
  addsSecret,
  isDuration,
  isOver,
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
  return `${former} ${currentNote(memory, desired, due, context)}`;
}

/** The former one may have been retired by a verification, which only a read shows. */
function formerNote(memory: Memory, desired: Desired, due: Reset, context: Context): string {
  const { word } = context.kind;
  const isWaiting = due.reason === "schedule" && !retirementReason(memory, desired, context);
  return isWaiting
    ? `If the former ${word} still is valid, it waits until that is retired.`
    : `The former ${word} is retired first, if it still is valid.`;
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
  if (isUrgent({ reason, formerGeneratedAt: memory?.generatedAt }, desired, now)) {
    return `The current ${word} stays valid until the next \`up\`, or until a verification retires it.`;
  }
  return isDuration(lasts)
    ? `The current ${word} stays valid for ${lasts}.`
    : `The current ${word} stays valid until a verification retires it.`;
}

/** The announcement of a retirement. The read before it may show that the former one was retired already. */
export function plannedRetirement(
  { word }: SecretKind,
  { overlap }: Memory,
  { why }: DueRetirement,
): Message {
  const { since = "", lasts = "" } = overlap ?? {};
  const because =
    why === "date"
      ? "because rotatedSince has asked for it"
      : `because its time is over (overlap: ${lasts})`;
  const text = `the former ${word} is retired, if it still is valid, ${because}. Both have been valid since ${since}.`;
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

/** The warning of a destroy that leaves two valid. */
export function leftValid({ word }: SecretKind, { overlap }: Memory): Message[] {
  if (!overlap) return [];
  const text = `this resource has not retired the former ${word}. If it still is valid, both stay valid, as they have been since ${overlap.since}.`;
  return [{ text, isWarning: true }];
}
