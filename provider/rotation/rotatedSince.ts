import { type SecretKind } from "../platform/secretKind";
import {
  clockToleranceMs,
  type DesiredRotation,
  isWholeTime,
  refuseUnreadable,
  type RotationPlan,
  type RotationState,
} from "./planRotation";
import { type Rolls } from "./rolls";
import { readDate } from "./schedule";

/** The saved outputs with which one date of `rotatedSince` causes no more resets than are necessary. */
export interface SinceState {
  /** The latest date that the last confirmed reset applied (ISO 8601, UTC); for a pair of keys, of the last two. */
  readonly appliedSince?: readonly string[] | undefined;
  /** The date of the first reset after the last confirmed one that was not confirmed. */
  readonly attemptedSince?: string | undefined;
  /** Its time (ISO 8601, UTC). If a later read shows that it was applied, its credentials are from then. */
  readonly attemptedAt?: string | undefined;
  /** Unix time (seconds) at which an adopted database was created, for a fleet that saves no record. */
  readonly creationTime?: number | undefined;
}

/** The saved outputs that the decision depends on. */
type Saved = RotationState & Rolls & SinceState & { readonly record?: Readonly<Record<string, unknown>> };

/** The names of its outputs. */
export const sinceOutputs = ["appliedSince", "attemptedSince", "attemptedAt"] as const satisfies (keyof SinceState)[];

/**
 * The plan, unless it keeps a secret that is older than `rotatedSince`, or of unknown age. It is a state: once resets
 * have applied a date, neither the clock nor what a read shows makes it, or an earlier one, due again.
 */
export function planSince(
  plan: RotationPlan,
  kind: SecretKind,
  saved: Saved | undefined,
  { rotatedSince }: DesiredRotation,
  now: Date,
): RotationPlan {
  if (!rotatedSince) return plan;
  if (plan.kind === "adopt") return { ...plan, mayReset: true };
  const isKept = plan.kind === "keep" || (plan.kind === "reset" && plan.reason === "schedule");
  if (!saved || !isKept) return plan;
  const date = readDate(rotatedSince);
  const generated = generatedAt(kind, saved, now);
  if (generated !== undefined && generated >= date) return plan;
  const { appliedSince = [] } = saved;
  if (!Array.isArray(appliedSince) || !appliedSince.every(isWholeTime)) {
    return plan.kind === "reset" ? plan : refuseUnreadable("appliedSince");
  }
  const applied = appliedSince.at(-resetsFor(kind));
  if (applied !== undefined && new Date(applied) >= date) return plan;
  return { kind: "reset", reason: "rotatedSince", ...(generated && { generatedAt: generated.toISOString() }) };
}

/** Resets that replace all of a secret. A roll replaces one of two keys. */
function resetsFor({ minInterval }: SecretKind): number {
  return minInterval === undefined ? 1 : 2;
}

/**
 * When the secret was generated, if that is known. Of two keys, the next one is always younger than the current one. A
 * time in the future is that of another clock, or has another unit.
 */
function generatedAt({ minInterval }: SecretKind, saved: Saved, now: Date): Date | undefined {
  const { outcome, rotatedAt, currentKeySince, record, creationTime = record?.["creationTime"] } = saved;
  const timeOf = (written: unknown) => new Date(isWholeTime(written) ? written : NaN);
  const created = () => new Date(typeof creationTime === "number" ? creationTime * 1000 : NaN);
  const isAsCreated = outcome === "adopted" || (outcome === "unknown" && rotatedAt === undefined);
  const ofOne = () => (isAsCreated ? created() : timeOf(rotatedAt));
  const time = minInterval === undefined ? ofOne() : timeOf(currentKeySince);
  return time.getTime() <= now.getTime() + clockToleranceMs ? time : undefined;
}

/** What is known of an unconfirmed reset. */
type Attempt = Pick<SinceState, "attemptedSince" | "attemptedAt">;

/** The reset that is about to be sent. */
export function attemptOf({ rotatedSince }: DesiredRotation, now: Date): Attempt & { readonly attemptedAt: string } {
  const attemptedSince = rotatedSince ? readDate(rotatedSince).toISOString() : undefined;
  return { ...(attemptedSince !== undefined && { attemptedSince }), attemptedAt: now.toISOString() };
}

/**
 * Of several unconfirmed resets in a row, the first one may be the one that was applied. Earlier versions did not save
 * its time.
 *
 * @param last the last one, or the read that shows that one was applied
 */
export function firstAttempt(saved: Saved | undefined, last: Attempt & { readonly attemptedAt: string }): Attempt {
  if (saved?.outcome !== "unknown") return last;
  const { attemptedSince, attemptedAt } = saved;
  return {
    ...(isWholeTime(attemptedSince) && { attemptedSince }),
    // Clocks may have been set back.
    ...(isWholeTime(attemptedAt) && { attemptedAt: attemptedAt < last.attemptedAt ? attemptedAt : last.attemptedAt }),
  };
}

/**
 * The output after a confirmed reset. It never throws: the result of a reset must not be lost.
 *
 * @param date that it applied; an earlier one than a former one changes nothing
 */
export function afterReset(
  kind: SecretKind,
  saved: SinceState | undefined,
  date: string | undefined,
): Pick<SinceState, "appliedSince"> {
  const former = Array.isArray(saved?.appliedSince) ? saved.appliedSince.filter(isWholeTime) : [];
  const latest = [...former, ...(date === undefined ? [] : [date])].sort().at(-1);
  return latest === undefined ? {} : { appliedSince: [...former, latest].slice(-resetsFor(kind)) };
}
