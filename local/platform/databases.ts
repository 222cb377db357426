import { databaseRecord, type DatabaseRecord } from "./databaseRecord";
import { LateResets, type ResetFault } from "./lateResets";
import { newSecret } from "./secrets";

/** A database of the local platform. */
export interface Database {
  /**
   * The record in the response to a reset, without credentials. Its `endpoint`, `port` and `tls` are those of the Redis
   * or, unless others were given, of the platform's own listener for the Redis protocol.
   */
  readonly record: DatabaseRecord;
  /** The newest password. After a reset that is not applied yet, the database does not accept it. */
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
  /** Number of the current password: 1 for the first, incremented by each reset or other change. */
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

type Credentials = Pick<Database, "password" | "restToken" | "readOnlyRestToken">;
type Given = Omit<Database, "redisUrl">;

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

/** The databases and their passwords, in memory and in the server of the databases. */
export class Databases {
  readonly #initial: readonly SavedDatabase[];
  /** The databases with their records as given. */
  readonly #given = new Map<string, Given>();
  /** The same databases with the address of the server. */
  readonly #databases = new Map<string, Database>();
  /** The credentials that each database accepts: those of the last reset that was applied. */
  readonly #accepted = new Map<string, Credentials>();
  readonly #late = new LateResets();

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
    return [...this.#given.values()];
  }

  /** A database with the credentials that it accepts now. Undefined if it does not exist. */
  read(id: string): Database | undefined {
    const database = this.#databases.get(id);
    return database && { ...database, ...this.#accepted.get(id) };
  }

  /**
   * Replaces the credentials. A reset that is not applied yet is replaced, too.
   *
   * @returns undefined if the database does not exist
   * @throws Error if the Redis did not confirm it; the password is then unchanged
   */
  async resetPassword(id: string, fault: ResetFault = {}): Promise<Database | undefined> {
    if (!this.#given.has(id)) {
      return undefined;
    }
    const credentials = await this.#replaceCredentials(id, fault);
    const current = this.#current(id);
    return this.#put({
      ...current,
      ...credentials,
      resets: current.resets + 1,
      generation: current.generation + 1,
      lastResetAt: new Date().toISOString(),
    });
  }

  /**
   * Replaces the credentials without a reset.
   *
   * @throws Error if the Redis did not confirm it; the password is then unchanged
   */
  async changePassword({ record: { database_id: id } }: Database): Promise<void> {
    const credentials = await this.#replaceCredentials(id);
    const current = this.#current(id);
    this.#put({ ...current, ...credentials, generation: current.generation + 1 });
  }

  /** Changes fields of the record. */
  changeRecord({ record: { database_id: id } }: Database, fields: Readonly<Record<string, unknown>>): void {
    const current = this.#current(id);
    this.#put({ ...current, record: { ...current.record, ...structuredClone(fields), database_id: id } });
  }

  /**
   * Restores the initial databases, with new random passwords if none were given. Without a Redis, this is done
   * synchronously.
   */
  async restore(): Promise<void> {
    this.stop();
    await Promise.all(
      this.#initial.map(async ({ record, resets = 0, generation = 1, lastResetAt, ...given }) => {
        const credentials = newCredentials(given);
        const asynchronous = this.#accept(record, credentials);
        if (asynchronous !== undefined) {
          await asynchronous;
        }
        this.#put({ record, ...credentials, resets, generation, lastResetAt });
      }),
    );
  }

  /** Forgets the resets that are not applied yet. */
  stop(): void {
    this.#late.clear();
  }

  /** Call it after an await: another reset may have been confirmed in the meantime. */
  #current(id: string): Given {
    return this.#given.get(id) as Given;
  }

  async #replaceCredentials(id: string, fault: ResetFault = {}): Promise<Credentials> {
    const { record, password: former } = this.#current(id);
    const credentials = newCredentials();
    const passwords = fault.keepFormerPassword ? [former, credentials.password] : undefined;
    await this.#late.apply(id, fault, () => this.#accept(record, credentials, passwords));
    return credentials;
  }

  /** Makes a database accept credentials, so that a read returns them. */
  #accept(
    { database_id: id, state }: DatabaseRecord,
    credentials: Credentials,
    passwords = [credentials.password],
  ): Promise<void> | undefined {
    const accepted = (): void => void this.#accepted.set(id, credentials);
    const asynchronous = this.server.setPasswords(id, state === "suspended" ? [] : passwords);
    if (asynchronous !== undefined) {
      return asynchronous.then(accepted);
    }
    accepted();
    return undefined;
  }

  #put(given: Given): Database {
    const id = given.record.database_id;
    const record = this.server.withAddress(given.record);
    const redisUrl = this.server.url?.({ id, password: given.password });
    const database = { ...given, record, ...(redisUrl && { redisUrl }) };
    this.#given.set(id, given);
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

/** Random credentials, except the given ones. */
function newCredentials({
  password = newSecret(),
  restToken = newSecret(),
  readOnlyRestToken = newSecret(),
}: Partial<Pick<SavedDatabase, keyof Credentials>> = {}): Credentials {
  return { password, restToken, readOnlyRestToken };
}
