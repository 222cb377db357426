import { createHash } from "node:crypto";
import { idProblem } from "../records/fields";
import { type PasswordRotationOutputs, type SecretOutput } from "./outputs";
import { type Outcome } from "./planRotation";
import { type Trigger } from "./trigger";

/** The outcome of a database of a fleet: that of a single one, or `pending` before it was reset or adopted. */
export type FleetOutcome = Outcome | "pending";

/**
 * What a fleet saves of one of its databases: the outputs of a single one, without the reason of the last reset, which
 * no output of a fleet shows, and what is left to do.
 */
export interface FleetDatabaseState extends Omit<PasswordRotationOutputs, "outcome" | "rotationReason"> {
  readonly outcome: FleetOutcome;
  /** Why the last `up` did not bring the database to its desired state; undefined if it did. */
  readonly problem?: string;
  /** Whether it was not attempted, because the fleet had stopped. */
  readonly notTried?: true;
}

/** The part of it that is always secret. */
export type FleetDatabaseSecrets = Pick<FleetDatabaseState, "databaseId" | SecretOutput>;

/** The state of a database that was never reset or adopted. */
export function pendingState(databaseId: string): FleetDatabaseState {
  return { databaseId, outcome: "pending", rotationCount: 0 };
}

/** A database of a fleet, and its name in the program. */
export interface FleetMember {
  readonly name: string;
  readonly databaseId: string;
}

/** Why a value cannot be the id of a database, if it cannot. */
export function memberProblem(id: unknown): string | undefined {
  return typeof id === "string" ? idProblem(id) : "must be the id of a database, or an object with its databaseId";
}

/** The message for an id that is unknown in a preview. */
export function idIsUnknown(field: string): string {
  return (
    `${field} is unknown. The ids of a fleet's databases decide which resources exist, so they must be known in previews too: ` +
    `read them from the configuration, or create the databases in another stack or in an earlier \`up\`.`
  );
}

/** The message for a fleet that contains a database twice; undefined if it does not. */
export function isListedTwice(argument: string, members: readonly FleetMember[]): string | undefined {
  const names = new Map<string, string>();
  for (const { name, databaseId } of members) {
    const other = names.get(databaseId);
    if (other !== undefined) {
      const both =
        other === name ? "it is listed twice" : `it is both ${JSON.stringify(other)} and ${JSON.stringify(name)}`;
      return `${argument} contains the database ${JSON.stringify(databaseId)} twice: ${both}. Remove one of them.`;
    }
    names.set(databaseId, name);
  }
  return undefined;
}

/**
 * The trigger of one database of a fleet: the fleet's and its own. The prefixes keep the two apart. Frozen by test
 * vectors, like the canonical form of a trigger.
 */
export function combineTriggers(fleet: Trigger, own: Trigger): Trigger {
  const of = (prefix: string, { triggers }: Trigger) =>
    Object.entries(triggers ?? {}).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  const triggers = Object.fromEntries([...of("fleet", fleet), ...of("own", own), ["version", own.version]]);
  return { version: fleet.version, triggers };
}

/** Shards of a fleet. Each is one resource: the engine writes its whole state for each resource it changes. */
const shardCount = 16;

/**
 * The shard of a database, `00` to `15`, which depends on its id only. Frozen by test vectors: a database in another
 * shard would be a new one there, and so be reset.
 */
export function shardOf(databaseId: string): string {
  const [first = 0] = createHash("sha256").update(databaseId).digest();
  return shardNamed(first % shardCount);
}

function shardNamed(nth: number): string {
  return String(nth).padStart(2, "0");
}

/**
 * The shards of a fleet that have databases, each in the order of the ids: names and order do not matter. A fleet
 * without databases has all shards, so that those with databases in the state can refuse it.
 */
export function shardsOf<T extends FleetMember>(members: readonly T[]): [shard: string, members: T[]][] {
  if (members.length === 0) return Array.from({ length: shardCount }, (_, nth) => [shardNamed(nth), []]);
  const sorted = members.toSorted((a, b) => (a.databaseId < b.databaseId ? -1 : 1));
  return groupedBy(sorted, ({ databaseId }) => shardOf(databaseId)).sort();
}

/** Items in groups with the same key, without those whose key is undefined. */
export function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): [key: string, group: T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups];
}

/** Inputs of a fleet that all of its resources get. */
export const fleetSettings = [
  "version",
  "triggers",
  "rotateEvery",
  "rotatedSince",
  "initialRotation",
  "concurrency",
  "maxFailures",
  "includeRecords",
  "saveCredentials",
  "encryptFor",
] as const;
