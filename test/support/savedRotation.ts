import { type Credentials } from "../../provider/records/fields";
import { withPending, confirm } from "../../provider/rotation/evidence";
import { databasePassword } from "../../provider/platform/secretKind";
import { type Context, type Desired } from "../../provider/rotation/plan";
import { progressOf, type State, writeMemory } from "../../provider/rotation/memory";
import { type Properties } from "./wire";

/** A platform that can be read. */
export const contextAt = (now: Date, more: Partial<Context> = {}): Context => {
  return { kind: databasePassword, now, canRead: true, isScheduleOn: true, ...more };
};

/** The state after a reset of a new resource that was confirmed. */
export function stateAfterReset(
  desired: Desired,
  credentials: Credentials,
  context: Context,
  record: Readonly<Record<string, unknown>> = {},
): State {
  const response = { record, credentials, exactIntegers: {}, problems: [] };
  const pending = withPending(undefined, desired, "created", undefined, context);
  return confirm(pending, [response], { at: context.now.toISOString() }, { ...context, canRead: false });
}

/** The outputs of a state, without those that follow from them. */
export function savedOutputs(state: State): Properties {
  return JSON.parse(
    JSON.stringify({ ...state, ...progressOf(state), memory: writeMemory(state.memory) }),
  ) as Properties;
}

/** The outputs of a database's rotation after three resets, the last of them for this version, secrets in plain. */
export function rotatedOutputs(
  databaseId: string,
  version: string | number,
  credentials: Credentials,
  record: Readonly<Record<string, unknown>> = { databaseId, databaseName: "former" },
): Properties {
  const context = contextAt(new Date("2026-01-01T00:00:00.000Z"));
  const state = stateAfterReset({ version }, credentials, context, record);
  return { databaseId, ...savedOutputs({ ...state, rotationCount: 3, rotationReason: "trigger" }) };
}
