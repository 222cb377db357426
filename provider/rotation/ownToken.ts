import { type Subject } from "../platform/secretKind";
import { type Run } from "../run";
import { type RotationPlan } from "./planRotation";
import { type Credentials } from "../records/credentials";
import { markAll } from "./marks";
import { type RotationOutputs } from "./outputs";
import { currentIn, marksIn } from "./saved";

/**
 * The plan, unless it resets the token with which Rekey itself sends requests to the queue. Other processes of the run
 * have the same setting: the program with its data sources, and other providers.
 *
 * @param shown the credentials that are saved, or that a read has shown
 */
export function planWithOwnToken(
  plan: RotationPlan,
  { kind, id }: Subject,
  shown: Credentials | RotationOutputs | undefined,
  run: Run,
): RotationPlan {
  if (plan.kind !== "reset" || !kind.authorizesQueue || shown === undefined) return plan;
  const own = run.options.queueToken();
  if (own === undefined) return plan;
  // The values may not be saved.
  const saved = shown as RotationOutputs;
  const marks = marksIn(saved);
  const { token } = markAll(marks, { token: own });
  if (!Object.values(currentIn(saved, marks)).some((mark) => mark === token)) return plan;
  const why = `it is rekey:queueToken, which other processes of this run use, too. Set rekey:queueUserId to ${JSON.stringify(id)} instead, so that each of them reads the token when it needs it`;
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}
