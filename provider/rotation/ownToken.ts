import { type Run } from "../run";
import { type RotationPlan } from "./planRotation";
import { type Credentials } from "../records/credentials";
import { markAll } from "./marks";
import { type RotationOutputs } from "./outputs";
import { currentIn, marksIn } from "./saved";

/**
 * The plan, unless it resets, or may reset, the token with which Rekey itself sends requests to the queue. Other
 * processes of the run have the same setting: the program with its data sources, and other providers.
 *
 * @param id of the queue user
 * @param shown what the read before the reset has shown; undefined if it is still to be read
 */
export function planWithOwnToken(
  plan: RotationPlan,
  id: string,
  saved: RotationOutputs | undefined,
  run: Run,
  shown?: Credentials,
): RotationPlan {
  if (plan.kind !== "reset") return plan;
  const own = run.options.queueToken();
  if (own === undefined) return plan;
  const marks = marksIn(saved);
  const { token } = markAll(marks, { token: own });
  const known = { ...currentIn(saved, marks), ...markAll(marks, shown ?? {}) };
  const isOwn = Object.values(known).some((mark) => mark === token);
  const mayBeOwn = shown !== undefined && known.token === undefined;
  if (!isOwn && !mayBeOwn) return plan;
  const use = "rekey:queueToken, which other processes of this run use, too";
  const why = isOwn
    ? `it is ${use}. Set rekey:queueUserId to ${JSON.stringify(id)} instead, so that each of them reads the token when it needs it`
    : `the platform does not show it, so it may be ${use}. If it is another one, rotate it in a stack without rekey:queueToken`;
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}
