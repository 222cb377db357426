import { type SecretKind } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Desired } from "../desired";
import { type Message } from "../findings";
import { type Context, type Reset, type Retirement } from "../plan";
import { type Memory } from "../state";
import {
  addsSecret,
  isDuration,
  isOver,
  isUrgent,
  lastsOf,
  noOverlap,
  whyRetired,
} from "./overlap";

/** What the announcement of a rotation adds, after a space, of the secrets that are valid. */
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

/** A verification may have retired it, which only a read shows. */
function formerNote(memory: Memory, desired: Desired, due: Reset, context: Context): string {
  const { word } = context.kind;
  return due.reason === "schedule" && whyRetired(memory, desired, context) === undefined
    ? `If the ${word} before the current one still is valid, it waits until that is retired.`
    : `The ${word} before the current one is retired first, if it still is valid.`;
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

/** A read may show that it was retired before. */
export function plannedRetirement(
  { word }: SecretKind,
  { overlap }: Memory,
  { why }: Retirement,
): Message {
  const { since = "", lasts = "" } = overlap ?? {};
  const because =
    why === "date"
      ? "because rotatedSince has asked for it"
      : `because its time is over (overlap: ${lasts})`;
  const text = `the ${word} before the current one is retired, if it still is valid, ${because}. Both are valid since ${since}.`;
  return { text };
}

/** A retirement that waits for a run with the schedule on. */
export function postponedRetirement(
  { word }: SecretKind,
  { overlap }: Memory,
  desired: Desired,
  { now, isScheduleOn }: Context,
): Message[] {
  if (!overlap || isScheduleOn || !isOver(overlap, now) || isUrgent(overlap, desired, now)) {
    return [];
  }
  const text = `the ${word} before the current one is due to be retired (overlap: ${overlap.lasts}), and valid since ${overlap.since}. That is postponed: rekey:scheduledResets is off.`;
  return [{ text, isWarning: true }];
}

/** What a destroy leaves. */
export function leftValid({ word }: SecretKind, { overlap }: Memory): Message[] {
  if (!overlap) return [];
  const text = `the ${word} before the current one was not retired by this resource. If it still is valid, both stay valid: they are since ${overlap.since}.`;
  return [{ text, isWarning: true }];
}
