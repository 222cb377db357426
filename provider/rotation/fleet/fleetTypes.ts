import { type Credentials } from "../../records/fields";
import { type Outcome } from "../memory/memory";

/** The state of one database of a fleet. */
export interface FleetDatabase {
  /** Id of the database. */
  readonly databaseId: string;
  /**
   * `reset`, `adopted`, `unknown` if the platform did not confirm the last reset, or `none` before the first one.
   */
  readonly outcome: Outcome | "none";
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Time of the adoption, until the first reset (ISO 8601, UTC). */
  readonly adoptedAt?: string | undefined;
  /** The parts of the platform's response that could not be read. */
  readonly problems?: readonly string[] | undefined;
  /** True if the next `up` reads it, because a response did not show what is valid. */
  readonly mustRead?: true | undefined;
  /** Why the last `up` failed for this database. */
  readonly error?: string | undefined;
}

/** The credentials of a database that are known. All are secret. */
export interface FleetCredentials extends Pick<
  Credentials,
  "password" | "restToken" | "readOnlyRestToken"
> {
  /** JSON text of the fields that Rekey does not know. */
  readonly otherFields?: string | undefined;
}
