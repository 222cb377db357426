import { type Subject } from "../platform/secretKind";
import { type Run } from "../run";
import { type RotationOutputs } from "./outputs";
import { planWithOwnToken } from "./ownToken";
import { type DesiredRotation, planPostponed, planRotation, type RotationPlan } from "./planRotation";
import { planRoll } from "./rolls";
import { planSince } from "./rotatedSince";
import { accountSettings, isElsewhere, isToBeRead, mayBeSettled } from "./saved";
import { savingChange, type SavingInputs } from "./saving";

/** Plans from the saved and the desired state. The same id may be another secret in another account. */
export function planFor(
  subject: Subject,
  saved: RotationOutputs | undefined,
  inputs: DesiredRotation,
  run: Run,
): RotationPlan {
  const { kind, id } = subject;
  const { minInterval, authorizesQueue } = kind;
  const now = run.options.clock.now();
  const elsewhere = saved?.outcome === "unknown" && isElsewhere(kind, saved, run) ? accountSettings(kind) : undefined;
  const asked = planRotation(saved, inputs, now, elsewhere);
  const postponed = planPostponed(asked, saved, inputs, now);
  const isPostponed = postponed !== asked && run.options.scheduledResets() === "off";
  const plan = planSince(isPostponed ? postponed : asked, kind, saved, inputs, now);
  if (minInterval !== undefined) return planRoll(plan, saved, inputs.minInterval ?? minInterval, now);
  return authorizesQueue ? planWithOwnToken(plan, id, saved, run) : plan;
}

/** The inputs of a secret. */
export interface SecretInputs extends DesiredRotation, SavingInputs {}

/** Whether the platform is read before a plan is executed, because its result may be enough. */
export function isReadFirst(
  { kind }: Subject,
  plan: RotationPlan,
  saved: RotationOutputs | undefined,
  inputs: SavingInputs,
  run: Run,
): boolean {
  if (plan.kind === "keep") {
    if (saved === undefined) return false;
    if (mayBeSettled(kind, saved, run)) return true;
    return isToBeRead(kind, saved, run) || savingChange(kind, saved, inputs, run) === "read";
  }
  if (plan.kind === "refuse" && !settledByRead.includes(plan.code)) return false;
  return mayBeSettled(kind, saved, run);
}

/** Refusals that a read may end, because it shows that the last reset was applied. */
const settledByRead: readonly string[] = [
  "REKEY_REPEATEDLY_UNCONFIRMED",
  "REKEY_ROLLED_RECENTLY",
  "REKEY_QUEUE_TOKEN_IN_USE",
];
