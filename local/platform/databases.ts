import { randomBytes } from "node:crypto";
import { databaseRecord, type DatabaseRecord } from "./databaseRecord";
import { type RedisUsers } from "./redis";

/** A database of the local platform. */
export interface Database {
  /**
   * The record in the response to a reset, without credentials. With a Redis, it has the `endpoint`, `port` and `tls`
   * of the Redis.
   */
  readonly record: DatabaseRecord;
  /** The current password. */
  readonly password: string;
  /** Token of the REST interface. */
  readonly restToken: string;
  /** Read-only token of the REST interface. */
  readonly readOnlyRestToken: string;
  /**
   * How often the password was reset since the start or the last `reset()` of the platform, plus the count of a saved
   * state.
   */
  readonly resets: number;
  /** Number of the current password: 1 for the first, incremented by each reset. */
  readonly generation: number;
  /** Time of the last reset: ISO 8601, UTC. */
  readonly lastResetAt?: string | undefined;
  /** URL for a Redis client, with the current user and password. Undefined if the platform has no Redis. */
  readonly redisUrl?: string | undefined;
}

/** A database with its state: the record exactly as given, and random credentials if none are given. */
export type SavedDatabase = Pick<Database, "record"> & {
  readonly [K in keyof Omit<Database, "record" | "redisUrl">]?: Database[K] | undefined;
};

/** The databases and their passwords, in memory and in the Redis, if there is one. */
export class Databases {
  readonly #initial: readonly SavedDatabase[];
  readonly #databases = new Map<string, Database>();

  /**
   * @param initial an id, fields that override the sample values, or a whole state. `restore` creates the databases.
   */
  constructor(
    initial: readonly (string | DatabaseRecord | SavedDatabase)[],
    private readonly redis?: RedisUsers,
  ) {
    this.#initial = initial.map(asSaved);
  }

  get all(): ReadonlyMap<string, Database> {
    return this.#databases;
  }

  /** Number of password resets of all databases. */
  get resetCount(): number {
    return [...this.#databases.values()].reduce((count, { resets }) => count + resets, 0);
  }

  /** The state from which the same databases can be created again. */
  get saved(): SavedDatabase[] {
    return this.#initial.map(({ record }) => {
      const { redisUrl, ...database } = this.#databases.get(record.database_id) as Database;
      return { ...database, record };
    });
  }

  /**
   * Replaces the password. @returns undefined if the database does not exist
   *
   * @throws Error if the Redis did not confirm it; the password is then unchanged
   */
  async resetPassword(id: string): Promise<Database | undefined> {
    if (!this.#databases.has(id)) {
      return undefined;
    }
    const password = secret();
    await this.redis?.setPassword(id, password);
    // Read after the await: another reset may have been confirmed in the meantime.
    const { record, resets, generation } = this.#databases.get(id) as Database;
    return this.#put({
      record,
      password,
      restToken: secret(),
      readOnlyRestToken: secret(),
      resets: resets + 1,
      generation: generation + 1,
      lastResetAt: new Date().toISOString(),
    });
  }

  /**
   * Restores the initial databases, with new random passwords if none were given. Without a Redis, this is done
   * synchronously.
   */
  async restore(): Promise<void> {
    await Promise.all(
      this.#initial.map(async (given) => {
        const { record, password = secret(), restToken = secret(), readOnlyRestToken = secret() } = given;
        const { resets = 0, generation = 1, lastResetAt } = given;
        if (this.redis !== undefined) {
          await this.redis.setPassword(record.database_id, password);
        }
        this.#put({ record, password, restToken, readOnlyRestToken, resets, generation, lastResetAt });
      }),
    );
  }

  #put(given: Database): Database {
    const id = given.record.database_id;
    const redis = this.redis;
    const database = redis
      ? { ...given, record: { ...given.record, ...redis.address }, redisUrl: redis.url({ id, ...given }) }
      : given;
    this.#databases.set(id, database);
    return database;
  }
}

function asSaved(given: string | DatabaseRecord | SavedDatabase): SavedDatabase {
  if (typeof given === "string") {
    return { record: databaseRecord({ database_id: given }) };
  }
  return "database_id" in given ? { record: databaseRecord(given) } : structuredClone(given);
}

function secret(): string {
  return randomBytes(16).toString("hex");
}
