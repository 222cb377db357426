import { type DatabaseRecord } from "../records/database";
import { type ResetReason } from "./memory";
import { type Outcome } from "./state";

/** What a fleet shows of one database. */
export interface FleetDatabase {
  /** Id of the database. */
  readonly databaseId: string;
  /**
   * `reset`, `adopted`, `unknown` if the platform did not confirm the last reset, or `pending` before the first one.
   */
  readonly outcome: Outcome | "pending";
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Time at which the password was adopted without a reset (ISO 8601, UTC). */
  readonly adoptedAt?: string | undefined;
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
export interface FleetCredentials {
  /** The password. */
  readonly password?: string | undefined;
  /** Token of the REST interface. */
  readonly restToken?: string | undefined;
  /** Read-only token of the REST interface. */
  readonly readOnlyRestToken?: string | undefined;
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
