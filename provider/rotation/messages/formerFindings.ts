import { type Subject } from "../../domain/secretKind";
import { type Finding } from "./findings";
import {
  dueFormers,
  isDuration,
  validForAfter,
  oldestFormer,
  validFormers,
  waitsForRetirement,
} from "../program/formers";
import { formerIsValid } from "../plan/gates";
import { saltedMark } from "../memory/marks";
import { type Memory } from "../memory/memory";
import { type Context, type DueRetirement, type Rotation } from "../program/plan";
import { noOverlap, type Program, untilRetirement } from "../program/program";

/** Notes of the announcement of a rotation on the secrets that stay valid. */
export function notesOnFormers(
  memory: Memory | undefined,
  program: Program,
  due: Rotation,
  context: Context,
): Finding[] {
  const { kind, now } = context;
  const { maxValid } = kind;
  if (!maxValid || program.unknown.has("overlap")) return [];
  const older = memory && program.adds ? notesOnOlder(memory, program, due, context) : [];
  const validFor = validForAfter(due.reason, memory?.current ?? {}, program, now);
  // Before its first rotation, a user may have several passwords.
  const areSeveral = maxValid > 2 && memory?.current.identity === undefined;
  const former: Finding =
    validFor === noOverlap
      ? { kind: "replacesFormer" }
      : areSeveral
        ? { kind: "keepsSeveral", why: until(validFor, "them") }
        : { kind: "keepsFormer", why: until(validFor, "it") };
  const isFirst = maxValid > 2 && memory === undefined;
  return [...older, former, ...(isFirst ? [{ kind: "firstRetirement" } as const] : [])];
}

/** For how long what a rotation replaces stays valid, after *stays valid*. */
function until(validFor: string, them: "it" | "them"): string {
  if (isDuration(validFor)) return `for ${validFor}`;
  return validFor === untilRetirement
    ? `until a Retirement retires ${them}`
    : `until a Retirement retires ${them}, or until the next \`up\``;
}

/** Notes on those that are former already. A Retirement may have retired them, which only the read before it shows. */
function notesOnOlder(
  memory: Memory,
  program: Program,
  due: Rotation,
  context: Context,
): Finding[] {
  if (validFormers(memory).length === 0) return [];
  const ending = dueFormers(memory, program, context);
  // A token of unknown age is replaced for a date, whatever the age of the former one.
  const isForDate =
    ending?.why === "date" || (context.kind.maxValid === 2 && due.reason === "rotatedSince");
  const kind = isForDate ? "retiresOlderForDate" : "retiresOlder";
  const read = { shown: {}, shownInRun: [] };
  const waits = formerIsValid(due, { memory, program, context: { ...context, read } });
  const notes: Finding[] = [
    ...(isForDate || ending ? [{ kind } as const, ...notesOnOwnToken(memory, context)] : []),
    ...(waits ? [{ kind: "waitsForOlder" } as const] : []),
  ];
  return notes.length > 0 ? notes : [{ kind: "keepsOlder" }];
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
  { why, formers }: DueRetirement,
  context: Context,
): Finding[] {
  const { validFor, since, isValidAgain } = oldestFormer({ formers }) ?? {};
  const because: Finding =
    why === "date"
      ? { kind: "retiresForDate" }
      : isValidAgain
        ? { kind: "retiresAgain" }
        : { kind: "retiresForTime", why: validFor };
  return [because, { kind: "bothSince", why: since }, ...notesOnOwnToken(memory, context)];
}

/** Concerns about former ones whose time is over. */
export function concernsOfFormers(memory: Memory, program: Program, context: Context): Finding[] {
  const due = dueFormers(memory, program, { ...context, isScheduleOn: true });
  if (context.isScheduleOn || due?.why !== "time") return [];
  const first = oldestFormer(due);
  return [
    { kind: "retirementIsDue", why: first?.validFor },
    { kind: "bothSince", why: first?.since },
    { kind: "postponed", why: "rekey:scheduledResets is off" },
  ];
}

/**
 * The warnings of a destroy that may leave two valid.
 *
 * @param retires those that wait for a Retirement and were replaced by then are retired
 */
export function leftValid({ kind, id }: Subject, memory: Memory, retires = ""): Finding[] {
  const { attempt } = memory;
  const formers = validFormers(memory).filter(
    (one) => !waitsForRetirement(one) || one.since > retires,
  );
  const former = oldestFormer({ formers });
  // The hash of a password that a person has chosen may reveal it: only those of Rekey's own are shown.
  const hash = former?.credential && former.retireHash;
  const { removal } = kind;
  const found: Finding[] = [];
  if (former) {
    const names = [removal?.former(id, hash) ?? ""];
    found.push({ kind: "leftFormer", why: former.since, names });
  }
  if (attempt?.adds) {
    const names = [removal?.unproven(id, attempt.expects) ?? ""];
    found.push({ kind: "leftUnproven", why: attempt.firstSentAt, names });
  }
  return found;
}
