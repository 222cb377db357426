import { type SecretKind } from "../domain/secretKind";
import { type Finding } from "./findings";
import {
  addsSecret,
  dueFormers,
  hasOverlap,
  isAttemptOlder,
  isDuration,
  lastsAfter,
  oldestFormer,
  validFormers,
  waitsForRetirement,
} from "./formers";
import { formerIsValid } from "./gates";
import { saltedMark } from "./marks";
import { type Memory } from "./memory";
import { type Context, type DueRetirement, type Plan, type Rotation } from "./plan";
import { noOverlap, type Program, untilRetirement } from "./program";

/** What the announcement of a rotation adds about the secrets that stay valid. */
export function notesOnFormers(
  memory: Memory | undefined,
  program: Program,
  due: Rotation,
  context: Context,
): Finding[] {
  const { kind, now } = context;
  if (!hasOverlap(kind) || program.unknown.has("overlap")) return [];
  const older =
    memory && addsSecret(kind, program) ? notesOnOlder(memory, program, due, context) : [];
  const lasts = lastsAfter(due, memory ?? { current: { marks: {} } }, program, now);
  // At its first rotation, a user may have several passwords.
  const areSeveral = kind.shape === "redis" && memory?.current.marks.password === undefined;
  const former: Finding =
    lasts === noOverlap
      ? { kind: "replacesFormer" }
      : areSeveral
        ? { kind: "keepsSeveral", why: until(lasts, "them") }
        : { kind: "keepsFormer", why: until(lasts, "it") };
  const isFirst = kind.shape === "redis" && memory === undefined;
  return [...older, former, ...(isFirst ? [{ kind: "firstRetirement" } as const] : [])];
}

/** For how long what a rotation replaces stays valid, after *stays valid*. */
function until(lasts: string, them: "it" | "them"): string {
  if (isDuration(lasts)) return `for ${lasts}`;
  return lasts === untilRetirement
    ? `until a Retirement retires ${them}`
    : `until a Retirement retires ${them}, or until the next \`up\``;
}

/** What was former before is the older one. A Retirement may have retired it, which only a read shows. */
function notesOnOlder(
  memory: Memory,
  program: Program,
  due: Rotation,
  context: Context,
): Finding[] {
  const valid = validFormers(memory);
  const isToken = context.kind.shape === "adds";
  const isRolled = isToken && isAttemptOlder(memory, program, context);
  if (valid.length === 0 && !isRolled) return [];
  const retired = dueFormers(memory, program, context);
  // A token of unknown age is replaced for a date, whatever the age of the former one.
  const isForDate =
    isRolled || retired?.why === "date" || (isToken && due.reason === "rotatedSince");
  if (isForDate || retired?.formers.length === valid.length) {
    const kind = isForDate ? "retiresOlderForDate" : "retiresOlder";
    return [{ kind }, ...notesOnOwnToken(memory, context)];
  }
  const over: Finding[] = retired ? [{ kind: "retiresOver" }] : [];
  const notes = [...over, ...notesOnWaiting(memory, program, due, context)];
  return notes.length > 0 ? notes : [{ kind: "keepsOlder" }];
}

/** Whether the rotation waits if the read before it changes nothing. */
function notesOnWaiting(
  memory: Memory,
  program: Program,
  due: Rotation,
  context: Context,
): Finding[] {
  const read = { shown: {}, shownInRun: [] };
  if (!formerIsValid(due, { memory, program, context: { ...context, read } })) return [];
  const areSeveral = validFormers(memory).length > 1 && due.reason !== "schedule";
  return [{ kind: areSeveral ? "waitsForSome" : "waitsForOlder" }];
}

/** Empty unless the former one is the token that Rekey uses. */
function notesOnOwnToken({ formers, salt }: Memory, { ownToken }: Context): Finding[] {
  const former = formers.at(-1)?.credential?.mark;
  const isOwn = ownToken !== undefined && saltedMark(salt, ownToken) === former;
  return isOwn ? [{ kind: "retiresOwn" }] : [];
}

/** The announcement of a retirement. The read before it may show that the former one was retired already. */
export function plannedRetirement(
  memory: Memory,
  { why }: DueRetirement,
  context: Context,
): Finding[] {
  const { lasts, since, isBack } = oldestFormer(memory) ?? {};
  const because: Finding =
    why === "date"
      ? { kind: "retiresForDate" }
      : isBack
        ? { kind: "retiresAgain" }
        : { kind: "retiresForTime", why: lasts };
  return [because, { kind: "bothSince", why: since }, ...notesOnOwnToken(memory, context)];
}

/** What is to be said of former ones that stay valid. */
export function concernsOfFormers(
  memory: Memory,
  plan: Plan,
  program: Program,
  context: Context,
): Finding[][] {
  const oldest = oldestFormer(memory);
  if (!oldest) return [];
  const due = dueFormers(memory, program, { ...context, isScheduleOn: true });
  const isPostponed = !context.isScheduleOn && due?.why === "time";
  const [first = oldest] = due?.formers ?? [];
  return [
    isPostponed
      ? [
          { kind: "retirementIsDue", why: first.lasts },
          { kind: "bothSince", why: first.since },
          { kind: "postponed", why: "rekey:scheduledResets is off" },
        ]
      : [],
    // A Retirement may have retired the former one, which only a read shows.
    plan.kind === "rotate" || plan.kind === "retire"
      ? []
      : [{ kind: "leavesBoth", why: oldest.since }],
  ];
}

/**
 * The warning of a destroy that may leave two valid.
 *
 * @param retires those that wait for a Retirement and were replaced by then are retired
 */
export function leftValid({ shape }: SecretKind, memory: Memory, retires = ""): Finding[] {
  const { attempt } = memory;
  const formers = validFormers(memory).filter(
    (one) => !waitsForRetirement(one) || one.since > retires,
  );
  const since = oldestFormer({ formers })?.since ?? (attempt?.adds && attempt.firstSentAt);
  if (!since) return [];
  return [{ kind: shape === "redis" ? "leftPasswords" : "leftTokens", why: since }];
}
