import { databaseTable } from "../records/database";
import { canonicalId, type CredentialName, type RecordTable } from "../records/fields";
import { aclUserTable, indexTable, queueUserTable, signingKeyTable } from "../records/otherSecrets";
import { indexUrl } from "./endpoint";

/** The name of a resource that rotates one secret. Saved formats use it. */
export type RotationType =
  | "PasswordRotation"
  | "VectorTokenRotation"
  | "SearchTokenRotation"
  | "QueueTokenRotation"
  | "SigningKeyRotation"
  | "AclUserRotation";

/** A service of an account. */
export type AccountService = "management" | "queue";

type KindInput = "connection" | "minInterval" | "overlap" | "queueUrl";

/** One kind of secret, as data. */
export interface SecretKind {
  readonly name: RotationType | "RotationTrigger";
  /**
   * The source that changes it (`rotation/sources/`), by what a rotation sends:
   * - `replaces`: one request makes a new one and retires the former one. A read must show which one is valid;
   * - `rolls`: one request makes the next key of a pair the current one. The next roll retires the former one;
   * - `adds`: one request makes a next one valid, and another one retires the former one. Both may be repeated;
   * - `redis`: a user of a server has a list of passwords, which its administrator changes.
   */
  readonly shape: "replaces" | "rolls" | "adds" | "redis";
  /**
   * How many can be valid of those that Rekey has made, the current one included. Default: one, so that a rotation
   * replaces it at once.
   */
  readonly maxValid?: 2 | 10;
  /** Reads show hashes of all that are valid, and no value. Default: they show values, which a platform may hide. */
  readonly readsShowHashes?: true;
  /** Of a pair: the credential that the next rotation makes the current one. */
  readonly next?: CredentialName;
  /** The setting that may have it, too, so that Rekey itself sends requests with it. */
  readonly ownSetting?: "queueToken";
  /** The service that has its operations; undefined if the server itself has them. */
  readonly service?: AccountService;
  /** The paths of its operations; undefined if no service has them. */
  readonly paths?: SecretPaths;
  readonly table: RecordTable;
  /** The credentials by which a record is compared: the first one that it has shown counts. */
  readonly identities: readonly [CredentialName, ...CredentialName[]];
  /** The JSON text that confirms a reset without a record. Default: only a record does. */
  readonly confirmation?: string;
  /** The argument and output of the resource that is the id. */
  readonly idInput: string;
  /** The other arguments of its resource that not every rotation has. */
  readonly inputs?: readonly KindInput[];
  /** The outputs of its resource that not every rotation has. */
  readonly outputs?: readonly ("generatedAt" | "unknownPasswords")[];
  /** The id of the only one that an account has, if it has none of its own; `idInput` is then an output only. */
  readonly onlyId?: string;
  /** The secret, in messages: `password` */
  readonly word: string;
  /** The verb for its rotation, in messages: `rotate` */
  readonly verb: string;
  /** The participle of that verb, in messages: `rotated` */
  readonly done: string;
  /** The owner of the secret, in messages: `database` */
  readonly noun: string;
  /** More than one of them, in messages. Default: with an s. */
  readonly plural?: string;
  /** How a person removes one that stays valid, in messages: a former one, or one that was never handed out. */
  readonly removal?: Readonly<Record<"former" | "unproven", (id: string, hash?: string) => string>>;
  /** Of a pair that is rolled: for how long receivers may need the former key, by default. */
  readonly receiverDelay?: string;
  /** Clients connect to what has it, at the endpoint of its record. Default: they do not. */
  readonly connects?: true;
  /** The user who has it, as a program may set it: it may contain `{id}`. */
  readonly username?: string;
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
  /** The source of the address at which it is tried, in messages. Default: it cannot be tried. */
  readonly addressFrom?: string;
}

/** A path, in which `{id}` is replaced by the id, or the setting that has it. */
export type Path =
  string | { readonly setting: "resetPasswordPath" | "databasePath" | "databaseListPath" };

