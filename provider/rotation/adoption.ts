import { type SecretResponse } from "../records/response";
import { bestOf, marksOf, triggerMark } from "./marks";
import { emptyMemory, type Memory, progressOf, type State, withRecord } from "./memory";
import { type Learned } from "./messages";
import { type Context, declaredIn, type Desired, type Plan } from "./plan";
import { isFuture } from "./schedule";

/** The state of a secret that is adopted without a reset. */
export function adopt(desired: Desired, read: SecretResponse | undefined, context: Context): Learned {
  const memory = emptyMemory(context);
  const { credentials = {} } = read ?? {};
  const adopted: State = {
    ...credentials,
    rotationCount: 0,
    memory: {
      ...memory,
      applied: triggerMark(memory, desired),
      current: marksOf(memory, credentials),
      declared: declaredIn(desired),
    },
  };
  const why = read
    ? "the platform does not show them"
    : "nothing was contacted, because rekey:databasePath is not set, so this platform cannot be read";
  return {
    state: read ? withCreationTime(withRecord(adopted, read), context) : adopted,
    findings: bestOf(credentials) ? [] : [{ kind: "adopted", why }],
  };
}

/**
 * Takes the `creationTime` of a record, if it is not in the future, for the time when its secret was generated: nothing
 * better is known of an adopted one.
 */
export function withCreationTime(state: State, { kind, now }: Context): State {
  const { record, memory } = state;
  const seconds = record?.["creationTime"];
  const isAdopted = progressOf(state).outcome === "adopted" && kind.minInterval === undefined;
  if (!isAdopted || typeof seconds !== "number") return state;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime()) || isFuture(at.toISOString(), now)) return state;
  return { ...state, memory: { ...memory, made: [{ ...memory.made[0], at: at.toISOString() }] } };
}

/**
 * The state in which a roll that a read has noticed counts as that of the new version: a run that was killed before it
 * could save it has made it, or someone else. Undefined unless none was pending, and exactly one made since `before`.
 */
export function claimedRoll(plan: Plan, before: Memory, noticed: Learned, desired: Desired): Learned | undefined {
  const { memory, rotationCount } = noticed.state;
  const { currentKey, nextKey } = before.current;
  const isNewVersion = plan.kind === "reset" && plan.reason === "trigger" && !before.pending;
  if (!isNewVersion || !nextKey || nextKey === currentKey || memory.current.currentKey !== nextKey) return undefined;
  const rotatedAt = memory.rolledAt ?? memory.scheduledFrom;
  const state: State = {
    ...noticed.state,
    rotatedAt,
    rotationCount: rotationCount + 1,
    rotationReason: "trigger",
    memory: { ...memory, applied: triggerMark(memory, desired), scheduledFrom: rotatedAt },
  };
  return { state, findings: [{ kind: "claimed" }, ...noticed.findings.filter(({ kind }) => kind === "unknown")] };
}
