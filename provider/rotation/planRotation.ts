import { type ErrorCode } from "../platform/errors";
import { dueAt, dueFrom, overdue } from "./schedule";
import { compareTrigger, isNoTrigger, type Trigger } from "./trigger";

/** The state of a secret: it was reset, it was left unchanged, or the result is unknown. */
export type Outcome = "reset" | "adopted" | "unknown";
/**
 * Why a reset is made: a new resource, a changed trigger, `rotateEvery`, `rotatedSince`, or a former reset that was not
 * confirmed.
 */
export type RotationReason = "created" | "trigger" | "schedule" | "rotatedSince" | "unconfirmed";

/** The saved outputs that the plan depends on. */
export interface RotationState {
  readonly outcome: Outcome;
  /** Mark of the trigger of the last confirmed reset or the adoption; undefined if there was none. */
  readonly appliedTrigger?: string | undefined;
  /** Mark of the trigger of the last reset that was not confirmed, or that turned out not to be applied. */
  readonly attemptedTrigger?: string | undefined;
  /** Unconfirmed resets in a row. */
  readonly unconfirmedResets?: number | undefined;
  /** What asked for the last reset that was not confirmed, if it was the schedule alone. */
  readonly attemptedReason?: "schedule" | undefined;
  /** ISO 8601 time of the last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  /** ISO 8601 time at which the database was adopted without a reset. */
  readonly adoptedAt?: string | undefined;
}

/** The inputs that the plan depends on. */
export interface DesiredRotation extends Trigger {
  readonly rotateEvery?: string | null | undefined;
  readonly rotatedSince?: string | null | undefined;
  readonly initialRotation?: boolean | null | undefined;
  readonly minInterval?: string | null | undefined;
}

export type RotationPlan =
  /**
   * @param since for `schedule`: the time of the last rotation
   * @param generatedAt for `rotatedSince`: when the secret was generated, if that is known
   */
  | { readonly kind: "reset"; readonly reason: RotationReason; readonly since?: string; readonly generatedAt?: string }
  /** @param mayReset whether it is reset if it is older than `rotatedSince`, or of unknown age */
  | { readonly kind: "adopt"; readonly mayReset?: boolean }
  | { readonly kind: "keep"; readonly waits?: WaitingReset }
  | { readonly kind: "refuse"; readonly code: RefusalCode; readonly why: string };

/** A reset that is due, and is not made yet. */
export interface WaitingReset {
  readonly reason: RotationReason;
  readonly why: string;
  /** If this run was told to wait: since when it is due, or was not confirmed (ISO 8601, UTC). */
  readonly since?: string | undefined;
}

type RefusalCode = Extract<
  ErrorCode,
  | "REKEY_REPEATEDLY_UNCONFIRMED"
  | "REKEY_ROLLED_RECENTLY"
  | "REKEY_QUEUE_TOKEN_IN_USE"
  | "REKEY_OTHER_ACCOUNT"
  | "REKEY_STATE_UNREADABLE"
>;

/** Unconfirmed resets in a row after which no further reset is sent. */
export const unconfirmedLimit = 3;

const outcomes: readonly unknown[] = ["reset", "adopted", "unknown"] satisfies Outcome[];
const keep: RotationPlan = { kind: "keep" };

/**
 * Decides what to do from the saved and the desired state alone; `now` only matters for `rotateEvery`.
 *
 * @param elsewhere the settings that were others at an unconfirmed reset: `baseUrl or username`; undefined if none
 */
export function planRotation(
  saved: RotationState | undefined,
  desired: DesiredRotation,
  now: Date,
  elsewhere?: string,
): RotationPlan {
  if (!saved) return desired.initialRotation === false ? { kind: "adopt" } : { kind: "reset", reason: "created" };
  if (!outcomes.includes(saved.outcome)) return refuseUnreadable("outcome");
  if (saved.outcome === "unknown") return planUnconfirmed(saved, desired, elsewhere);
  if (saved.attemptedTrigger !== undefined) {
    const isReadable = compareTrigger(saved.attemptedTrigger, desired) !== "unreadable";
    return isReadable ? { kind: "reset", reason: "trigger" } : refuseUnreadable("attemptedTrigger");
  }
  if (!isNoTrigger(desired)) {
    const comparison = compareTrigger(saved.appliedTrigger, desired);
    if (comparison === "unreadable") return refuseUnreadable("appliedTrigger");
    if (comparison === "different") return { kind: "reset", reason: "trigger" };
  }
  return desired.rotateEvery ? planScheduled(saved, desired.rotateEvery, now) : keep;
}