interface SecretPaths {
  readonly reset: Path;
  /** In a setting, `none` if it cannot be read. */
  readonly read: Path;
  /** That of the list of all that an account has; undefined if there is only one. */
  readonly list?: Path;
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

/** The owner of the secret, in messages: `database "sessions"`, or `user "app" of database "sessions"` */
export function ownerOf({ kind: { noun, onlyId }, id, server }: Subject): string {
  if (onlyId !== undefined) return `the ${noun}`;
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

/** The secret in messages: `password of database "sessions"`, or without an id `password of the database` */
export function secretOf({ id, ...subject }: Omit<Subject, "id"> & Partial<Subject>): string {
  const { word, noun, onlyId } = subject.kind;
  if (onlyId !== undefined) return word;
  return `${word} of ${id === undefined ? `the ${noun}` : ownerOf({ ...subject, id })}`;
}

/** A kind in a list of secrets: `database`, or `signing keys` for what an account has only once. */
export function kindInList(kind: SecretKind): string {
  return kind.onlyId === undefined ? kind.noun : pluralOf(kind);
}

/** The setting of a path, to check if the platform does not know what was requested, in messages. */
export function settingOfPath(path: Path | undefined): string[] {
  return typeof path === "object" ? [`rekey:${path.setting}`] : [];
}

/** The same for a request about one secret: its id, too. */
export function toCheckOf({ onlyId }: SecretKind, path?: Path): string[] {
  const id = "the id (for Upstash, the UUID that the console shows, not the name)";
  return [...(onlyId === undefined ? [id] : []), ...settingOfPath(path)];
}

/** The password of a database. */
export const databasePassword: SecretKind = {
  name: "PasswordRotation",
  shape: "replaces",
  service: "management",
  paths: {
    reset: { setting: "resetPasswordPath" },
    read: { setting: "databasePath" },
    list: { setting: "databaseListPath" },
  },
  table: databaseTable,
  identities: ["password", "restToken"],
  connects: true,
  addressFrom: "connection and rekey:databaseHost",
  idInput: "databaseId",
  inputs: ["connection"],
  word: "password",
  verb: "reset",
  done: "reset",
  noun: "database",
};

/** The response to the reset has no record: a read shows the new tokens. */
const indexToken = {
  shape: "replaces",
  service: "management",
  table: indexTable,
  identities: ["token"],
  confirmation: "OK",
  idInput: "indexId",
  word: "token",
  verb: "reset",
  done: "reset",
  restUrl: indexUrl,
  probe: { service: "index", path: "/info" },
  addressFrom: "the endpoint in its record",
} as const;

export const vectorToken: SecretKind = {
  ...indexToken,
  name: "VectorTokenRotation",
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
  name: "SearchTokenRotation",
  paths: { reset: "/v2/search/{id}/reset-password", read: "/v2/search/{id}", list: "/v2/search" },
  noun: "search index",
  plural: "search indexes",
};

export const queueToken: SecretKind = {
  name: "QueueTokenRotation",
  shape: "adds",
  maxValid: 2,
  ownSetting: "queueToken",
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
  inputs: ["overlap", "queueUrl"],
  outputs: ["generatedAt"],
  removal: {
    former: () => "roll the next token at the platform",
    unproven: () => "reset the token at the platform, which also replaces the one that clients use",
  },
  word: "token",
  verb: "rotate",
  done: "rotated",
  noun: "queue user",
  probe: { service: "queue", path: "/v2/globalParallelism" },
  addressFrom: "queueUrl of its rotation or rekey:queueUrl (the address of its region)",
};

/** The keys that sign the queue's messages. A reset makes the next one the current one. */
export const signingKeys: SecretKind = {
  name: "SigningKeyRotation",
  shape: "rolls",
  service: "queue",
  paths: { reset: "/v2/keys/rotate", read: "/v2/keys" },
  table: signingKeyTable,
  identities: ["currentKey"],
  next: "nextKey",
  idInput: "subject",
  inputs: ["minInterval"],
  outputs: ["generatedAt"],
  onlyId: "signing-keys",
  word: "pair of signing keys",
  verb: "roll",
  done: "rolled",
  noun: "pair of signing keys",
  plural: "signing keys",
  receiverDelay: "1h",
};

/** A user's name in a command that a message offers: a shell must not find anything else in it than a word. */
export function nameInCommand(userName: string): string {
  return /^[\w.:@/+-]+$/.test(userName) ? userName : "<name>";
}

function removePassword(userName: string, hash = "<hash>"): string {
  return `run \`ACL SETUSER ${nameInCommand(userName)} !${hash}\` (runbook)`;
}

/** The password of a Redis user, who may have several, all of which are valid. */
export const aclUser: SecretKind = {
  name: "AclUserRotation",
  shape: "redis",
  maxValid: 10,
  readsShowHashes: true,
  table: aclUserTable,
  identities: ["password"],
  addressFrom: "admin of its rotation",
  idInput: "userName",
  inputs: ["connection", "overlap"],
  outputs: ["generatedAt", "unknownPasswords"],
  username: "{id}",
  removal: { former: removePassword, unproven: removePassword },
  word: "password",
  verb: "rotate",
  done: "rotated",
  noun: "user",
};

/** Every kind of secret that can be rotated. */
export const kinds: readonly SecretKind[] = [
  databasePassword,
  vectorToken,
  searchToken,
  queueToken,
  signingKeys,
  aclUser,
];

/** The kinds that an account has: Redis users are in no list. */
export const kindsOfAccount = kinds.filter(({ service }) => service !== undefined);

/** The kind with a name; undefined if there is none. */
export function kindNamed(name: unknown): SecretKind | undefined {
  return kinds.find((one) => one.name === name);
}
