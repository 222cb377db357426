import { createHash } from "node:crypto";

/** Every field of the database record but its id, with the value a sample database has (interface, section 2.1). */
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
  // Strings, not booleans: the document says so.
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

/**
 * A database record. Any field may be replaced by any value, `undefined` leaves it out, and unknown fields may be
 * added, so that tests can send what the document does not foresee. An integer beyond 2^53 is given as a bigint and
 * sent digit for digit.
 *
 * @see interface, section 2.1
 */
export type DatabaseRecord = {
  /** Id of the database. */
  readonly database_id: string;
} & { readonly [F in FieldName]?: unknown } & {
  readonly [field: string]: unknown;
};

/** The whole record of a database: the sample values, with `given` over them. */
export function databaseRecord({ database_id, ...given }: DatabaseRecord): DatabaseRecord {
  return {
    database_id,
    database_name: database_id,
    // A short slug, of its own for each database: one of the two forms the document allows.
    endpoint: `local-${createHash("sha256").update(database_id).digest("hex").slice(0, 8)}`,
    ...structuredClone(sampleFields),
    ...structuredClone(given),
  };
}
