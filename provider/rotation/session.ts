import { type KnownSecrets } from "../platform/redact";
import { type DatabaseResponse } from "../records/response";
import { type HostSetting } from "./clientEndpoint";

/** What rotations depend on. */
export interface SessionOptions {
  /** The platform's operations; getters, so that a missing setting fails only the calls that need it. */
  readonly platform: {
    readonly databases: {
      resetPassword(id: string): Promise<DatabaseResponse>;
      read(id: string, options?: { readonly deadlineMs?: number | undefined }): Promise<DatabaseResponse>;
    };
    /** Secrets that no message shows. */
    readonly secrets: KnownSecrets;
  };
  /** Whether the platform has an operation that reads a database. @throws SettingsError for a wrong setting */
  readonly canRead: () => boolean;
  /** Milliseconds for which a database is read until it shows its new credentials. */
  readonly deadlineMs: () => number;
  /** @throws SettingsError if rekey:databaseHost cannot be used */
  readonly databaseHost: () => HostSetting | undefined;
  /** The mark of the account; undefined if its settings are missing or cannot be used. */
  readonly account: () => string | undefined;
  /** Aborted once the run ends: nothing waits any longer. */
  readonly runEnd: AbortSignal;
  readonly now: () => Date;
  readonly timer: {
    /** Milliseconds, monotonic. */
    now(): number;
    sleep(milliseconds: number): Promise<void>;
  };
}

/** What the rotations of one run of the engine share. */
export interface Session {
  readonly options: SessionOptions;

  /**
   * Performs a rotation at most once in this run. An engine may repeat a call (an error hook does): it then gets the
   * first call's result, and nothing is sent again. A rotation that failed was not done, and may be tried again.
   */
  rotateOnce<T extends { readonly failed?: unknown }>(key: string, rotate: () => Promise<T>): Promise<T>;

  /**
   * Claims a database or a key for a resource.
   *
   * @param owner the resource's URN
   * @param otherOwners URNs of other resources of the program for the same one, as far as the program knew them
   * @returns the URN of the resource that has it; undefined if this one has it now
   */
  claim(subject: string, owner: string, otherOwners: readonly string[] | undefined): string | undefined;

  /**
   * Counts one password reset against the run's limit. The returned function undoes that, for a reset that was not
   * made.
   *
   * @throws RefusedError if none is left.
   */
  reserveReset(databaseId: string): () => void;

  /**
   * What the shards of a fleet share.
   *
   * @param urn the fleet's URN
   * @throws SettingsError if no database could be reset: once, instead of for each of them.
   */
  fleet(urn: string, concurrency?: number | null, maxFailures?: number | null): FleetSession;

  /**
   * Remembers how many resets are planned in a shard.
   *
   * @param urn the fleet's URN
   * @returns those planned in all shards of the fleet so far
   */
  countPlanned(urn: string, shard: string, resets: number): number;

  /**
   * Collects what concurrent calls report, so that a fleet has one line instead of one for each shard.
   *
   * @returns a function to call with the reports of this call: for the last one it returns those of all, otherwise none
   */
  join<T>(group: string): (reports: readonly T[]) => readonly T[];
}

/** What the shards of a fleet share in a run. The engine calls them separately, and partly concurrently. */
export interface FleetSession {
  /**
   * Runs a reset when the fleet's concurrency allows it.
   *
   * @returns undefined if the fleet has stopped.
   */
  reset<T extends { readonly failed: boolean }>(reset: () => Promise<T>): Promise<T | undefined>;
}

/** The name of a fleet in its program, from its URN. */
export function fleetName(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}
