import { addressOf, type ClientEndpoint } from "../platform/address";
import { type DatabaseRecord } from "../records/database";
import { InputError } from "../platform/errors";
import {
  hostInUrl,
  hostProblem,
  hostTemplateProblem,
  hostWithoutBrackets,
  isLoopback,
  portProblem,
} from "../records/fields";

/** The host if nothing else is set. */
const defaultDatabaseHost = "{endpoint}";

/** The setting `rekey:databaseHost`. A preset completes a short slug. */
export interface HostSetting {
  readonly value: string;
  readonly source: "configuration" | "environment" | "preset";
}

/** What a program sets of an endpoint. */
export interface GivenEndpoint {
  /** May contain `{endpoint}` and `{id}`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
}

/** What is known of a database. */
export interface LocatedDatabase {
  readonly databaseId: string;
  readonly record?: Pick<DatabaseRecord, "endpoint" | "port" | "tls"> | undefined;
}

/**
 * Checks what a program sets, as far as it can be checked without the database.
 *
 * @param setting returns `rekey:databaseHost`; left out if the host is not known yet
 * @throws InputError
 */
export function checkGivenEndpoint({ host, port, tls }: GivenEndpoint, setting?: () => HostSetting | undefined): void {
  if (host !== undefined) refuse("host", hostTemplateProblem(host));
  if (port !== undefined) refuse("port", portProblem(port));
  if (tls !== undefined && typeof tls !== "boolean") refuse("tls", "must be true or false");
  if (host !== undefined) requireTls(host, tls);
  else if (setting && tls === false) requireTls(templateIn(setting()), tls);
}

/** What a setting makes of the endpoint. A preset completes a short slug, and leaves a full name unchanged. */
function templateIn(setting: HostSetting | undefined): string {
  return setting === undefined || setting.source === "preset" ? defaultDatabaseHost : setting.value;
}

/** What must be set to find a database whose record is not saved; undefined if nothing is missing. */
export function missingWithoutRecord(
  { host, port }: GivenEndpoint,
  setting: HostSetting | undefined,
): "host" | "port" | undefined {
  if ((host ?? templateIn(setting)).includes("{endpoint}")) return "host";
  return port === undefined ? "port" : undefined;
}

/**
 * The endpoint of a database: what the program sets, else the setting `rekey:databaseHost` and the database's record.
 * Only a loopback host is ever used without TLS.
 *
 * @param setting `rekey:databaseHost`
 * @throws InputError if it is unknown or cannot be used
 */
export function endpointOf(
  database: LocatedDatabase,
  given: GivenEndpoint,
  setting: HostSetting | undefined,
): ClientEndpoint {
  const { record } = database;
  const host = hostOf(database, given.host, setting);
  refuse("host", hostProblem(host));
  const port = given.port ?? record?.port;
  refuse("port", port === undefined ? `${unknownFor(database)} Set port` : portProblem(port));
  requireTls(host, given.tls);
  const tls = given.tls ?? (isLoopback(host) ? (record?.tls ?? false) : true);
  return { host: hostWithoutBrackets(host), port: port as number, tls };
}

function hostOf(database: LocatedDatabase, given: string | undefined, setting: HostSetting | undefined): string {
  const { databaseId, record: { endpoint } = {} } = database;
  const template = given ?? setting?.value ?? defaultDatabaseHost;
  if (template.includes("{endpoint}") && !endpoint) {
    refuse("host", `${unknownFor(database)} Set host or rekey:databaseHost without {endpoint}`);
  }
  // A preset completes a short slug. Other templates are used as they are written.
  if (given === undefined && setting?.source === "preset" && endpoint?.includes(".")) return endpoint;
  return template.replace(/\{(endpoint|id)\}/g, (_, name) => (name === "id" ? databaseId : (endpoint ?? "")));
}

function unknownFor({ databaseId, record }: LocatedDatabase): string {
  const why = record
    ? "the platform's record has none."
    : "its record is not saved (a fleet saves records with includeRecords: true, from the next reset on).";
  return `is unknown for database ${JSON.stringify(databaseId)}: ${why}`;
}

/** @throws InputError if there is something wrong */
function refuse(property: string, wrong: string | undefined): void {
  if (wrong !== undefined) throw new InputError(property, wrong);
}

/**
 * @param host may contain `{endpoint}` and `{id}`
 * @throws InputError if a password would travel in plain text
 */
function requireTls(host: string, tls: boolean | undefined): void {
  if (tls !== false || canBeLoopback(host)) return;
  throw new InputError(
    "tls",
    "must not be false unless host is this machine: the password would be sent in plain text",
  );
}

/** The URL with which a client of Redis connects and authenticates. Secret. */
export function connectionUrl(endpoint: ClientEndpoint, username: string | undefined, password: string): string {
  const credentials = [username ?? "", password].map(encodeURIComponent).join(":");
  return addressOf(endpoint).replace("://", () => `://${credentials}@`);
}

/** Whether a host with `{endpoint}` or `{id}` in it can be this machine. */
function canBeLoopback(template: string): boolean {
  return ["localhost", "1"].some((value) => isLoopback(template.replace(/\{(endpoint|id)\}/g, value)));
}

/** Where and as which user clients connect, as a program sets it. */
export interface Connection extends GivenEndpoint {
  /** May contain `{id}`. */
  readonly username?: string | undefined;
}

export const connectionNames = ["host", "port", "tls", "username"] as const satisfies readonly (keyof Connection)[];

/**
 * The inputs that describe a connection. Null counts as not set.
 *
 * @param hostSetting returns `rekey:databaseHost`; left out if `host` is not known yet
 * @throws InputError if one cannot be used
 */
export function connectionIn(
  inputs: Readonly<Record<string, unknown>>,
  hostSetting?: () => HostSetting | undefined,
): Connection {
  const given = connectionNames.flatMap((name) => {
    const value = inputs[name] ?? undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  const connection = Object.fromEntries(given) as Connection;
  checkGivenEndpoint(connection, hostSetting);
  if (!["undefined", "string"].includes(typeof connection.username)) {
    throw new InputError("username", "must be a string");
  }
  return connection;
}

/** Inputs without those that describe a connection. */
export function withoutConnection<T extends object>(inputs: T & Connection): Omit<T, keyof Connection> {
  const { host, port, tls, username, ...others } = inputs;
  return others;
}

/**
 * The URL with which clients connect; undefined if the password is.
 *
 * @param hostSetting `rekey:databaseHost`
 * @throws InputError if the endpoint is unknown or cannot be used
 */
export function urlFor(
  database: LocatedDatabase,
  connection: Connection,
  password: string | undefined,
  hostSetting: HostSetting | undefined,
): string | undefined {
  if (password === undefined) return undefined;
  return connectionUrl(endpointOf(database, connection, hostSetting), usernameFor(database, connection), password);
}

/**
 * The URL of the REST interface, which has the port of HTTPS; undefined if no token for it is known.
 *
 * @param hostSetting `rekey:databaseHost`
 * @throws InputError if the host is unknown or cannot be used
 */
export function restUrlFor(
  database: LocatedDatabase,
  { host: given }: Connection,
  restToken: string | undefined,
  hostSetting: HostSetting | undefined,
): string | undefined {
  if (restToken === undefined) return undefined;
  const { host } = endpointOf(database, { host: given, port: 443, tls: true }, hostSetting);
  return `https://${hostInUrl(host)}`;
}

/** The name of the user at a database, if there is one. */
export function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string | undefined {
  return username?.replaceAll("{id}", () => databaseId);
}
