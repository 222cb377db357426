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
import { type Context, type DueRetirement, type Plan, type Rotation } from "./plan";
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
  const older = memory && addsSecret(kind, program) ? olderNote(memory, program, due, context) : "";
  const first = memory === undefined ? firstNote(kind) : "";
  return `${older} ${formerNote(memory, program, due, context)}${first}`;
}

/** What the announcement of a new resource adds, after a space. Later ones say how many passwords these are. */
export function firstNote({ shape, noun, word }: SecretKind): string {
  if (shape !== "redis") return "";
  return ` The first retirement removes all ${word}s that the ${noun} had before its first rotation.`;
}

/** What was former before is the older one. A verification may have retired it, which only a read shows. */
function olderNote(memory: Memory, program: Program, due: Rotation, context: Context): string {
  const { kind } = context;
  const valid = validFormers(memory);
  if (valid.length === 0) return "";
  const retired = dueFormers(memory, program, context);
  const isAllRetired = retired?.formers.length === valid.length;
  if (retired?.why === "date" || isAllRetired) {
    const refused = retired.why === "date" ? ": clients that still use it are refused" : "";
    return ` If two ${kind.word}s are still valid, the older one is retired first${refused}.${ownTokenNote(memory, context)}`;
  }
  if (due.reason === "schedule" || kind.shape === "adds") {
    return ` If two ${kind.word}s are still valid, the rotation waits until only one is.`;
  }
  return retired
    ? ` Of the older ${kind.word}s that are still valid, those whose time is over are retired first.`
    : ` The older ${kind.word}s that are still valid stay so, too.`;
}

/** Empty unless the former one is the token that Rekey uses. */
function ownTokenNote(memory: Memory, { ownToken }: Context): string {
  const former = memory.formers.at(-1)?.credential?.mark;
  const isOwn = ownToken !== undefined && saltedMark(memory.salt, ownToken) === former;
  return isOwn ? " It is rekey:queueToken: the retirement fails until that is the new one." : "";
}

/** What is current before the rotation is the former one. At its first one, a user may have several. */
function formerNote(
  memory: Memory | undefined,
  program: Program,
  due: Rotation,
  { kind: { word, shape }, now }: Context,
): string {
  const areSeveral = shape === "redis" && memory?.current.marks.password === undefined;
  const [former, stay, are, them] = areSeveral
    ? [`${word}s that were valid before`, "stay", "are", "them"]
    : [`former ${word}`, "stays", "is", "it"];
  const lasts = lastsAfter(due, memory ?? { current: { marks: {} } }, program, now);
  if (lasts === noOverlap) {
    return `The ${former} ${are} replaced at once: clients are refused until they have the new one.`;
  }
  if (isDuration(lasts)) return `The ${former} ${stay} valid for ${lasts}.`;
  return lasts === untilVerified
    ? `The ${former} ${stay} valid until ${retires} retires ${them}.`
    : `The ${former} ${stay} valid until the next \`up\`, or until a verification retires ${them}.`;
}

const retires = "a CredentialVerification with retireFormerAfter";

/** What an adoption adds: each later rotation needs something that retires the former one. */
export function adoptedNote(kind: SecretKind, { overlap }: Program): Message[] {
  if (!hasOverlap(kind) || overlap !== untilVerified) return [];
  const text = `after a rotation, the former ${kind.word} stays valid until ${retires} retires it.`;
  return [{ text }];
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

/** What a destroy would leave. A verification may have retired the former one, which only a read shows. */
export function leftByDestroy({ word }: SecretKind, memory: Memory, plan: Plan): Message[] {
  const oldest = oldestFormer(memory);
  if (!oldest || plan.kind === "rotate" || plan.kind === "retire") return [];
  const text = `if the former ${word} is still valid, as it has been since ${oldest.since}, a destroy leaves both valid.`;
  return [{ text }];
}

/**
 * The warning of a destroy that may leave two valid: a verification may have retired the former one.
 *
 * @param retired the marks of current secrets whose former ones were retired
 */
export function leftValid(
  { word, noun, shape }: SecretKind,
  memory: Memory,
  retired: ReadonlySet<string>,
): Message[] {
  const { attempt, current } = memory;
  const since = oldestFormer(memory)?.since ?? (attempt?.adds && attempt.firstSentAt);
  if (!since || Object.values(current.marks).some((mark) => retired.has(mark))) return [];
  const how =
    shape === "redis"
      ? "run `ACL SETUSER <user> !<hash>` (runbook)"
      : "roll the next token at the platform";
  const text = `two ${word}s of the ${noun} may stay valid (since ${since}). To remove the former one, once no client uses it: ${how}.`;
  return [{ text, isWarning: true }];
}
