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
  untilVerified,
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
  const older = hasFormer ? ` ${olderNote(memory, desired, due, context)}` : "";
  const first = memory === undefined ? firstNote(kind) : "";
  return `${older} ${formerNote(memory, desired, due, context)}${first}`;
}

/** What the announcement of a new resource adds, after a space. Later ones say how many passwords these are. */
export function firstNote({ isOfServer, noun, word }: SecretKind): string {
  if (!isOfServer) return "";
  return ` The first retirement removes all ${word}s that the ${noun} had before its first rotation.`;
}

/**
 * What was former before the rotation is the older one. A verification may have retired it, which only a read shows.
 */
function olderNote(memory: Memory, desired: Desired, due: Reset, context: Context): string {
  const { word } = context.kind;
  const isWaiting = due.reason === "schedule" && !retirementReason(memory, desired, context);
  return isWaiting
    ? `If two ${word}s are still valid, the rotation waits until only one is.`
    : `If two ${word}s are still valid, the older one is retired first.${ownTokenNote(memory, context)}`;
}

/** Empty unless the former one is the token that Rekey uses. */
function ownTokenNote({ salt, replaced }: Memory, { ownToken }: Context): string {
  const isOwn = ownToken !== undefined && saltedMark(salt, ownToken) === replaced?.mark;
  return isOwn ? " It is rekey:queueToken: the retirement fails until that is the new one." : "";
}

/** What is current before the rotation is the former one. At its first one, a user may have several. */
function formerNote(
  memory: Memory | undefined,
  desired: Desired,
  { reason }: Reset,
  { kind: { word, isOfServer }, now }: Context,
): string {
  const lasts = lastsOf(desired);
  const areSeveral = isOfServer && memory?.current.password === undefined;
  const [former, stay, are, them] = areSeveral
    ? [`${word}s that were valid before`, "stay", "are", "them"]
    : [`former ${word}`, "stays", "is", "it"];
  if (lasts === noOverlap) {
    return `The ${former} ${are} replaced at once: clients are refused until they have the new one.`;
  }
  if (isReplacedForDate({ reason, generatedAt: memory?.generatedAt }, desired, now)) {
    return `The ${former} ${stay} valid until the next \`up\`, or until a verification retires ${them}.`;
  }
  return isDuration(lasts)
    ? `The ${former} ${stay} valid for ${lasts}.`
    : `The ${former} ${stay} valid until ${retires} retires ${them}.`;
}

const retires = "a CredentialVerification with retireFormerAfter";

/** What an adoption adds: each later rotation needs something that retires the former one. */
export function adoptedNote({ word, overlaps }: SecretKind, desired: Desired): Message[] {
  const isVerified = overlaps && lastsOf(desired) === untilVerified;
  const text = `after a rotation, the former ${word} stays valid until ${retires} retires it.`;
  return isVerified ? [{ text }] : [];
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
 * The warning of a destroy that may leave two valid: a verification may have retired the former one.
 *
 * @param retired the marks of current secrets whose former ones were retired
 */
export function leftValid(
  { word, noun, isOfServer }: SecretKind,
  { overlap, current }: Memory,
  retired: ReadonlySet<string>,
): Message[] {
  if (!overlap || Object.values(current).some((mark) => retired.has(mark))) return [];
  const how = isOfServer
    ? "run `ACL SETUSER <user> !<hash>` (runbook)"
    : "roll the next token at the platform";
  const text = `two ${word}s of the ${noun} may stay valid (since ${overlap.since}). To remove the former one, once no client uses it: ${how}.`;
  return [{ text, isWarning: true }];
}
