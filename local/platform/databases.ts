import { randomBytes } from "node:crypto";
import { databaseRecord, type DatabaseRecord } from "./databaseRecord";
import { type Fault } from "./faults";

/** A database of the local platform. */
export interface Database {
  /**
   * The record in the response to a reset, without credentials. Its `endpoint`, `port` and `tls` are those of the Redis
   * or, unless others were given, of the platform's own listener for the Redis protocol.
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

/** What clients of the databases connect to: a Redis, or the platform's own listener. */
export interface DatabaseServer {
  /** The record, with the address of the server. */
  withAddress(record: DatabaseRecord): DatabaseRecord;
  /**
   * Replaces the passwords that a database accepts.
   *
   * @returns undefined if it was done synchronously
   */
  setPasswords(databaseId: string, passwords: readonly string[]): Promise<void> | undefined;
  /** The URL without credentials, or with those of a database. Undefined if the server is not a Redis. */
  url?(credentials?: { readonly id: string; readonly password: string }): string;
  close(): Promise<void>;
}

/** How a reset differs from one that the database applies before its response is sent. */
export type ResetFault = Pick<Fault, "applyAfterMs" | "keepFormerPassword">;

/** The databases and their passwords, in memory and in the server of the databases. */
export class Databases {
  readonly #initial: readonly SavedDatabase[];
  readonly #databases = new Map<string, Database>();
  /** Resets that are not applied yet, by database. */
  readonly #late = new Map<string, NodeJS.Timeout>();

  /**
   * @param initial an id, fields that override the sample values, or a whole state. `restore` creates the databases.
   */
  constructor(
    initial: readonly (string | DatabaseRecord | SavedDatabase)[],
    private readonly server: DatabaseServer,
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
   * Replaces the password. A reset that is not applied yet is replaced, too.
   *
   * @returns undefined if the database does not exist
   * @throws Error if the Redis did not confirm it; the password is then unchanged
   */
  async resetPassword(
    id: string,
    { applyAfterMs = 0, keepFormerPassword = false }: ResetFault = {},
  ): Promise<Database | undefined> {
    const former = this.#databases.get(id);
    if (former === undefined) {
      return undefined;
    }
    const password = secret();
    const passwords = keepFormerPassword ? [former.password, password] : [password];
    clearTimeout(this.#late.get(id));
    if (applyAfterMs === 0) {
      await this.#setPasswords(former.record, passwords);
    } else if (applyAfterMs !== "never") {
      this.#applyLater(former.record, passwords, applyAfterMs);
    }
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
    this.stop();
    await Promise.all(
      this.#initial.map(async (given) => {
        const { record, password = secret(), restToken = secret(), readOnlyRestToken = secret() } = given;
        const { resets = 0, generation = 1, lastResetAt } = given;
        const asynchronous = this.#setPasswords(record, [password]);
        if (asynchronous !== undefined) {
          await asynchronous;
        }
        this.#put({ record, password, restToken, readOnlyRestToken, resets, generation, lastResetAt });
      }),
    );
  }

  /** Forgets the resets that are not applied yet. */
  stop(): void {
    this.#late.forEach((timer) => clearTimeout(timer));
    this.#late.clear();
  }

  #setPasswords({ database_id: id, state }: DatabaseRecord, passwords: string[]): Promise<void> | undefined {
    return this.server.setPasswords(id, state === "suspended" ? [] : passwords);
  }

  #applyLater(record: DatabaseRecord, passwords: string[], delayMs: number): void {
    // The response was sent long ago: a Redis that is away by then never gets the password.
    const apply = (): void => void this.#setPasswords(record, passwords)?.catch(() => undefined);
    this.#late.set(record.database_id, setTimeout(apply, delayMs));
  }

  #put(given: Database): Database {
    const id = given.record.database_id;
    const record = this.server.withAddress(given.record);
    const redisUrl = this.server.url?.({ id, password: given.password });
    const database = { ...given, record, ...(redisUrl && { redisUrl }) };
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
