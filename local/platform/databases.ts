import { randomBytes } from "node:crypto";
import { databaseRecord, type DatabaseRecord } from "./databaseRecord";

/** A database of the local platform, as tests see it. */
export interface Database {
  /** What a reset answers, without credentials. */
  readonly record: DatabaseRecord;
  /** The password that is valid now. */
  readonly password: string;
  readonly restToken: string;
  readonly readOnlyRestToken: string;
  /** How often the password was reset since the start, or since `reset()` of the platform. */
  readonly resets: number;
  /** Which password is valid: 1 for the first one, one more for each reset. */
  readonly generation: number;
}

/** The databases and their passwords, in memory. */
export class Databases {
  readonly #initial: readonly DatabaseRecord[];
  readonly #databases = new Map<string, Database>();

  /** @param initial fields to put over the sample values of each database */
  constructor(initial: readonly DatabaseRecord[]) {
    this.#initial = initial.map(databaseRecord);
    this.restore();
  }

  get all(): ReadonlyMap<string, Database> {
    return this.#databases;
  }

  /** How many passwords were reset, over all databases. */
  get resetCount(): number {
    return [...this.#databases.values()].reduce((count, { resets }) => count + resets, 0);
  }

  /** Replaces the password. `undefined`: there is no such database. */
  resetPassword(id: string): Database | undefined {
    const before = this.#databases.get(id);
    if (before === undefined) {
      return undefined;
    }
    const after = { ...newDatabase(before.record), resets: before.resets + 1, generation: before.generation + 1 };
    this.#databases.set(id, after);
    return after;
  }

  /** Back to the databases of the start, each with a new first password. */
  restore(): void {
    for (const record of this.#initial) {
      this.#databases.set(record.database_id, newDatabase(record));
    }
  }
}

function newDatabase(record: DatabaseRecord): Database {
  const secret = () => randomBytes(16).toString("hex");
  return {
    record,
    password: secret(),
    restToken: secret(),
    readOnlyRestToken: secret(),
    resets: 0,
    generation: 1,
  };
}
