import { hoursOf, triggerOf, type DesiredInputs } from "./desiredInputs";

/** What the model knows of a resource in the state; undefined if it is not there. */
export interface Memory {
  readonly databaseId: string;
  readonly outcome: "reset" | "adopted" | "unknown";
  /** Confirmed resets by this resource. */
  readonly confirmed: number;
  /** Generation of the platform's password that is saved. */
  readonly generation?: number | undefined;
  readonly password?: string | undefined;
  /** The trigger of the last confirmed reset, or of the adoption. */
  readonly applied?: string | undefined;
  /** Resets in a row that are not confirmed, and their trigger. */
  readonly unconfirmed: number;
  readonly attempted?: string | undefined;
  /** Milliseconds: the last confirmed reset, or the adoption. */
  readonly since?: number | undefined;
  /** Whether the last create or update ended in an init error. */
  readonly initError: boolean;
}

/** What must be done about a resource. It follows from the memory and the inputs alone. */
export type Duty = "keep" | "adopt" | "reset" | "stop";

const hour = 3_600_000;

export function dutyOf(memory: Memory | undefined, desired: DesiredInputs, now: number): Duty {
  if (memory?.databaseId !== desired.databaseId) return desired.initialRotation === false ? "adopt" : "reset";
  const trigger = triggerOf(desired);
  if (memory.outcome === "unknown") {
    const isNew = trigger !== undefined && trigger !== memory.attempted;
    return isNew || memory.unconfirmed < 3 ? "reset" : "stop";
  }
  if (trigger !== undefined && trigger !== memory.applied) return "reset";
  const isDue = desired.rotateEvery !== undefined && (memory.since ?? 0) + hoursOf[desired.rotateEvery] * hour <= now;
  return isDue ? "reset" : "keep";
}

export function adopted(desired: DesiredInputs, now: number): Memory {
  const { databaseId } = desired;
  const applied = triggerOf(desired);
  return { databaseId, outcome: "adopted", confirmed: 0, applied, unconfirmed: 0, since: now, initError: false };
}

/** The platform confirmed the reset. It applies to a trigger that was removed meanwhile, too. */
export function confirmed(
  memory: Memory | undefined,
  desired: DesiredInputs,
  now: number,
  made: Pick<Memory, "generation" | "password">,
): Memory {
  const before = memory?.databaseId === desired.databaseId ? memory : undefined;
  return {
    databaseId: desired.databaseId,
    outcome: "reset",
    confirmed: (before?.confirmed ?? 0) + 1,
    applied: triggerOf(desired) ?? before?.attempted ?? before?.applied,
    unconfirmed: 0,
    since: now,
    initError: false,
    ...made,
  };
}

/** The outcome of the reset is unknown: what was known stays. */
export function unconfirmed(memory: Memory | undefined, desired: DesiredInputs): Memory {
  const { databaseId } = desired;
  const before: Partial<Memory> = memory?.databaseId === databaseId ? memory : {};
  const trigger = triggerOf(desired);
  const attempts = before.unconfirmed ?? 0;
  const again = attempts > 0 && (trigger === undefined || trigger === before.attempted);
  return {
    confirmed: 0,
    ...before,
    databaseId,
    outcome: "unknown",
    unconfirmed: again ? attempts + 1 : 1,
    attempted: again ? before.attempted : trigger,
    initError: true,
  };
}
