import type * as pulumi from "@pulumi/pulumi";
import { type ListedDatabase } from "../provider/records/database";
import { type DataSourceOptions, read, readAfter } from "./dataSource";

/** What `getDatabases` returns. */
export interface GetDatabasesResult {
  /** All databases of the account, in the order of the platform. */
  readonly databases: readonly ListedDatabase[];
}

/**
 * Lists all databases of the account: ids, names, states, regions and creation times, and never a credential. A list
 * that cannot be read as a whole is an error, so that a fleet does not lose databases. It needs
 * `rekey:databaseListPath`, which the preset `upstash` sets.
 *
 * @throws SettingsError, InputError or RequestError
 * @example
 * ```ts
 * const { databases } = await getDatabases();
 * const ids = databases.map(({ databaseId }) => databaseId);
 * ```
 */
export function getDatabases(): Promise<GetDatabasesResult> {
  return read("getDatabases", {});
}

/**
 * `getDatabases` after `dependsOn`. It does not read while one of these resources is unknown.
 *
 * @example
 * ```ts
 * const databases = getDatabasesOutput({ dependsOn: cache }).databases;
 * ```
 */
export function getDatabasesOutput(options?: DataSourceOptions): pulumi.Output<GetDatabasesResult> {
  return readAfter("getDatabases", {}, options);
}
