import { type Outcome } from "./planRotation";
import { type LocatedDatabase } from "./endpoint";
import { withCode } from "../platform/errors";
import { type DatabaseCredentials, type DatabaseRecord } from "../records/database";
import { createHash } from "node:crypto";
import { type Trigger } from "./trigger";
import { type PasswordRotationOutputs, type SecretOutput } from "./outputs";

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

/** The state of one database of a fleet. */
export interface FleetDatabase {
  /** Id of the database. */
  readonly databaseId: string;
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Confirmed resets by this fleet. */
  readonly rotationCount: number;
  /**
   * `reset`, `adopted`, `unknown` if the platform did not confirm the last reset, or `pending` before the first one.
   */
  readonly outcome: FleetOutcome;
  /** Why the last `up` failed for this database, or which parts of the platform's response could not be read. */
  readonly problem?: string | undefined;
}

/** The credentials that the platform returned with the last reset or a later read of a database. All are secret. */
export interface FleetCredentials extends DatabaseCredentials {
  /** JSON text of the fields that Rekey does not know. */
  readonly otherFields?: string | undefined;
  /** Marks of the current credentials that are not saved, with which Rekey recognizes a change. */
  readonly currentMarks?: string | undefined;
}

/** A database's record as the platform returned it with the last reset or a later read. */
export interface FleetRecord {
  /** The record, each value as the platform returned it. */
  readonly record: DatabaseRecord;
  /** Exact digits of the record's integers beyond 2^53, by field. */
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
}

/** The name of a database in the program, and its saved state. */
export type NamedState = readonly [name: string, state: FleetDatabaseState];

export function nameStates(names: readonly FleetMember[], states: readonly FleetDatabaseState[]): NamedState[] {
  const stateOf = new Map(states.map((state) => [state.databaseId, state]));
  return names.map(({ name, databaseId }) => [name, stateOf.get(databaseId) ?? pendingState(databaseId)]);
}

/** The state of a database that was never reset or adopted. */
export function pendingState(databaseId: string): FleetDatabaseState {
  return { databaseId, outcome: "pending", rotationCount: 0 };
}

export function databasesOf(states: readonly NamedState[]): Record<string, FleetDatabase> {
  const entries = states.map(([name, { databaseId, rotatedAt, rotationCount, outcome, problem, problems }]) => {
    const said = problem ?? problems?.join("; ");
    return [name, { databaseId, rotatedAt, rotationCount, outcome, problem: said }] as const;
  });
  return Object.fromEntries(entries);
}

/** The secrets that a shard saved; none if it does not exist yet. */
export function secretsFrom(text: string | undefined): FleetDatabaseSecrets[] {
  return text === undefined ? [] : (JSON.parse(text) as FleetDatabaseSecrets[]);
}

export function credentialsOf(
  names: readonly FleetMember[],
  secrets: readonly FleetDatabaseSecrets[],
): Record<string, FleetCredentials> {
  const nameOf = new Map(names.map(({ name, databaseId }) => [databaseId, name]));
  const entries = secrets.map(({ databaseId, ...saved }) => {
    const { appliedTrigger, attemptedTrigger, account, formerMarks, saving, baseline, ...credentials } = saved;
    return [nameOf.get(databaseId) ?? databaseId, credentials] as const;
  });
  return Object.fromEntries(entries);
}

export function encryptedCredentialsOf(states: readonly NamedState[]): Record<string, string> {
  const entries = states.flatMap(([name, { encryptedCredentials }]) =>
    encryptedCredentials === undefined ? [] : [[name, encryptedCredentials] as const],
  );
  return Object.fromEntries(entries);
}

export function recordsOf(states: readonly NamedState[]): Record<string, FleetRecord> {
  const entries = states.flatMap(([name, { record, exactIntegers }]) =>
    record === undefined ? [] : [[name, { record, exactIntegers }] as const],
  );
  return Object.fromEntries(entries);
}