/** It may have been reset, and the new credentials are unknown: one more reset returns new ones. */
function planUnconfirmed(saved: RotationState, desired: DesiredRotation, elsewhere?: string): RotationPlan {
  const asked = compareTrigger(saved.attemptedTrigger, desired);
  if (asked === "unreadable") return refuseUnreadable("attemptedTrigger");
  if (asked === "different" && !isNoTrigger(desired)) return { kind: "reset", reason: "trigger" };
  if (elsewhere !== undefined) {
    const why = `the last reset was not confirmed, and it was sent with another ${elsewhere}. If the one with this id in the present account is to be reset, set a new version; otherwise restore the former settings`;
    return { kind: "refuse", code: "REKEY_OTHER_ACCOUNT", why };
  }
  const attempts = saved.unconfirmedResets ?? 0;
  if (!Number.isSafeInteger(attempts) || attempts < 0) return refuseUnreadable("unconfirmedResets");
  if (attempts < unconfirmedLimit) return { kind: "reset", reason: "unconfirmed" };
  return {
    kind: "refuse",
    code: "REKEY_REPEATEDLY_UNCONFIRMED",
    why: `the platform did not confirm the last ${attempts} resets. Check the status of the platform, then set a new version to try again`,
  };
}

function planScheduled(saved: RotationState, rotateEvery: string, now: Date): RotationPlan {
  const output = saved.outcome === "adopted" ? "adoptedAt" : "rotatedAt";
  const last = saved[output];
  if (!isWholeTime(last)) return refuseUnreadable(output);
  return dueFrom(last, rotateEvery) <= now ? { kind: "reset", reason: "schedule", since: last } : keep;
}

/**
 * The plan in a run that makes no resets that only `rotateEvery` asks for. Neither does it repeat one of them that was
 * not confirmed.
 */
export function planPostponed(
  plan: RotationPlan,
  saved: (RotationState & { readonly attemptedAt?: string | undefined }) | undefined,
  { rotateEvery }: DesiredRotation,
  now: Date,
): RotationPlan {
  if (plan.kind !== "reset") return plan;
  const { reason, since: last } = plan;
  const why = "rekey:scheduledResets is off";
  if (reason === "schedule" && last !== undefined) {
    const due = nextRotation(last, rotateEvery ?? undefined) ?? last;
    // It may count as due before its time.
    const since = [due, now.toISOString()].sort()[0];
    return { kind: "keep", waits: { reason, why, since } };
  }
  if (reason !== "unconfirmed" || saved?.attemptedReason !== "schedule") return plan;
  return { kind: "keep", waits: { reason, why, since: saved.attemptedAt } };
}

/** One more sentence for the notice of scheduled resets, if one of them is overdue: how late the oldest is. */
export function overdueNotice(plans: readonly RotationPlan[], rotateEvery: string, now: Date): string {
  const since = plans.flatMap((plan) => (plan.kind === "reset" && plan.since !== undefined ? [plan.since] : []));
  const [oldest] = since.sort();
  const late = oldest === undefined ? undefined : overdue(oldest, rotateEvery, now);
  return late === undefined ? "" : ` The ${since.length > 1 ? "oldest " : ""}rotation is ${late} late.`;
}

/** Milliseconds by which the clocks of two machines may differ. */
export const clockToleranceMs = 5 * 60_000;

/** The time of the last rotation, if it is in the future: the next one by `rotateEvery` would be late. */
export function futureTime(
  saved: Partial<RotationState> | undefined,
  { rotateEvery }: DesiredRotation,
  now: Date,
): string | undefined {
  const last = saved?.outcome === "adopted" ? saved.adoptedAt : saved?.rotatedAt;
  if (!rotateEvery || last === undefined) return undefined;
  return Date.parse(last) > now.getTime() + clockToleranceMs ? last : undefined;
}

/** Whether a time is complete. A truncated one could be read as an earlier time, and so cause a reset. */
export function isWholeTime(written: unknown): written is string {
  const time = new Date(typeof written === "string" ? written : NaN);
  return !Number.isNaN(time.getTime()) && time.toISOString() === written;
}

export function refuseUnreadable(output: string): RotationPlan {
  return {
    kind: "refuse",
    code: "REKEY_STATE_UNREADABLE",
    why: `this version of pulumi-rekey cannot read its saved output ${output}. Use the version that wrote it, or a newer one`,
  };
}

/** The time at which the next rotation is due (ISO 8601, UTC), if one is scheduled. */
export function nextRotation(last: string | undefined, rotateEvery: string | undefined): string | undefined {
  if (last === undefined || !rotateEvery) return undefined;
  return dueAt(last, rotateEvery).toISOString();
}
