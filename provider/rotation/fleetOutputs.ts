import { outputsAreFormer, RekeyError } from "../platform/errors";
import { type Credentials } from "../records/credentials";
import { type DatabaseRecord } from "../records/database";
import { type Outcome, type Progress, type ResetReason, type State } from "./memory";

/** What a fleet shows of one database. */
export interface FleetDatabase extends Pick<State, "rotatedAt">, Pick<Progress, "adoptedAt"> {
  /** Id of the database. */
  readonly databaseId: string;
  /**
   * `reset`, `adopted`, `unknown` if the platform did not confirm the last reset, or `pending` before the first one.
   */
  readonly outcome: Outcome | "pending";
  /** Confirmed resets by this fleet. */
  readonly rotationCount: number;
  /** Why the last confirmed reset was made. */
  readonly rotationReason?: ResetReason | undefined;
  /** The parts of the platform's response that could not be read. */
  readonly problems?: readonly string[] | undefined;
  /** Why the last `up` failed for this database. */
  readonly error?: string | undefined;
}

/** The credentials of a database that are known. All are secret. */
export interface FleetCredentials extends Pick<Credentials, "password" | "restToken" | "readOnlyRestToken"> {
  /** JSON text of the fields that Rekey does not know. */
  readonly otherFields?: string | undefined;
}

/** A database's record, as the platform returned it with the last reset or a later read. */
export interface FleetRecord {
  /** The record; without `includeRecords` only `endpoint`, `port` and `tls`. */
  readonly record: DatabaseRecord;
  /** Exact digits of the record's integers beyond 2^53, by field. */
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
}

/** The saved outputs of a fleet, by the names of its databases. */
export interface FleetOutputs {
  readonly fleet: string;
  readonly states: Readonly<Record<string, FleetDatabase>>;
  readonly credentials: Readonly<Record<string, FleetCredentials>>;
  readonly connectionUrls: Readonly<Record<string, string>>;
  readonly records: Readonly<Record<string, FleetRecord>>;
  readonly encryptedCredentials: Readonly<Record<string, string>>;
  readonly failed: readonly string[];
  readonly lastRotated?: string | undefined;
  readonly nextRotationAt?: string | undefined;
  /** JSON text of an `Access` for each name. */
  readonly access: string;
  /** JSON text of a `Memory` for each id of a database: another name changes nothing. */
  readonly memory: string;
}

/** What is saved of a database that was not attempted. */
export const notAttempted =
  "Not attempted: the fleet stopped after too many failures (maxFailures). No reset was sent in this run.";

/** Databases that an error names; the others are counted. */
const maxNamed = 20;

/** The error for a fleet with failed databases; undefined if there is none. */
export function fleetFailure(states: Readonly<Record<string, FleetDatabase>>): RekeyError | undefined {
  const open = Object.entries(states).filter(([, { error }]) => error !== undefined);
  if (open.length === 0) return undefined;
  const failed = open.filter(([, { error }]) => error !== notAttempted);
  const lines = failed.slice(0, maxNamed).map(([name, { error = "" }]) => `  ${name}: ${error.replaceAll("\n", " ")}`);
  const others = open.length - lines.length;
  if (others > 0) lines.push(`  and ${others} more, which failed or were not attempted: see the output \`failed\``);
  return new RekeyError(
    "REKEY_FLEET_INCOMPLETE",
    `${failed.length} of ${Object.keys(states).length} databases failed:\n${lines.join("\n")}\nAll others are saved. ${outputsAreFormer} Run \`up\` again: it only processes databases that failed, are unknown or were not attempted.`,
    "maybe applied",
  );
}
