import { InputError, withCode } from "../api/errors";
import { type Properties, reveal, unknownNames, wrap } from "../engineValues";
import { type FleetMember, idIsUnknown, isListedTwice } from "../lifecycle/fleetMembers";
import {
  credentialsOf,
  databasesOf,
  failedOf,
  failureOf,
  lastRotatedOf,
  nameStates,
  oldestOf,
  recordsOf,
  secretsFrom,
} from "../lifecycle/fleetOutputs";
import { type FleetDatabaseState } from "../lifecycle/resource";
import { isObject } from "../records/fields";
import { isSecret, secret, unknownValue } from "../records/markers";
import { ReportedError } from "../lifecycle/resourceTable";
import { shardOf } from "../rotation/fleets";
import { nextRotation } from "../rotation/nextRotation";

/** A resource to register. Secrets are marked. */
export interface Registration {
  readonly type: string;
  readonly name: string;
  /** URN of the parent; empty for the stack. */
  readonly parent: string;
  /** Whether the provider manages it; a component has only children. */
  readonly custom: boolean;
  readonly inputs: Properties;
  /** Type tokens that the resource had before. */
  readonly formerTypes: readonly string[];
}

/** Registers resources with the engine on behalf of a component. */
export interface Monitor {
  /** @returns the outputs, secrets marked; in a preview they may be unknown */
  register(resource: Registration): Promise<{ urn: string; outputs: Properties }>;
  registerOutputs(urn: string, outputs: Properties): Promise<void>;
}

/** A fleet to construct. Secrets are marked; a preview may hold unknown values. */
export interface FleetRequest {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly inputs: Properties;
  readonly preview: boolean;
}

interface Member extends FleetMember {
  /** As given, with marks. */
  readonly input: unknown;
}

const fleetOutputs = ["databases", "credentials", "records", "failed", "lastRotated", "nextRotationAt"];

/**
 * Registers a fleet and its shards. A failed shard could not save the results of its databases, so all shards succeed,
 * and the fleet then fails with the names of the failed databases.
 */
export async function constructFleet(
  { type, name, parent, inputs, preview }: FleetRequest,
  monitor: Monitor,
): Promise<{ urn: string; outputs: Properties; shards: string[] }> {
  const { databases, ...settings } = inputs;
  const members = readMembers(databases);
  const { urn } = await monitor.register({ type, name, parent, custom: false, inputs: {}, formerTypes: [] });
  const shards = new Map<string, Member[]>();
  for (const member of members) {
    const shard = shardOf(member.databaseId);
    shards.set(shard, [...(shards.get(shard) ?? []), member]);
  }
  const registered = await Promise.all(
    [...shards].sort().map(([shard, inShard]) =>
      monitor.register({
        type: "rekey:index:PasswordRotationShard",
        name: `${name}-${shard}`,
        parent: urn,
        custom: true,
        // Sorted by id: the names in the program do not matter.
        inputs: {
          ...settings,
          shard,
          fleet: urn,
          databases: inShard.sort((a, b) => (a.databaseId < b.databaseId ? -1 : 1)).map(({ input }) => input),
        },
        formerTypes: ["pulumi-nodejs:dynamic/rekey:PasswordRotationShard"],
      }),
    ),
  );
  const saved = registered.map(({ outputs }) => outputs);
  const states = isKnown(saved)
    ? nameStates(
        members,
        saved.flatMap((one) => rotationsOf(one)),
      )
    : undefined;
  const outputs = wrap(states ? known() : unknown(), ["credentials"]);
  await monitor.registerOutputs(urn, outputs);
  const failure = states && !preview ? failureOf(name, states) : undefined;
  if (failure !== undefined) throw new ReportedError(failure);
  return { urn, outputs, shards: registered.map((one) => one.urn) };

  function known(): Properties {
    const all = states ?? [];
    const plain = reveal(settings) as Properties;
    const every = typeof plain["rotateEvery"] === "string" ? plain["rotateEvery"] : undefined;
    return {
      databases: databasesOf(all),
      credentials: credentialsOf(
        members,
        saved.flatMap((one) => secretsFrom(reveal(one["secrets"]) as string)),
      ),
      ...(plain["includeRecords"] === true && { records: recordsOf(all) }),
      failed: failedOf(all),
      lastRotated: lastRotatedOf(all),
      nextRotationAt: nextRotation(oldestOf(all), every),
    };
  }
}

function unknown(): Properties {
  return Object.fromEntries(fleetOutputs.map((name) => [name, unknownValue]));
}

/** In a preview, the outputs of a shard that changes are unknown. */
function isKnown(outputs: readonly Properties[]): boolean {
  return outputs.every((one) => one["rotations"] !== undefined && unknownNames(one).size === 0);
}

function rotationsOf(outputs: Properties): FleetDatabaseState[] {
  return reveal(outputs["rotations"]) as FleetDatabaseState[];
}

/** The ids decide which resources exist, so they must be known in a preview too. */
function readMembers(given: unknown): Member[] {
  const databases = reveal(given);
  if (!isObject(databases)) {
    throw new InputError("databases", "must be a known map of names to ids or objects with a databaseId");
  }
  // The marks of secrets stay.
  const isWholeSecret = isObject(given) && isSecret(given);
  const inputs = (isWholeSecret ? given.value : given) as Properties;
  const members = Object.entries(databases).map(([name, database]) => {
    const databaseId: unknown = isObject(database) ? database["databaseId"] : database;
    const field = `databases[${JSON.stringify(name)}]`;
    if (typeof databaseId !== "string") {
      throw new InputError(field, "must be the id of a database, or an object with its databaseId");
    }
    if (databaseId === unknownValue) {
      throw new ReportedError(withCode(idIsUnknown(field), "REKEY_INPUT_UNKNOWN"));
    }
    return { name, databaseId, input: isWholeSecret ? secret(inputs[name]) : inputs[name] };
  });
  const twice = isListedTwice("databases", members);
  if (twice !== undefined) throw new ReportedError(withCode(twice, "REKEY_DUPLICATE_DATABASE"));
  return members;
}
