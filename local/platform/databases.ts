import { randomBytes } from "node:crypto";
import { databaseRecord, type DatabaseRecord } from "./databaseRecord";
import { type RedisUsers } from "./redis";

/** A database of the local platform, as tests see it. */
export interface Database {
  /** What a reset answers, without credentials. With a Redis, `endpoint`, `port` and `tls` are those of the Redis. */
  readonly record: DatabaseRecord;
  /** The password that is valid now. */
  readonly password: string;
  /** Token of the REST interface. */
  readonly restToken: string;
  /** Token of the REST interface that may only read. */
  readonly readOnlyRestToken: string;
  /** How often the password was reset since the start, or since `reset()` of the platform; a saved state counts on. */
  readonly resets: number;
  /** Which password is valid: 1 for the first one, one more for each reset. */
  readonly generation: number;
  /** When the password was last reset: ISO 8601, UTC. */
  readonly lastResetAt?: string | undefined;
  /**
   * Address for a Redis client, with the user and the password that are valid now. Only where the platform has a Redis.
   */
  readonly redisUrl?: string | undefined;
}

/** A database with its state: the record exactly as given, and credentials that are made up where they are left out. */
export type SavedDatabase = Pick<Database, "record"> & {
  readonly [K in keyof Omit<Database, "record" | "redisUrl">]?: Database[K] | undefined;
};

/** The databases and their passwords, in memory; and in a Redis, where there is one. */
export class Databases {
  readonly #initial: readonly SavedDatabase[];
  readonly #databases = new Map<string, Database>();

  /** @param initial an id, fields to put over the sample values, or a whole state. `restore` makes them. */
  constructor(
    initial: readonly (string | DatabaseRecord | SavedDatabase)[],
    private readonly redis?: RedisUsers,
  ) {
    this.#initial = initial.map(asSaved);
  }

  get all(): ReadonlyMap<string, Database> {
    return this.#databases;
  }

  /** How many passwords were reset, over all databases. */
  get resetCount(): number {
    return [...this.#databases.values()].reduce((count, { resets }) => count + resets, 0);
  }

  /** What is needed to have the same databases again. */
  get saved(): SavedDatabase[] {
    return this.#initial.map(({ record }) => {
      const { redisUrl, ...database } = this.#databases.get(record.database_id) as Database;
      return { ...database, record };
    });
  }

  /**
   * Replaces the password. `undefined`: there is no such database.
   *
   * @throws Error if the Redis did not take it; the password is then unchanged
   */
  async resetPassword(id: string): Promise<Database | undefined> {
    if (!this.#databases.has(id)) {
      return undefined;
    }
    const password = secret();
    await this.redis?.setPassword(id, password);
    // Read only now: another reset may have been confirmed meanwhile.
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
   * Back to the databases of the start, with new first passwords where none were given. Without a Redis it is done when
   * this returns.
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
