import { type SecretKind } from "../domain/secretKind";
import { type Message } from "./findings";
import {
  addsSecret,
  dueFormers,
  hasOverlap,
  isDueByDate,
  isDuration,
  isOver,
  lastsAfter,
  oldestFormer,
  validFormers,
} from "./formers";
import { saltedMark } from "./marks";
import { type Memory } from "./memory";
import { type Context, type DueRetirement, type Rotation } from "./plan";
import { noOverlap, type Program, untilVerified } from "./program";

/** What the announcement of a rotation adds, after a space, about the secrets that stay valid. Empty if nothing. */
export function overlapNote(
  memory: Memory | undefined,
  program: Program,
  due: Rotation,
  context: Context,
): string {
  const { kind } = context;
  if (!hasOverlap(kind) || program.unknown.has("overlap")) return "";
  const former =
    memory && addsSecret(kind, program) ? formerNote(memory, program, due, context) : "";
  return `${former} ${currentNote(memory, program, due, context)}`;
}

/** The former ones may have been retired by a verification, which only a read shows. */
function formerNote(memory: Memory, program: Program, due: Rotation, context: Context): string {
  const { kind } = context;
  const valid = validFormers(memory);
  if (valid.length === 0) return "";
  const retired = dueFormers(memory, program, context);
  const isAllRetired = retired?.formers.length === valid.length;
  const ownToken = ownTokenNote(memory, context);
  if (retired?.why === "date") {
    return ` The former ${kind.word} is retired first, if it is still valid: clients that still use it are refused.${ownToken}`;
  }
  if (isAllRetired)
    return ` The former ${kind.word} is retired first, if it is still valid.${ownToken}`;
  const waits = due.reason === "schedule" || kind.shape === "adds";
  return waits
    ? ` If the former ${kind.word} is still valid, the rotation waits until it is retired.`
    : ` The passwords that were valid before stay valid, too.`;
}

/** Empty unless the former one is the token that Rekey uses. */
function ownTokenNote(memory: Memory, { ownToken }: Context): string {
  const former = memory.formers.at(-1)?.credential?.mark;
  const isOwn = ownToken !== undefined && saltedMark(memory.salt, ownToken) === former;
  return isOwn ? " It is rekey:queueToken: the retirement fails until that is the new one." : "";
}

/** At its first rotation, a user may have several passwords, and none is known. */
function currentNote(
  memory: Memory | undefined,
  program: Program,
  due: Rotation,
  { kind: { word, shape }, now }: Context,
): string {
  const areSeveral = shape === "redis" && memory?.current.marks.password === undefined;
  const [current, stay, are, them] = areSeveral
    ? [`${word}s that were valid before`, "stay", "are", "them"]
    : [`current ${word}`, "stays", "is", "it"];
  const lasts = lastsAfter(due, memory ?? { current: { marks: {} } }, program, now);
  if (lasts === noOverlap) {
    return `The ${current} ${are} replaced at once: clients are refused until they have the new one.`;
  }
  if (isDuration(lasts)) return `The ${current} ${stay} valid for ${lasts}.`;
  const first = lasts === untilVerified ? "" : "until the next `up`, or ";
  return `The ${current} ${stay} valid ${first}until a verification retires ${them}.`;
}

/** The announcement of a retirement. The read before it may show that the former one was retired already. */
export function plannedRetirement(
  memory: Memory,
  { why }: DueRetirement,
  context: Context,
): Message | undefined {
  const oldest = oldestFormer(memory);
  if (!oldest) return undefined;
  const because =
    why === "date"
      ? "because rotatedSince has asked for it: clients that still use it are refused"
      : `because its time is over (overlap: ${oldest.lasts})`;
  const text = `the former ${context.kind.word} is retired, if it is still valid, ${because}. Both have been valid since ${oldest.since}.${ownTokenNote(memory, context)}`;
  return { text };
}

/** The warning that a retirement waits for a run with `rekey:scheduledResets` on. */
export function postponedRetirement(
  { word }: SecretKind,
  memory: Memory,
  program: Program,
  { now, isScheduleOn }: Context,
): Message[] {
  const due = validFormers(memory).filter(
    (one) => isOver(one, now) && !isDueByDate(one, program, now),
  );
  const oldest = oldestFormer({ formers: due });
  if (!oldest || isScheduleOn) return [];
  const text = `the former ${word} is due to be retired (overlap: ${oldest.lasts}). Both have been valid since ${oldest.since}. The retirement is postponed: rekey:scheduledResets is off.`;
  return [{ text, isWarning: true }];
}

/** The warning of a destroy that may leave two valid: a verification may have retired the former one. */
export function leftValid({ word, noun, shape }: SecretKind, memory: Memory): Message[] {
  const oldest = oldestFormer(memory);
  if (!oldest) return [];
  const how =
    shape === "redis"
      ? "run `ACL SETUSER <user> !<hash>` (runbook)"
      : "roll the next token at the platform";
  const text = `two ${word}s of the ${noun} may stay valid (since ${oldest.since}). To remove the former one, once no client uses it: ${how}.`;
  return [{ text, isWarning: true }];
}
