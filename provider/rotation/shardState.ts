import { StateError } from "../platform/errors";
import { type FleetDatabaseSecrets, type FleetDatabaseState } from "./fleet";
import { isObject } from "../records/fields";
import { databasePassword } from "./kinds/databasePassword";
import { type RotationOutputs, secretOutputsOf } from "./outputs";

/**
 * What a shard of a fleet saves: its databases in the order of their ids, and their secrets separately.
 */
export interface PasswordRotationShardOutputs {
  readonly shard: string;
  /** The fleet's full name; earlier versions did not save it. */
  readonly fleet?: string;
  readonly rotations: readonly FleetDatabaseState[];
  /**
   * JSON text of a list of `FleetDatabaseSecrets`: an engine passes on one text faster than a thousand.
   */
  readonly secrets: string;
}

/** Outputs that are always secret. */
export const secretPasswordRotationShardOutputs = [
  "secrets",
] as const satisfies readonly (keyof PasswordRotationShardOutputs)[];

/** The names of all outputs. */
export const passwordRotationShardOutputs = [
  "shard",
  "fleet",
  "rotations",
  ...secretPasswordRotationShardOutputs,
] as const satisfies readonly (keyof PasswordRotationShardOutputs)[];

const secretNames: readonly string[] = secretOutputsOf(databasePassword);

/**
 * The saved outputs of a shard, by the databases' ids.
 * @throws StateError if they are damaged, instead of resetting anything
 */
export function decodeShard({ rotations, secrets }: PasswordRotationShardOutputs): Map<string, FleetDatabaseState> {
  const secretsOf = byId<FleetDatabaseSecrets>(parsed(secrets), "secrets");
  const states = byId<FleetDatabaseState>(rotations, "rotations");
  return new Map([...states].map(([id, state]) => [id, { ...state, ...secretsOf.get(id) }]));
}

/** The outputs to save for the databases of a shard. */
export function encodeShard(
  { shard, fleet }: Pick<PasswordRotationShardOutputs, "shard" | "fleet">,
  states: readonly FleetDatabaseState[],
): PasswordRotationShardOutputs {
  const entriesOf = (state: object) => Object.entries(state).filter(([, value]) => value !== undefined);
  const isSecret = ([name]: [name: string, value: unknown]) => secretNames.includes(name);
  const secrets = states.flatMap((state) => {
    const values = entriesOf(state).filter(isSecret);
    return values.length === 0 ? [] : [{ ...Object.fromEntries(values), databaseId: state.databaseId }];
  });
  return {
    shard,
    ...(fleet !== undefined && { fleet }),
    rotations: states.map((state) => {
      return Object.fromEntries(entriesOf(state).filter((one) => !isSecret(one))) as unknown as FleetDatabaseState;
    }),
    secrets: JSON.stringify(secrets),
  };
}

/** The outputs of a single database. One that was never reset or adopted is new to the plan. */
export function asSingle(state: FleetDatabaseState | undefined): RotationOutputs | undefined {
  if (!state || state.outcome === "pending") return undefined;
  const { problem, notTried, outcome, ...rest } = state;
  return { ...rest, outcome };
}

/** The state of a database with the outputs of a single one, and without a problem. */
export function asState(databaseId: string, { rotationReason, ...outputs }: RotationOutputs): FleetDatabaseState {
  return { databaseId, ...outputs };
}

/** Parses a saved text. A damaged state can contain anything. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** A saved list by the databases' ids. @throws StateError if it is damaged */
export function byId<T extends { readonly databaseId: string }>(list: unknown, output: string): Map<string, T> {
  const sound = Array.isArray(list) && list.every((one) => isObject(one) && typeof one["databaseId"] === "string");
  const all = sound ? (list as T[]) : [];
  const states = new Map(all.map((state) => [state.databaseId, state]));
  if (!sound || states.size !== all.length) {
    throw new StateError({
      output,
      reason: "is not a list of databases, each of them once",
      advice: "Restore it from an earlier export of the state.",
    });
  }
  return states;
}
