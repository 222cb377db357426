import { dueAt } from "./interval";
import { compareTrigger, isNoTrigger, type Trigger } from "./trigger";

/** How a resource stands with its database: its password was reset, was left as it is, or nobody knows. */
export type Outcome = "reset" | "adopted" | "unknown";
/**
 * Why a reset is made: a new resource, a changed trigger, `rotateEvery`, or a reset before it that nobody confirmed.
 */
export type RotationReason = "created" | "trigger" | "schedule" | "unconfirmed";

/** What the plan needs to know of the saved outputs. */
export interface RotationState {
  readonly outcome: Outcome;
  /** Mark of the trigger that the last confirmed reset (or the adoption) answered. Missing when there was none yet. */
  readonly appliedTrigger?: string | undefined;
  /** Mark of the trigger that the last unconfirmed reset answered. */
  readonly attemptedTrigger?: string | undefined;
  /** Unconfirmed resets in a row. */
  readonly unconfirmedResets?: number | undefined;
  /** ISO 8601 time of the last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  /** ISO 8601 time at which the database was adopted without a reset. */
  readonly adoptedAt?: string | undefined;
}

/** What the plan needs to know of the inputs. */
export interface DesiredRotation extends Trigger {
  readonly rotateEvery?: string | null | undefined;
  readonly initialRotation?: boolean | null | undefined;
}

export type RotationPlan =
  | { readonly do: "reset"; readonly reason: RotationReason; readonly since?: string }
  | { readonly do: "adopt" }
  | { readonly do: "keep" }
  | { readonly do: "refuse"; readonly why: string };

/** After so many unconfirmed resets in a row, a person should look. */
export const unconfirmedLimit = 3;

const outcomes: readonly unknown[] = ["reset", "adopted", "unknown"] satisfies Outcome[];
const keep: RotationPlan = { do: "keep" };

/** What is to be done, decided from what is saved and what is wanted alone; `now` only for `rotateEvery`. */
export function planRotation(saved: RotationState | undefined, wanted: DesiredRotation, now: Date): RotationPlan {
  if (!saved) return wanted.initialRotation === false ? { do: "adopt" } : { do: "reset", reason: "created" };
  if (!outcomes.includes(saved.outcome)) return refuseUnreadable("outcome");
  if (saved.outcome === "unknown") return planUnconfirmed(saved, wanted);
  if (!isNoTrigger(wanted)) {
    const comparison = compareTrigger(saved.appliedTrigger, wanted);
    if (comparison === "unreadable") return refuseUnreadable("appliedTrigger");
    if (comparison === "different") return { do: "reset", reason: "trigger" };
  }
  return wanted.rotateEvery ? planScheduled(saved, wanted.rotateEvery, now) : keep;
}

/** The database's password may have been reset, and its new credentials are not known: one more reset makes it sure. */
function planUnconfirmed(saved: RotationState, wanted: DesiredRotation): RotationPlan {
  const asked = compareTrigger(saved.attemptedTrigger, wanted);
  if (asked === "unreadable") return refuseUnreadable("attemptedTrigger");
  if (asked === "different" && !isNoTrigger(wanted)) return { do: "reset", reason: "trigger" };
  const attempts = saved.unconfirmedResets ?? 0;
  if (!Number.isSafeInteger(attempts) || attempts < 0) return refuseUnreadable("unconfirmedResets");
  if (attempts < unconfirmedLimit) return { do: "reset", reason: "unconfirmed" };
  return {
    do: "refuse",
    why: `the last ${attempts} resets in a row were not confirmed by the platform, so no further one is sent. Find out what is wrong with the platform, then set a new version to try again`,
  };
}

function planScheduled(saved: RotationState, rotateEvery: string, now: Date): RotationPlan {
  const output = saved.outcome === "adopted" ? "adoptedAt" : "rotatedAt";
  const last = saved[output];
  if (!isWholeTime(last)) return refuseUnreadable(output);
  return dueAt(last, rotateEvery) <= now ? { do: "reset", reason: "schedule", since: last } : keep;
}

/** Whether a time is written as it was saved. A part of it could be read as an earlier one, and so cause a reset. */
function isWholeTime(written: unknown): written is string {
  const time = new Date(typeof written === "string" ? written : NaN);
  return !Number.isNaN(time.getTime()) && time.toISOString() === written;
}

function refuseUnreadable(output: string): RotationPlan {
  return {
    do: "refuse",
    why: `its saved output ${output} is not one that this version of pulumi-rekey can read. Use the version that wrote it, or a newer one`,
  };
}
