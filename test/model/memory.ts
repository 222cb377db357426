import { credentialNames, type Credentials } from "./fakePlatform";
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
  readonly restToken?: string | undefined;
  /** What a read showed before the last reset, while its result is to be read. */
  readonly baseline?: Credentials | undefined;
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

type Loose<T> = { readonly [Key in keyof T]: T[Key] | undefined };

/** What a read shows. */
export interface Shown {
  readonly credentials: Credentials;
  readonly generation: number;
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

/** Only credentials that both have are compared. */
export function differ(before: Loose<Credentials>, now: Credentials): boolean {
  return credentialNames.some((name) => before[name] && now[name] && before[name] !== now[name]);
}

/** Whether an unconfirmed reset is shown to be applied. */
export function isSettledBy({ outcome, baseline }: Memory, { credentials }: Shown): boolean {
  return outcome === "unknown" && baseline !== undefined && differ(baseline, credentials);
}

/** The unconfirmed reset was applied, for the trigger that it was sent for. */
export function settled(memory: Memory, { credentials, generation }: Shown, now: number): Memory {
  const { databaseId, attempted, applied } = memory;
  const made = { generation, ...credentials };
  return { ...confirmed(memory, { databaseId }, now, made), applied: attempted ?? applied };
}

/** The credentials of a confirmed reset were read. */
export function completed(memory: Memory, { credentials, generation }: Shown): Memory {
  const { baseline = {}, ...rest } = memory;
  if (Object.keys(credentials).length === 0) return rest;
  return differ(baseline, credentials) ? { ...rest, ...credentials, generation } : memory;
}

/** A refresh has read the database. */
export function refreshed(memory: Memory, shown: Shown, now: number): Memory {
  if (memory.outcome === "unknown") return isSettledBy(memory, shown) ? settled(memory, shown, now) : memory;
  const { credentials, generation } = shown;
  const { password, restToken, baseline, ...rest } = memory;
  const isHidden = Object.keys(credentials).length === 0;
  if (baseline && !isHidden && !differ(baseline, credentials)) return memory;
  const kept = differ(memory, credentials) ? {} : { password, restToken };
  return { ...rest, ...(isHidden && { baseline }), ...kept, ...credentials, generation };
}

export function adopted(desired: DesiredInputs, now: number, shown?: Shown): Memory {
  const { databaseId } = desired;
  const made = { applied: triggerOf(desired), generation: shown?.generation, ...shown?.credentials };
  return { databaseId, outcome: "adopted", confirmed: 0, unconfirmed: 0, since: now, initError: false, ...made };
}

/** The platform confirmed the reset. It applies to a trigger that was removed meanwhile, too. */
export function confirmed(
  memory: Memory | undefined,
  desired: DesiredInputs,
  now: number,
  made: Pick<Memory, "generation" | "baseline"> & Loose<Credentials>,
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
export function unconfirmed(memory: Memory | undefined, desired: DesiredInputs, baseline?: Credentials): Memory {
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
    baseline,
  };
}
