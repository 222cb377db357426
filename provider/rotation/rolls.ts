import { type Learned } from "./findings";
import { type Memory } from "./memory";
import { type Desired, type Plan } from "./plan";
import { type State } from "./state";
import { triggerMark } from "./trigger";

/**
 * The state in which a roll that a read has noticed counts as that of the new version: a run that was killed before it
 * could save it has made it, or someone else. Undefined unless exactly one was made since the memory.
 */
export function claimedRoll(plan: Plan, before: Memory, noticed: State, desired: Desired): Learned | undefined {
  const { memory, rotationCount } = noticed;
  const { currentKey, nextKey } = before.current;
  const isNewVersion = plan.kind === "reset" && plan.reason === "trigger" && plan.isAgain !== true;
  if (!isNewVersion || !nextKey || nextKey === currentKey || memory.current.currentKey !== nextKey) return undefined;
  const rotatedAt = memory.rolledAt ?? memory.rotatedAt;
  const state: State = {
    ...noticed,
    outcome: "reset",
    adoptedAt: undefined,
    rotatedAt,
    rotationCount: rotationCount + 1,
    rotationReason: "trigger",
    memory: { ...memory, applied: triggerMark(memory, desired), rotatedAt },
  };
  return { state, findings: [{ kind: "claimed" }] };
}
