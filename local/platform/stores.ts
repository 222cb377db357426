import { type DatabaseRecord, databaseRecord, sampleAddress } from "./databaseRecord";
import { type PlatformOptions } from "./options";
import { type Secret, SecretStore } from "./secretStore";
import { newSecret } from "./secrets";
import { sampleIndex, sampleUser, type TokenResourceRecord } from "./tokenRecord";

/** The credentials of a database. */
type DatabaseCredentials = {
  readonly password: string;
  /** Token of the REST interface. */
  readonly restToken: string;
  /** Read-only token of the REST interface. */
  readonly readOnlyRestToken: string;
};

/**
 * A database. The `endpoint`, `port` and `tls` of its record are those of the Redis or, unless others were given, of
 * the platform's own listener for the Redis protocol.
 */
export type Database = Secret<DatabaseRecord, DatabaseCredentials>;

/** The tokens of an index or a queue user. */
export type Tokens = {
  readonly token: string;
  readonly readOnlyToken: string;
};

/**
 * A vector index, a search index or a queue user. The `endpoint` of an index is a URL of the platform, unless another
 * was given.
 */
export type TokenResource = Secret<TokenResourceRecord, Tokens>;

/** The keys that sign messages. */
export type KeyPair = {
  /** The key that signs messages. */
  readonly current: string;
  /** The key that signs messages after the next roll. */
  readonly next: string;
};

/** What clients of the databases connect to: a Redis, or the platform's own listener. */
export interface DatabaseServer {
  /** The record, with the address of the server. */
  withAddress(record: DatabaseRecord): DatabaseRecord;
  /** Replaces the passwords that a database accepts. @returns undefined if it was done synchronously */
  setPasswords(databaseId: string, passwords: readonly string[]): Promise<void> | undefined;
  /** Removes the users that clients have made with ACL commands. Undefined if a database cannot have any. */
  removeUsers?(): void;
  close(): Promise<void>;
}

type TokenStore = SecretStore<TokenResourceRecord, Tokens>;

/** All secrets of the account. */
export interface Stores {
  readonly databases: SecretStore<DatabaseRecord, DatabaseCredentials>;
  readonly vectorIndexes: TokenStore;
  readonly searchIndexes: TokenStore;
  readonly queueUsers: TokenStore;
  /** One pair of keys, with the id {@link keysId}. */
  readonly signingKeys: SecretStore<object, KeyPair>;
  /** The id of the user whose tokens the queue accepts: the first one. */
  readonly queueUserId: string;
}

export const keysId = "keys";

/** @param url the URL of the platform, which must be known when a record is read */
export function openStores(options: PlatformOptions, server: DatabaseServer, url: () => string): Stores {
  const {
    databases = ["db-quickstart", "db-sessions"],
    queueUsers = ["00000000-0000-4000-8000-000000000001"],
    nextToken: hasNextTokens = true,
  } = options;
  const users = queueUsers.map((given) => recordOf(given, sampleUser));
  const queueUserId = users[0]!.id;
  // Chosen here, so that `reset()` does not change it.
  const queueToken = options.queueToken ?? newSecret();
  return {
    databases: new SecretStore({
      kind: "database",
      initial: databases.map((given) => {
        const record = databaseRecord(typeof given === "string" ? { database_id: given } : given);
        return { id: record.database_id, record };
      }),
      make: () => ({ password: newSecret(), restToken: newSecret(), readOnlyRestToken: newSecret() }),
      toShow: (record) => server.withAddress(record),
      onAccept: (id, { state }, accepted) =>
        server.setPasswords(id, state === "suspended" ? [] : accepted.map(({ password }) => password)),
    }),
    vectorIndexes: openIndexes("vector", options.vectorIndexes ?? ["idx-vectors"], url),
    searchIndexes: openIndexes("search", options.searchIndexes ?? ["idx-search"], url),
    queueUsers: new SecretStore({
      kind: "queue user",
      initial: users.map((record) => {
        const isOwner = record.id === queueUserId;
        return { id: record.id, record, ...(isOwner && { credentials: { token: queueToken } }) };
      }),
      make: newTokens,
      toShow: (record, hasNext) => (hasNextTokens ? { has_next_token: hasNext, ...record } : record),
    }),
    signingKeys: new SecretStore({
      kind: "pair of signing keys",
      initial: [{ id: keysId, record: {} }],
      make: (current) => ({ current: current?.next ?? newSigningKey(), next: newSigningKey() }),
    }),
    queueUserId,
  };
}

function openIndexes(
  kind: "vector" | "search",
  given: readonly (string | TokenResourceRecord)[],
  url: () => string,
): TokenStore {
  return new SecretStore({
    kind: `${kind} index`,
    initial: given.map((one) => recordOf(one, sampleIndex)).map((record) => ({ id: record.id, record })),
    make: newTokens,
    toShow(record) {
      const isSample = record["endpoint"] === sampleAddress(record.id).endpoint;
      return isSample ? { ...record, endpoint: `${url()}/indexes/${kind}/${encodeURIComponent(record.id)}` } : record;
    },
  });
}

function recordOf(
  given: string | TokenResourceRecord,
  sample: (id: string) => TokenResourceRecord,
): TokenResourceRecord {
  return typeof given === "string" ? sample(given) : { ...sample(given.id), ...structuredClone(given) };
}

function newTokens(): Tokens {
  return { token: newSecret(), readOnlyToken: newSecret() };
}

function newSigningKey(): string {
  return `sig_${newSecret(14)}`;
}
