import { databaseTable } from "../records/database";
import { canonicalId, type CredentialName, type RecordTable } from "../records/fields";
import { aclUserTable, indexTable, queueUserTable, signingKeyTable } from "../records/otherSecrets";
import { indexUrl } from "./endpoint";

export interface SecretKind {
  /** The service that has its operations; undefined if the server itself has them, as for Redis users. */
  readonly service?: "management" | "queue";
  /** The paths of its operations; undefined if they are settings, or if no service has them. */
  readonly paths?: SecretPaths;
  readonly table: RecordTable;
  /** The credentials by which a record is compared: the first one that it has shown counts. */
  readonly identities: readonly [CredentialName, ...CredentialName[]];
  /** The JSON text that confirms a reset without a record. Default: only a record does. */
  readonly confirmation?: string;
  /** The argument and output of the resource that is the id. */
  readonly idInput: string;
  /** Whether it has an id, which is an argument: an account may have several. */
  readonly hasId: boolean;
  /** The id of the only one that an account has, if it has none of its own; `idInput` is then an output only. */
  readonly onlyId?: string;
  /** What is reset, in messages: `password` */
  readonly word: string;
  /** What has it, in messages: `database` */
  readonly noun: string;
  /** More than one of them, in messages. Default: with an s. */
  readonly plural?: string;
  /** Whether clients connect to what has it, at an endpoint that a program may set. Default: they do not. */
  readonly connects?: true;
  /** Whether it is a pair that is rolled, so that a second reset too soon is an outage. Default: it is not. */
  readonly rolls?: true;
  /** Of a pair that is rolled: the default of the shortest time between two rolls. */
  readonly minInterval?: string;
  /** Whether it belongs to a user of a server, which an administrator of the server changes. Default: it does not. */
  readonly isOfServer?: true;
  /**
   * Whether two can be valid at once, so that a rotation only adds, and the former one is retired later.
   * Default: a reset replaces it.
   */
  readonly overlaps?: true;
  /** Whether it authorizes requests to the queue, and so may be the token that Rekey uses. Default: it does not. */
  readonly authorizesQueue?: true;
  /**
   * The URL with which it is used, from its record; undefined if the record has none that can be used. Default: no such
   * output.
   *
   * @param host of the platform, with `{endpoint}` for an endpoint that is a slug
   */
  readonly restUrl?: (
    record: Readonly<Record<string, unknown>>,
    host?: string,
  ) => string | undefined;
  /**
   * How its token is tried: by a GET of a path, for `index` below `restUrl`, for `queue` below the queue's address.
   * Default: it is that of a database, or cannot be tried.
   */
  readonly probe?: { readonly service: "index" | "queue"; readonly path: string };
}

/** Paths with `{id}`. */
export interface SecretPaths {
  readonly reset: string;
  /** `none` if it cannot be read. */
  readonly read: string;
  /** Path, without `{id}`, of the list of all that an account has; undefined if there is only one. */
  readonly list?: string;
  /** Of a kind that overlaps: makes a next one, which is valid like the current one. */
  readonly next?: string;
  /** Of a kind that overlaps: makes the next one the only one that is valid. */
  readonly roll?: string;
}

export interface Subject {
  readonly kind: SecretKind;
  readonly id: string;
  /** Of a user: its server, `database "sessions"` or `redis.example.com:6379`; undefined while that is not known. */
  readonly server?: string | undefined;
}

/** What has the secret, in messages: `database "sessions"`, or `user "app" of database "sessions"` */
export function ownerOf({ kind: { noun, hasId }, id, server }: Subject): string {
  if (!hasId) return `the ${noun}`;
  const named = `${noun} ${JSON.stringify(id)}`;
  return server === undefined ? named : `${named} of ${server}`;
}

/** A subject as it is compared with others: two spellings of a UUID are one. */
export function canonical({ id, ...others }: Subject): Subject {
  return { ...others, id: canonicalId(id) };
}

/** More than one of what has such a secret, in messages: `databases` */
export function pluralOf({ noun, plural = `${noun}s` }: SecretKind): string {
  return plural;
}

/** The secret in messages: `password of database "sessions"` */
export function secretOf(subject: Subject): string {
  const { word, hasId } = subject.kind;
  return hasId ? `${word} of ${ownerOf(subject)}` : word;
}

/** The password of a database. Its paths are settings. */
export const databasePassword: SecretKind = {
  service: "management",
  table: databaseTable,
  identities: ["password", "restToken"],
  connects: true,
  idInput: "databaseId",
  hasId: true,
  word: "password",
  noun: "database",
};

/** The response to the reset has no record: a read shows the new tokens. */
const indexToken = {
  service: "management",
  table: indexTable,
  identities: ["token"],
  confirmation: "OK",
  idInput: "indexId",
  hasId: true,
  word: "token",
  restUrl: indexUrl,
  probe: { service: "index", path: "/info" },
} as const;

export const vectorToken: SecretKind = {
  ...indexToken,
  paths: {
    reset: "/v2/vector/index/{id}/reset-password",
    read: "/v2/vector/index/{id}",
    list: "/v2/vector/index",
  },
  noun: "vector index",
  plural: "vector indexes",
};

export const searchToken: SecretKind = {
  ...indexToken,
  paths: { reset: "/v2/search/{id}/reset-password", read: "/v2/search/{id}", list: "/v2/search" },
  noun: "search index",
  plural: "search indexes",
};

export const queueToken: SecretKind = {
  service: "management",
  paths: {
    reset: "/v2/qstash/rotate-token/{id}",
    read: "/v2/qstash/user/{id}",
    list: "/v2/qstash/users",
    next: "/v2/qstash/next-token/{id}",
    roll: "/v2/qstash/roll-token/{id}",
  },
  table: queueUserTable,
  identities: ["token"],
  idInput: "queueUserId",
  hasId: true,
  word: "token",
  noun: "queue user",
  overlaps: true,
  authorizesQueue: true,
  probe: { service: "queue", path: "/v2/globalParallelism" },
};

/** The keys that sign the queue's messages. A reset makes the next one the current one. */
export const signingKeys: SecretKind = {
  service: "queue",
  paths: { reset: "/v2/keys/rotate", read: "/v2/keys" },
  table: signingKeyTable,
  identities: ["currentKey"],
  idInput: "subject",
  hasId: false,
  onlyId: "signing-keys",
  word: "pair of signing keys",
  noun: "pair of signing keys",
  plural: "signing keys",
  rolls: true,
  minInterval: "1h",
};

/** The password of a Redis user, who may have several, all of which are valid. */
export const aclUser: SecretKind = {
  table: aclUserTable,
  identities: ["password"],
  idInput: "userName",
  hasId: true,
  word: "password",
  noun: "user",
  overlaps: true,
  isOfServer: true,
};

/** Every kind of secret that can be rotated, by the name of the resource that rotates it. */
export const kinds = {
  PasswordRotation: databasePassword,
  VectorTokenRotation: vectorToken,
  SearchTokenRotation: searchToken,
  QueueTokenRotation: queueToken,
  SigningKeyRotation: signingKeys,
  AclUserRotation: aclUser,
} satisfies Readonly<Record<string, SecretKind>>;

/** The name of a resource that rotates one secret. */
export type RotationType = keyof typeof kinds;
