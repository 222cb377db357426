import { type Learned } from "./findings";
import { type Marks, type Memory } from "./memory";
import { type Desired } from "./plan";
import { type State } from "./state";
import { triggerMark } from "./trigger";

/**
 * Whether exactly one roll was made since the memory: by a run that was killed before it could save it, or by someone
 * else.
 */
export function isRolledOnce(before: Memory, after: Memory): boolean {
  const { nextKey } = before.current;
  return (
    nextKey !== undefined &&
    nextKey !== "" &&
    before.current.currentKey !== nextKey &&
    after.current.currentKey === nextKey
  );
}

/** The state in which a roll that was noticed counts as that of the program's trigger. */
export function claimRoll(noticed: State, desired: Desired): Learned {
  const { memory } = noticed;
  const rotatedAt = memory.rolledAt ?? memory.rotatedAt;
  const state: State = {
    ...noticed,
    outcome: "reset",
    adoptedAt: undefined,
    rotatedAt,
    rotationCount: noticed.rotationCount + 1,
    rotationReason: "trigger",
    memory: { ...memory, applied: triggerMark(memory, desired), rotatedAt },
  };
  return { state, findings: [{ kind: "claimed" }] };
}

/** The next key, if it did not become the current one. */
export function skipped(before: Marks, { currentKey }: Marks): string[] {
  return currentKey && before.nextKey && before.nextKey !== currentKey ? [before.nextKey] : [];
}
