import { createHash } from "node:crypto";

/** Every field of the database record except the id, with the value of a sample database. */
const sampleFields = {
  region: "global",
  port: 6379,
  creation_time: 1_752_451_200,
  state: "active",
  tls: true,
  db_max_clients: 10_000,
  db_max_request_size: 10_485_760,
  db_disk_threshold: 107_374_182_400,
  db_max_entry_size: 104_857_600,
  db_memory_threshold: 3_221_225_472,
  db_max_commands_per_second: 10_000,
  db_request_limit: 500_000_000,
  type: "payg",
  budget: 360,
  primary_region: "eu-west-1",
  primary_members: ["eu-west-1"],
  all_members: ["eu-west-1", "us-east-1"],
  eviction: false,
  auto_upgrade: false,
  consistent: false,
  modifying_state: "",
  db_resource_size: "L",
  db_type: "pebble",
  db_conn_idle_timeout: 21_600_000_000_000,
  db_lua_timeout: 250_000_000,
  db_lua_credits_per_min: 10_000_000_000,
  db_store_max_idle: 900_000_000_000,
  db_max_loads_per_sec: 1_000_000,
  // Strings, not booleans, as the interface specifies.
  db_acl_enabled: "false",
  db_acl_default_user_status: "true",
  db_eviction: false,
  last_plan_upgrade_time: 0,
  replicas: 5,
  customer_id: "owner@example.com",
  daily_backup_enabled: true,
  read_regions: ["us-east-1"],
  securityAddons: {
    ipWhitelisting: false,
    vpcPeering: false,
    privateLink: false,
    tlsMutualAuth: false,
    encryptionAtRest: true,
  },
  prometheus_enabled: "false",
  prod_pack_enabled: false,
};

type FieldName = keyof typeof sampleFields | "database_name" | "endpoint";

/** The fields of the database record that contain the address of the database. */
export interface DatabaseAddress {
  readonly endpoint: string;
  readonly port: number;
  readonly tls: boolean;
}

/** An address without a database. The endpoint is a short name, one of the two formats that the interface allows. */
export function sampleAddress(databaseId: string): DatabaseAddress {
  const name = createHash("sha256").update(databaseId).digest("hex").slice(0, 8);
  return { endpoint: `local-${name}`, port: sampleFields.port, tls: sampleFields.tls };
}

/**
 * A database record. Any field may have any value, `undefined` omits it, and unknown fields may be added, so that tests
 * can send records that the interface does not specify. Use a bigint for an integer beyond 2^53; it is sent with all
 * its digits.
 *
 * @see docs/interface.md#the-database-record
 */
export type DatabaseRecord = {
  /** Id of the database. */
  readonly database_id: string;
} & { readonly [F in FieldName]?: unknown } & {
  readonly [field: string]: unknown;
};

/** The complete record of a database: the sample values, overridden by `given`. */
export function databaseRecord({ database_id, ...given }: DatabaseRecord): DatabaseRecord {
  return {
    database_id,
    database_name: database_id,
    endpoint: sampleAddress(database_id).endpoint,
    ...structuredClone(sampleFields),
    ...structuredClone(given),
  };
}
