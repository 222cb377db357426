import { isDeepStrictEqual } from "node:util";
import { isServerChanged } from "../program/admin";
import { dueFormers, isOverlapChanged, validFormers } from "../program/formers";
import { refusalOf } from "./gates";
import { triggerMark } from "../memory/marks";
import {
  type Attempt,
  type Memory,
  type RotationReason,
  type SavedProgram,
} from "../memory/memory";
import { type Context, type Plan, type Rotation } from "../program/plan";
import { type Program, savedProgram } from "../program/program";
import { dueFrom, isOlder } from "../memory/schedule";
import { handOverEnd } from "./signingKeys";
import { type State } from "../memory/state";

/** Inputs whose change can cause a rotation. */
const decidingInputs = ["version", "triggers", "rotateEvery", "rotatedSince", "minInterval"];

/** Inputs whose change is saved without a request. */
export const savedInputs = ["connection", "queueUrl", "rotateEvery", "admin"] as const;

/** Unconfirmed attempts in a row after which no further one is made. */
export const unconfirmedLimit = 3;

/** Decides what to do, without requests: in previews, and in an update before its read and after it. */
export function planRotation(saved: State | undefined, program: Program, context: Context): Plan {
  const memory = saved?.memory;
  const due = memory ? dueOf(memory, program, context) : dueOfNew(program);
  const plan = due.kind === "rotate" ? (refusalOf(due, { memory, program, context }) ?? due) : due;
  if (plan.kind !== "keep" || memory === undefined) return plan;
  const { waits } = plan;
  const upkeep: Plan = { ...upkeepOf(memory, program, context), ...(waits && { waits }) };
  // That nothing waits any more, because a version was removed, is saved, too.
  const isOver = upkeep.kind === "keep" && !waits && saved?.waits !== undefined;
  return isOver ? { ...upkeep, saves: true } : upkeep;
}

function dueOfNew({ unknown, isAdopted, rotatedSince }: Program): Plan {
  if (unknown.has("initialRotation")) return { kind: "maybe", names: ["initialRotation"] };
  if (!isAdopted) return rotationFor("created");
  return { kind: "adopt", mayRotate: rotatedSince !== undefined || unknown.has("rotatedSince") };
}

/** The plan for a saved secret, in the order of the reasons. */
function dueOf(memory: Memory, program: Program, { now }: Context): Plan {
  const names = decidingInputs.filter((name) => program.unknown.has(name));
  if (names.length > 0) return { kind: "maybe", names };
  if (memory.attempt) return dueOfAttempt(memory, memory.attempt, program, now);
  // The first `up` after an import adopts the program's trigger, and nothing else.
  if (memory.applied === undefined) return { kind: "keep" };
  const trigger = triggerMark(memory, program.trigger);
  if (trigger !== "" && trigger !== memory.applied) return rotationFor("trigger");
  const { rotatedSince, rotateEvery } = program;
  const { current, scheduledFrom } = memory;
  if (isOlder(current, rotatedSince, now)) {
    return rotationFor("rotatedSince", current.generatedAt);
  }
  const isScheduled = rotateEvery !== undefined && dueFrom(scheduledFrom, rotateEvery) <= now;
  return isScheduled ? rotationFor("schedule", scheduledFrom) : { kind: "keep" };
}

/** An attempt is due again: one that was not confirmed until too many in a row were not, one that only adds always. */
function dueOfAttempt(memory: Memory, attempt: Attempt, program: Program, now: Date): Plan {
  const trigger = triggerMark(memory, program.trigger);
  if (trigger !== "" && trigger !== attempt.trigger) return rotationFor("trigger");
  if (attempt.adds) {
    // A date also counts if a schedule has begun it.
    const isForDate = isOlder(memory.current, program.rotatedSince, now);
    const reason = isForDate ? "rotatedSince" : attempt.reason;
    const isScheduled = reason === "schedule";
    return rotationFor(reason, isScheduled ? memory.scheduledFrom : memory.current.generatedAt);
  }
  if (attempt.count < unconfirmedLimit) {
    return { ...rotationFor(attempt.reason, attempt.lastSentAt), isAgain: true };
  }
  const why =
    "the platform has not confirmed its last resets, so it is unknown which credential is valid. Check the status of the platform, then set a new version to try again";
  return { kind: "refuse", code: "REKEY_REPEATEDLY_UNCONFIRMED", why };
}

function rotationFor(reason: RotationReason, lastAt?: string): Rotation {
  return { kind: "rotate", reason, lastAt };
}

/** The plan if no rotation is due: something may have to be refused, retired, saved or read. */
function upkeepOf(memory: Memory, program: Program, context: Context): Plan {
  const { canRead, read } = context;
  if (read?.goneReason !== undefined) {
    return { kind: "refuse", code: "REKEY_VERIFICATION_FAILED", why: read.goneReason };
  }
  const due = dueFormers(memory, program, context);
  if (due) return { kind: "retire", ...due };
  if (memory.kindFacts.isUnsaved) return { kind: "save" };
  if (canRead && mustRead(memory, program)) return { kind: "read" };
  // Only a read shows which former ones are still valid. A former key is for its interval only.
  const isOpen = validFormers(memory).length > 0 || handOverEnd(memory, program, context);
  if (canRead && !read && isOpen) return { kind: "read", why: "former" };
  const saves = isProgramChanged(memory, program);
  return { kind: "keep", ...(saves && { saves }) };
}

/** True if the program says something else than is saved, which needs no request. */
function isProgramChanged(memory: Memory, program: Program): boolean {
  return (
    memory.applied === undefined ||
    savedInputs.some((name) => isInputChanged(name, program, memory)) ||
    isOverlapChanged(memory, program)
  );
}

function mustRead(memory: Memory, program: Program): boolean {
  return (
    memory.applied === undefined ||
    memory.current.mustRead === true ||
    isServerChanged(program.admin, memory)
  );
}

/** True if an input differs from what is saved, or is not known yet. */
export function isInputChanged(
  name: keyof SavedProgram,
  program: Program,
  memory: Memory,
): boolean {
  return (
    program.unknown.has(name) ||
    !isDeepStrictEqual(savedProgram(program, memory)[name], memory.program[name])
  );
}
