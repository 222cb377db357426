import { outputsAreFormer, withCode } from "../platform/errors";
import { type DatabaseCredentials, type DatabaseRecord } from "../records/database";
import { type LocatedDatabase } from "./endpoint";
import {
  type FleetDatabaseSecrets,
  type FleetDatabaseState,
  type FleetMember,
  type FleetOutcome,
  pendingState,
} from "./fleet";
import { nextRotation } from "./planRotation";

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

export function nameStates(members: readonly FleetMember[], states: readonly FleetDatabaseState[]): NamedState[] {
  const stateOf = new Map(states.map((state) => [state.databaseId, state]));
  return members.map(({ name, databaseId }) => [name, stateOf.get(databaseId) ?? pendingState(databaseId)]);
}

/** The outputs of a fleet that show no secret, and the earliest of the times from which `rotateEvery` counts. */
export function outputsOfFleet(states: readonly NamedState[]) {
  const byName = <T>(valueOf: (state: FleetDatabaseState) => T | undefined): Record<string, T> =>
    Object.fromEntries(
      states.flatMap(([name, state]) => {
        const value = valueOf(state);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  const times = (timeOf: (state: FleetDatabaseState) => string | undefined) =>
    states.flatMap(([, state]) => timeOf(state) ?? []).sort();
  return {
    databases: byName(({ databaseId, rotatedAt, rotationCount, outcome, problem, problems }): FleetDatabase => {
      return { databaseId, rotatedAt, rotationCount, outcome, problem: problem ?? problems?.join("; ") };
    }),
    records: byName(({ record, exactIntegers }): FleetRecord | undefined => record && { record, exactIntegers }),
    encryptedCredentials: byName(({ encryptedCredentials }) => encryptedCredentials),
    failed: states.filter(([, { problem }]) => problem !== undefined).map(([name]) => name),
    lastRotated: times(({ rotatedAt }) => rotatedAt).at(-1),
    oldest: times(({ rotatedAt, adoptedAt }) => rotatedAt ?? adoptedAt)[0],
  };
}

/** @param oldest the earliest of the times from which `rotateEvery` counts */
export function nextRotationOf(
  oldest: string | undefined,
  rotateEvery: string | undefined,
  ignoreChanges: readonly string[] | undefined,
): string | undefined {
  // If changes of it are ignored, only the engine knows which one applies.
  return ignoreChanges?.includes("rotateEvery") ? undefined : nextRotation(oldest, rotateEvery);
}

/** @param secrets what the shards saved; undefined if one does not exist yet */
export function credentialsOf(
  members: readonly FleetMember[],
  secrets: readonly (string | undefined)[],
): Record<string, FleetCredentials> {
  const nameOf = new Map(members.map(({ name, databaseId }) => [databaseId, name]));
  const all = secrets.flatMap((text) => (text === undefined ? [] : (JSON.parse(text) as FleetDatabaseSecrets[])));
  const entries = all.map(({ databaseId, ...saved }) => {
    const { appliedTrigger, attemptedTrigger, account, formerMarks, saving, baseline, ...credentials } = saved;
    return [nameOf.get(databaseId) ?? databaseId, credentials] as const;
  });
  return Object.fromEntries(entries);
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
      `  ${notTried} were not attempted, because too many others had failed (maxFailures): no reset was sent for them in this run`,
    );
  }
  return withCode(
    `PasswordRotationFleet ${JSON.stringify(fleet)}: ${failed.length} of ${states.length} databases failed:\n${lines.join("\n")}\n` +
      `All others are saved. ${outputsAreFormer} Run \`up\` again: it only processes databases that failed, are unknown or were not attempted.`,
    "REKEY_FLEET_INCOMPLETE",
  );
}

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