export function failedOf(states: readonly NamedState[]): string[] {
  return states.filter(([, { problem }]) => problem !== undefined).map(([name]) => name);
}

/** The last confirmed reset of any of them. */
export function lastRotatedOf(states: readonly NamedState[]): string | undefined {
  return states
    .flatMap(([, { rotatedAt }]) => rotatedAt ?? [])
    .sort()
    .at(-1);
}

/** The earliest of the times from which `rotateEvery` counts. */
export function oldestOf(states: readonly NamedState[]): string | undefined {
  return states.flatMap(([, { rotatedAt, adoptedAt }]) => rotatedAt ?? adoptedAt ?? []).sort()[0];
}

/** Databases that are named in an error; the others are counted. */
const maxNamed = 20;

/** The error for a fleet with failed databases; undefined if there is none. */
export function failureOf(fleet: string, states: readonly NamedState[]): string | undefined {
  const failed = states.filter(([, { problem, notTried }]) => problem !== undefined && !notTried);
  const notTried = states.filter(([, state]) => state.notTried).length;
  if (failed.length + notTried === 0) return undefined;
  const lines = failed
    .slice(0, maxNamed)
    .map(([name, { problem = "" }]) => `  ${name}: ${problem.replaceAll("\n", " ")}`);
  if (failed.length > maxNamed) lines.push(`  and ${failed.length - maxNamed} more: see the output \`failed\``);
  if (notTried > 0) {
    lines.push(
      `  ${notTried} were not attempted, because too many others had failed (maxFailures): their passwords are unchanged`,
    );
  }
  return withCode(
    `PasswordRotationFleet ${JSON.stringify(fleet)}: ${failed.length} of ${states.length} databases failed:\n${lines.join("\n")}\n` +
      `All others are saved. Run \`up\` again: it only processes databases that failed, are unknown or were not attempted.`,
    "REKEY_FLEET_INCOMPLETE",
  );
}

/** A database of a fleet, and its name in the program. */
export interface FleetMember {
  readonly name: string;
  readonly databaseId: string;
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
  return String(first % shardCount).padStart(2, "0");
}

/** The shards of a fleet that have databases, each in the order of the ids: names and order do not matter. */
export function shardsOf<T extends FleetMember>(members: readonly T[]): [shard: string, members: T[]][] {
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

/** The names of a fleet's outputs. */
export const fleetOutputs = [
  "databases",
  "credentials",
  "records",
  "connectionUrls",
  "encryptedCredentials",
  "failed",
  "lastRotated",
  "nextRotationAt",
];

/** Outputs of a fleet that are always secret. */
export const secretFleetOutputs = ["credentials", "connectionUrls"];

/** The credentials that the platform may have returned. */
export interface KnownCredentials {
  readonly password?: string | undefined;
  readonly restToken?: string | undefined;
  /** Marks of those that are not saved. */
  readonly currentMarks?: string | undefined;
}

/** The outputs of a fleet that say where its databases are. */
export interface FleetOutputs {
  readonly databases: Readonly<
    Record<string, Pick<FleetDatabase, "databaseId" | "rotatedAt" | "rotationCount" | "outcome">>
  >;
  readonly credentials: Readonly<Record<string, KnownCredentials>>;
  readonly records?: Readonly<Record<string, Pick<LocatedDatabase, "record">>> | undefined;
}

/**
 * The URL of each database of a fleet, by its name. Databases without a known password are left out.
 *
 * @param urlOf returns the URL of a database
 */
export function urlsOf(
  { databases, credentials, records }: FleetOutputs,
  urlOf: (database: LocatedDatabase, password: string | undefined) => string | undefined,
): Record<string, string> {
  const entries = Object.entries(databases).flatMap(([name, { databaseId }]) => {
    const url = urlOf({ databaseId, record: records?.[name]?.record }, credentials[name]?.password);
    return url === undefined ? [] : [[name, url] as const];
  });
  return Object.fromEntries(entries);
}
