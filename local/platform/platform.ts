import { type ManagementCredentials } from "./authentication";
import { type Fault } from "./fault";
import { type FlowControlRecord } from "./flowControl";
import { type PlatformRequest } from "./requests";
import { type Database, type KeyPair, type TokenResource } from "./stores";

/** The signing keys, and how often they were rolled since the start or the last `reset()` of the platform. */
export type SigningKeys = KeyPair & { readonly rolls: number };

/** A local platform that runs in this process, for development and tests. It keeps all data in memory. */
export interface Platform extends ManagementCredentials {
  /** URL of both interfaces: `http://127.0.0.1:49152`. */
  readonly url: string;
  /**
   * Token of the queue interface (Bearer): the newest one of the first queue user. After a reset that is not applied
   * yet, it is refused.
   */
  readonly queueToken: string;
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
  /** Number of resets of all secrets since the start or the last `reset()`. */
  readonly resetCount: number;
  /** The database with this id. @throws RangeError if it does not exist */
  database(id: string): Database;
  /**
   * Replaces the password and the tokens of a database, as someone else does in a console. Like the next four methods,
   * it is not counted as a reset, and a reset that is not applied yet is never applied.
   *
   * @throws RangeError if the database does not exist; Error if the Redis did not confirm it
   */
  changePassword(id: string): Promise<void>;
  /** Replaces the tokens of a vector index. @throws RangeError if the index does not exist */
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
   * Restores the initial data and the initial queue token, with other credentials, and removes all requests and faults.
   * User name and password of the platform are unchanged.
   */
  reset(): Promise<void>;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}
