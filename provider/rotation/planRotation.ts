import { isDeepStrictEqual } from "node:util";
import { isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import { isAdminChanged } from "./admin";
import { type Desired, programOf } from "./desired";
import { refusalOf } from "./gates";
import { triggerMark } from "./marks";
import { type Addition, type Memory, type ResetReason, type State } from "./state";
import { isOverlapChanged, retirementReason } from "./overlap/overlap";
import { type Context, type Plan, type Reset } from "./plan";
import { dueFrom, isOlder } from "./schedule";

/** Inputs whose change can cause a reset. */
const decidingInputs = [
  "version",
  "triggers",
  "rotateEvery",
  "rotatedSince",
  "minInterval",
] as const;

/** Unconfirmed resets in a row after which no further one is sent. */
export const unconfirmedLimit = 3;

/** Decides what to do, without requests: in previews, and in an update before its read and after it. */
export function planRotation(saved: State | undefined, desired: Desired, context: Context): Plan {
  const memory = saved?.memory;
  const due = memory ? dueOf(memory, desired, context) : dueOfNew(desired);
  const plan = due.kind === "reset" ? (refusalOf(due, { memory, desired, context }) ?? due) : due;
  if (plan.kind !== "keep" || memory === undefined) return plan;
  return { ...upkeepOf(memory, desired, context), waits: plan.waits };
}

function dueOfNew({ initialRotation, rotatedSince }: Desired): Plan {
  if (isUnknown(initialRotation)) return { kind: "maybe", names: ["initialRotation"] };
  return initialRotation === false
    ? { kind: "adopt", mayReset: isSet(rotatedSince) }
    : resetFor("created");
}

/** What is due of a saved secret, in the order of the reasons. */
function dueOf(memory: Memory, desired: Desired, context: Context): Plan {
  const names = decidingInputs.filter((name) => isUnknown(desired[name]));
  if (names.length > 0) return { kind: "maybe", names };
  if (memory.pending) return dueOfPending(memory, memory.pending, desired);
  if (memory.added) return dueOfAdded(memory, memory.added, desired, context.now);
  // The first `up` after an import adopts the program's trigger, and nothing else.
  if (memory.applied === undefined) return { kind: "keep" };
  const trigger = triggerMark(memory, desired);
  if (trigger !== "" && trigger !== memory.applied) {
    return context.read?.isRolledOnce ? { kind: "claim" } : resetFor("trigger");
  }
  return dueByTime(memory, desired, context.now);
}

/** A reset that was not confirmed is due again, until too many in a row were not. */
function dueOfPending(
  memory: Memory,
  pending: NonNullable<Memory["pending"]>,
  desired: Desired,
): Plan {
  const trigger = triggerMark(memory, desired);
  if (trigger !== "" && trigger !== pending.trigger) return resetFor("trigger");
  if (pending.count < unconfirmedLimit) {
    return { ...resetFor(pending.reason, pending.lastSentAt), isAgain: true };
  }
  const why =
    "the platform has not confirmed its last resets, so it is unknown which credential is valid. Check the status of the platform, then set a new version to try again";
  return { kind: "refuse", code: "REKEY_REPEATEDLY_UNCONFIRMED", why };
}

/** A rotation whose secret was not proven is due again. A date also counts if a schedule has begun it. */
function dueOfAdded(memory: Memory, added: Addition, desired: Desired, now: Date): Plan {
  const trigger = triggerMark(memory, desired);
  if (trigger !== "" && trigger !== added.trigger) return resetFor("trigger");
  const reason = isOlder(memory, desired.rotatedSince, now) ? "rotatedSince" : added.reason;
  return resetFor(reason, reason === "schedule" ? memory.scheduledFrom : memory.generatedAt);
}

function dueByTime(memory: Memory, { rotatedSince, rotateEvery }: Desired, now: Date): Plan {
  if (isOlder(memory, rotatedSince, now)) return resetFor("rotatedSince", memory.generatedAt);
  const isScheduled = rotateEvery && dueFrom(memory.scheduledFrom, rotateEvery) <= now;
  return isScheduled ? resetFor("schedule", memory.scheduledFrom) : { kind: "keep" };
}

function resetFor(reason: ResetReason, lastAt?: string): Reset {
  return { kind: "reset", reason, lastAt };
}

/** What is to be retired, saved or read although no reset is due. */
function upkeepOf(
  memory: Memory,
  desired: Desired,
  context: Context,
): Extract<Plan, { waits?: unknown }> {
  const why = retirementReason(memory, desired, context);
  if (why) return { kind: "retire", why };
  if (memory.user?.isUnsaved) return { kind: "save" };
  const isImported = memory.applied === undefined;
  const isConnectionChanged = isChanged("connection", desired, memory);
  // Where clients of a database connect is in its record.
  const isRecordUsed = isConnectionChanged && context.kind.connects;
  const isToBeRead = isImported || memory.isUnread || isRecordUsed;
  if (isToBeRead && context.canRead) return { kind: "read" };
  const isRewritten = isImported || isConnectionChanged || isProgramChanged(memory, desired);
  return { kind: isRewritten ? "rewrite" : "keep" };
}

/** Whether the program says something else than is saved, which changes no secret. */
function isProgramChanged(memory: Memory, desired: Desired): boolean {
  return (
    isChanged("rotateEvery", desired, memory) ||
    isChanged("queueUrl", desired, memory) ||
    isAdminChanged(desired, memory) ||
    isOverlapChanged(memory, desired)
  );
}

/** Whether an input differs from what is saved, or is not known yet. */
export function isChanged(
  name: "connection" | "queueUrl" | "rotateEvery",
  desired: Desired,
  memory: Memory,
): boolean {
  return isUnknown(desired[name]) || !isDeepStrictEqual(programOf(desired)[name], memory[name]);
}
