import { InputError, withCode } from "../../platform/errors";
import {
  type FleetDatabaseState,
  type FleetMember,
  fleetSettings,
  idIsUnknown,
  isListedTwice,
  memberProblem,
  shardsOf,
} from "../../rotation/fleet";
import {
  credentialsOf,
  failureOf,
  fleetOutputs,
  type NamedState,
  nameStates,
  nextRotationOf,
  outputsOfFleet,
  secretFleetOutputs,
  urlsOf,
} from "../../rotation/fleetOutputs";
import { checkClaims, type CheckFailure, checkInputs, messagesOf, ReportedError } from "../../resource";
import { type ComponentRequest, type Constructed, type Monitor, readConnection, type Component } from "./component";
import { type Properties, reveal, unknownNames, wrap, isSecret, secret, unknownValue } from "../../records/properties";
import { checkSince } from "../../rotation/rotation";
import { checkDatabases, claimsOf, fleetInputs } from "../../rotation/passwordRotationShard";
import { type ShardDatabase } from "../../rotation/shardPlan";
import { connectionNames, withoutConnection } from "../../rotation/connection";
import { knownUrl, urlFor } from "../../rotation/endpoint";
import { databasePassword } from "../../rotation/kinds/databasePassword";
import { checkSaving } from "../../rotation/saving";
import { type Run } from "../../run";
import { isObject } from "../../records/fields";

interface Member extends FleetMember {
  /** As given, with marks. */
  readonly input: unknown;
}

/**
 * Registers a fleet and its shards. A failed shard could not save the results of its databases, so all shards succeed,
 * and the fleet then fails with the names of the failed databases.
 */
async function constructFleet(
  { type, name, parent, inputs, options, secretOutputs, preview }: ComponentRequest,
  monitor: Monitor,
  run: Run,
): Promise<Constructed> {
  const { databases, ...settings } = withoutConnection(inputs);
  const connection = readConnection(inputs, run.options.databaseHost);
  // A wrong setting is reported before anything is sent.
  run.options.databaseHost();
  const members = readMembers(databases);
  const [given, unknownSettings] = [reveal(settings) as Properties, unknownNames(settings)];
  refuse(checkInputs(fleetInputs, given, unknownSettings));
  refuse(checkSince(given, unknownSettings, run));
  refuse(checkSaving(given, unknownSettings, databasePassword, run));
  const { urn } = await monitor.register({ type, name, parent, custom: false, inputs: {}, aliases: [] });
  const plain = members.map(({ input }) => reveal(input) as ShardDatabase);
  refuse(
    checkDatabases(
      plain,
      members.map(({ name }) => fieldOf(name)),
    ),
  );
  refuse(checkClaims(claimsOf(plain, urn, undefined), urn, run));
  const registered = await Promise.all(
    shardsOf(members).map(([shard, inShard]) =>
      monitor.register({
        type: "rekey:index:PasswordRotationShard",
        name: `${name}-${shard}`,
        parent: urn,
        custom: true,
        inputs: {
          ...settings,
          ...(settings["encryptFor"] !== undefined && { connection: connectionInputs(inputs) }),
          shard,
          fleet: urn,
          databases: inShard.map(({ input }) => input),
        },
        aliases: [{ type: "pulumi-nodejs:dynamic/rekey:PasswordRotationShard" }],
      }),
    ),
  );
  const saved = registered.map(({ outputs }) => outputs);
  const states = isKnown(saved) ? nameStates(members, saved.flatMap(rotationsOf)) : undefined;
  const outputs = wrap(states ? known(states) : unknown(settings["encryptFor"] !== undefined), [
    ...secretFleetOutputs,
    ...secretOutputs,
  ]);
  await monitor.registerOutputs(urn, outputs);
  const failure = states && !preview ? failureOf(name, states) : undefined;
  if (failure !== undefined) throw new ReportedError(failure);
  return { urn, outputs, children: registered.map((one) => one.urn) };

  function known(all: readonly NamedState[]): Properties {
    const { includeRecords, rotateEvery } = given;
    const { databases, encryptedCredentials, failed, lastRotated, oldest, ...shown } = outputsOfFleet(all);
    const credentials = credentialsOf(
      members,
      saved.map((one) => reveal(one["secrets"]) as string),
    );
    const records = includeRecords === true ? shown.records : undefined;
    // Files that are the only place that has the credentials stay without encryptFor.
    const isEncrypted = settings["encryptFor"] !== undefined || Object.keys(encryptedCredentials).length > 0;
    return {
      databases,
      credentials,
      ...(records && { records }),
      connectionUrls: connection
        ? urlsOf({ databases, credentials, records }, (database, password) =>
            knownUrl(urlFor, database, { ...connection }, password, run.options.databaseHost),
          )
        : unknownValue,
      ...(isEncrypted && { encryptedCredentials }),
      failed,
      lastRotated,
      nextRotationAt: nextRotationOf(oldest, rotateEvery as string | undefined, options.ignoreChanges),
    };
  }
}

/** The inputs that describe the connection. */
function connectionInputs(inputs: Properties): Properties {
  return Object.fromEntries(connectionNames.filter((name) => name in inputs).map((name) => [name, inputs[name]]));
}

function unknown(isEncrypted: boolean): Properties {
  const names = fleetOutputs.filter((name) => isEncrypted || name !== "encryptedCredentials");
  return Object.fromEntries(names.map((name) => [name, unknownValue]));
}

/** In the fleet, because an error of a shard has the name of the shard, which is not in the program. */
function refuse(failures: readonly CheckFailure[]): void {
  if (failures.length > 0) throw new ReportedError(messagesOf(failures).join("\n"));
}

function fieldOf(name: string): string {
  return `databases[${JSON.stringify(name)}]`;
}

export const fleetComponent: Component = {
  construct: constructFleet,
  incomplete: "REKEY_FLEET_INCOMPLETE",
  childInputs: fleetSettings,
};

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
    const field = fieldOf(name);
    if (databaseId === unknownValue) {
      throw new ReportedError(withCode(idIsUnknown(field), "REKEY_INPUT_UNKNOWN"));
    }
    const wrong = memberProblem(databaseId);
    if (wrong !== undefined) throw new InputError(field, wrong);
    return { name, databaseId: databaseId as string, input: isWholeSecret ? secret(inputs[name]) : inputs[name] };
  });
  const twice = isListedTwice("databases", members);
  if (twice !== undefined) throw new ReportedError(withCode(twice, "REKEY_DUPLICATE_DATABASE"));
  return members;
}
