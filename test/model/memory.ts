import { hoursOf, triggerOf, type Wish } from "./wish";

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
  readonly answered?: string | undefined;
  /** Resets in a row that are not confirmed, and their trigger. */
  readonly unconfirmed: number;
  readonly asked?: string | undefined;
  /** Milliseconds: the last confirmed reset, or the adoption. */
  readonly since?: number | undefined;
  /** Whether the last create or update ended in an init error. */
  readonly initError: boolean;
}

/** What must be done about a resource. It follows from the memory and the inputs alone. */
export type Duty = "keep" | "adopt" | "reset" | "stop";

const hour = 3_600_000;

export function dutyOf(memory: Memory | undefined, wish: Wish, now: number): Duty {
  if (memory?.databaseId !== wish.databaseId) return wish.initialRotation === false ? "adopt" : "reset";
  const trigger = triggerOf(wish);
  if (memory.outcome === "unknown") {
    const isNew = trigger !== undefined && trigger !== memory.asked;
    return isNew || memory.unconfirmed < 3 ? "reset" : "stop";
  }
  if (trigger !== undefined && trigger !== memory.answered) return "reset";
  const isDue = wish.rotateEvery !== undefined && (memory.since ?? 0) + hoursOf[wish.rotateEvery] * hour <= now;
  return isDue ? "reset" : "keep";
}

export function adopted(wish: Wish, now: number): Memory {
  const { databaseId } = wish;
  const answered = triggerOf(wish);
  return { databaseId, outcome: "adopted", confirmed: 0, answered, unconfirmed: 0, since: now, initError: false };
}

/** The platform confirmed the reset. It applies to a trigger that was removed meanwhile, too. */
export function confirmed(
  memory: Memory | undefined,
  wish: Wish,
  now: number,
  made: Pick<Memory, "generation" | "password">,
): Memory {
  const before = memory?.databaseId === wish.databaseId ? memory : undefined;
  return {
    databaseId: wish.databaseId,
    outcome: "reset",
    confirmed: (before?.confirmed ?? 0) + 1,
    answered: triggerOf(wish) ?? before?.asked ?? before?.answered,
    unconfirmed: 0,
    since: now,
    initError: false,
    ...made,
  };
}

/** The outcome of the reset is unknown: what was known stays. */
export function unconfirmed(memory: Memory | undefined, wish: Wish): Memory {
  const { databaseId } = wish;
  const before: Partial<Memory> = memory?.databaseId === databaseId ? memory : {};
  const trigger = triggerOf(wish);
  const attempts = before.unconfirmed ?? 0;
  const again = attempts > 0 && (trigger === undefined || trigger === before.asked);
  return {
    confirmed: 0,
    ...before,
    databaseId,
    outcome: "unknown",
    unconfirmed: again ? attempts + 1 : 1,
    asked: again ? before.asked : trigger,
    initError: true,
  };
}
