import { flag, int64, object, oneOf, text, texts, type RecordOf, type RecordTable } from "./fields";

/**
 * The database record, which the platform returns after a password reset, and with a read.
 *
 * @see docs/interface.md#the-database-record
 */
export const databaseFields = {
  /** Id of the database. */
  databaseId: text,
  /** Name of the database. */
  databaseName: text,
  /** Region; the only value is `global`. */
  region: oneOf("global"),
  /** Port for client connections. */
  port: int64,
  /** Unix time (seconds) at which the database was created. */
  creationTime: int64,
  /** State of the database. */
  state: oneOf("active", "suspended", "passive"),
  /** Endpoint identifier: a short slug, or a full host name. */
  endpoint: text,
  /** True if TLS is enabled. */
  tls: flag,
  /** Maximum number of concurrent clients. */
  dbMaxClients: int64,
  /** Bytes, maximum accepted request size. */
  dbMaxRequestSize: int64,
  /** Bytes, total disk limit. */
  dbDiskThreshold: int64,
  /** Bytes, maximum accepted entry size. */
  dbMaxEntrySize: int64,
  /** Bytes, maximum memory usable. */
  dbMemoryThreshold: int64,
  /** Maximum commands per second. */
  dbMaxCommandsPerSecond: int64,
  /** Total number of commands that may be sent. Beyond 2^53 the exact digits are in `exactIntegers`. */
  dbRequestLimit: int64,
  /** Payment plan. */
  type: oneOf("free", "payg", "pro", "paid"),
  /** Allocated monthly budget. */
  budget: int64,
  /** Primary region of the cluster. */
  primaryRegion: oneOf(
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
    "ca-central-1",
    "eu-central-1",
    "eu-west-1",
    "eu-west-2",
    "sa-east-1",
    "ap-south-1",
    "ap-northeast-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "af-south-1",
    "us-central1",
    "us-east4",
    "europe-west1",
    "asia-northeast1",
  ),
  /** Primary regions of the cluster. */
  primaryMembers: texts,
  /** All regions of the cluster. */
  allMembers: texts,
  /** True if entries are evicted. */
  eviction: flag,
  /** True if the database is upgraded automatically. */
  autoUpgrade: flag,
  /** True if strong consistency is on. */
  consistent: flag,
  /** The modification in progress; an empty string if there is none. */
  modifyingState: text,
  /** Size of the database's resources. */
  dbResourceSize: oneOf("S", "M", "L", "XL", "XXL", "3XL"),
  /** Storage engine. */
  dbType: oneOf("bolt", "badger", "pebble"),
  /** Nanoseconds, connection idle timeout. */
  dbConnIdleTimeout: int64,
  /** Nanoseconds, Lua script timeout. */
  dbLuaTimeout: int64,
  /** Lua execution credits per minute. */
  dbLuaCreditsPerMin: int64,
  /** Nanoseconds, store connection idle timeout. */
  dbStoreMaxIdle: int64,
  /** Maximum load operations per second. */
  dbMaxLoadsPerSec: int64,
  /** Status of access control lists: the string `"true"` or `"false"`, as the platform returns it. */
  dbAclEnabled: oneOf("true", "false"),
  /** Status of the default access-control user: the string `"true"` or `"false"`. */
  dbAclDefaultUserStatus: oneOf("true", "false"),
  /** True if the database itself evicts entries. */
  dbEviction: flag,
  /** Unix time (seconds) of the last upgrade of the plan; 0 if there was none. */
  lastPlanUpgradeTime: int64,
  /** Replica factor. */
  replicas: int64,
  /** Owner: an email address, or one scoped to a marketplace. */
  customerId: text,
  /** True if backups are made daily. */
  dailyBackupEnabled: flag,
  /** Read regions. */
  readRegions: texts,
  /** Security add-ons, each on or off. */
  securityAddons: object({
    /** Only listed addresses may connect. */
    ipWhitelisting: flag,
    /** Reachable from a peered private network. */
    vpcPeering: flag,
    /** Reachable by a private link. */
    privateLink: flag,
    /** Clients must present a certificate. */
    tlsMutualAuth: flag,
    /** Data at rest is encrypted. */
    encryptionAtRest: flag,
  }),
  /** Status of Prometheus metrics: the string `"true"` or `"false"`. */
  prometheusEnabled: oneOf("true", "false"),
  /** True if the production pack is enabled. */
  prodPackEnabled: flag,
};

/** The database record, each value as the platform returned it. */
export type DatabaseRecord = RecordOf<typeof databaseFields>;

/** The fields that a list of an account's databases shows, beyond their ids. */
const shownInLists = [
  "databaseName",
  "state",
  "region",
  "primaryRegion",
  "readRegions",
  "creationTime",
] as const satisfies readonly (keyof typeof databaseFields)[];

/** A database in the list of an account, each value as the platform returned it. */
export type ListedDatabase = RecordOf<
  Pick<typeof databaseFields, (typeof shownInLists)[number]>
> & {
  /** Id of the database. */
  readonly databaseId: string;
};

/**
 * The database record, and the credentials that a platform may add to it.
 *
 * @see docs/interface.md#the-database-record
 */
export const databaseTable = {
  fields: databaseFields,
  id: "databaseId",
  listed: Object.fromEntries(
    ["databaseId" as const, ...shownInLists].map((name) => [name, databaseFields[name]]),
  ),
  credentials: {
    password: "password",
    restToken: "restToken",
    readOnlyRestToken: "readOnlyRestToken",
  },
} as const satisfies RecordTable;
