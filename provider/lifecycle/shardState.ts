import { InputError } from "../api/errors/inputError";
import { engineCommands } from "../engineCommands";
import { isObject } from "../records/isObject";
import {
  type FleetDatabaseSecrets,
  type FleetDatabaseState,
  type PasswordRotationShardOutputs,
  secretPasswordRotationOutputs,
} from "./outputs";

const secretNames: readonly string[] = secretPasswordRotationOutputs;

/** The saved outputs of a shard, by the databases' ids. @throws InputError where they are damaged: no reason to reset */
export function openShard({ rotations, secrets }: PasswordRotationShardOutputs): Map<string, FleetDatabaseState> {
  const secretsOf = byId<FleetDatabaseSecrets>(parsed(secrets), "secrets");
  const states = byId<FleetDatabaseState>(rotations, "rotations");
  return new Map([...states].map(([id, state]) => [id, { ...state, ...secretsOf.get(id) }]));
}

/** The outputs to save for the databases of a shard. */
export function closeShard(shard: string, states: readonly FleetDatabaseState[]): PasswordRotationShardOutputs {
  const parts = states.map((state) => {
    const entries = Object.entries(state).filter(([, value]) => value !== undefined);
    const secrets = entries.filter(([name]) => secretNames.includes(name));
    return {
      rotation: Object.fromEntries(
        entries.filter(([name]) => !secretNames.includes(name)),
      ) as unknown as FleetDatabaseState,
      secrets: secrets.length === 0 ? [] : [{ ...Object.fromEntries(secrets), databaseId: state.databaseId }],
    };
  });
  return {
    shard,
    rotations: parts.map(({ rotation }) => rotation),
    secrets: JSON.stringify(parts.flatMap((part) => part.secrets)),
  };
}

/** What is saved can be damaged, and be anything. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function byId<T extends { readonly databaseId: string }>(list: unknown, output: string): Map<string, T> {
  const sound = Array.isArray(list) && list.every((one) => isObject(one) && typeof one["databaseId"] === "string");
  const all = sound ? (list as T[]) : [];
  const states = new Map(all.map((state) => [state.databaseId, state]));
  if (!sound || states.size !== all.length) {
    throw new InputError(
      `the saved output ${output}`,
      "is not a list of databases, each of them once: the state is damaged",
      `Restore it from an earlier \`${engineCommands.exportState}\`.`,
    );
  }
  return states;
}
