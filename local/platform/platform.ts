import { type Credentials } from "./authentication";
import { type Database } from "./databases";
import { type Fault } from "./fault";
import { type FlowControlRecord } from "./flowControl";
import { type PlatformSeed } from "./options";
import { type PlatformRequest } from "./requests";
import { type SigningKeys } from "./signingKeys";
import { type TokenResource } from "./tokenResources";

/** A local platform that runs in this process, for development and tests. It keeps all data in memory. */
export interface Platform extends Credentials {
  /** URL of both interfaces: `http://127.0.0.1:49152`. */
  readonly url: string;
  /**
   * The requests since the start or the last `reset()`, in the order of their arrival, without malformed ones. At least
   * the newest 10,000 are kept.
   */
  readonly requests: readonly PlatformRequest[];
  /** The databases, by id. */
  readonly databases: ReadonlyMap<string, Database>;
  /** The vector indexes, by id. */
  readonly vectorIndexes: ReadonlyMap<string, TokenResource>;
  /** The search indexes, by id. */
  readonly searchIndexes: ReadonlyMap<string, TokenResource>;
  /** The users of the queue, by id. The queue accepts the tokens of the first one. */
  readonly queueUsers: ReadonlyMap<string, TokenResource>;
  /** The newest signing keys. Until a roll is applied, messages are signed with the former current one. */
  readonly signingKeys: SigningKeys;
  /** The flow-control keys with their current counters, by name. */
  readonly flowControlKeys: ReadonlyMap<string, FlowControlRecord>;
  /**
   * URL of the Redis, without credentials; undefined if there is none. `database(id).redisUrl` contains those of a
   * database.
   */
  readonly redisUrl: string | undefined;
  /**
   * Number of resets since the start or the last `reset()`: of passwords of databases, of tokens of indexes and queue
   * users, and of the signing keys.
   */
  readonly resetCount: number;
  /** The database with this id. @throws RangeError if it does not exist */
  database(id: string): Database;
  /**
   * Replaces the password and the tokens of a database, as someone else does in a console. It is not counted as a
   * reset, and a reset that is not applied yet is never applied.
   *
   * @throws RangeError if the database does not exist; Error if the Redis did not confirm it
   */
  changePassword(id: string): Promise<void>;
  /**
   * Replaces the tokens of a vector index, as someone else does in a console. Like the next three methods, it is not
   * counted as a reset, and a reset that is not applied yet is never applied.
   *
   * @throws RangeError if the index does not exist
   */
  changeVectorIndexTokens(id: string): void;
  /** Replaces the tokens of a search index. @throws RangeError if the index does not exist */
  changeSearchIndexTokens(id: string): void;
  /** Replaces the tokens of a queue user. @throws RangeError if the user does not exist */
  changeQueueUserTokens(id: string): void;
  /** Rolls the signing keys. */
  changeSigningKeys(): void;
  /**
   * Changes fields of the record of a database, as someone else does in a console. `undefined` removes a field. Which
   * passwords the database accepts is unchanged, whatever its `state`.
   *
   * @throws RangeError if the database does not exist
   */
  changeRecord(id: string, fields: Readonly<Record<string, unknown>>): void;
  /** Adds a flow-control key, or replaces its limits and counters. */
  setFlowControlKey(record: FlowControlRecord): void;
  /** Applies a fault to the next matching request. Faults are applied in the order in which they were added. */
  failNext(fault: Fault): void;
  /**
   * Restores the initial data and the initial queue token, with new passwords, other tokens and signing keys if none
   * were given, and removes all requests and faults. User name and password of the platform are unchanged. Without a
   * Redis, this is done synchronously.
   */
  reset(): Promise<void>;
  /** The current data and credentials, including passwords. A platform can be started with them. */
  state(): PlatformSeed;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}
