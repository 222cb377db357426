import { type Connection, connectionIn, defaultDatabaseHost, refuse, requireTls, templateIn } from "./connection";
import { addressOf, type ClientEndpoint } from "../platform/address";
import { InputError } from "../platform/errors";
import { type DatabaseRecord } from "../records/database";
import { hostInUrl, hostProblem, hostWithoutBrackets, isLoopback, portProblem } from "../records/fields";
import { type FoundSetting } from "../settings/foundSetting";

/** What is known of a database. */
export interface LocatedDatabase {
  readonly databaseId: string;
  readonly record?: Pick<DatabaseRecord, "endpoint" | "port" | "tls"> | undefined;
}

/** What must be set to find a database whose record is not saved; undefined if nothing is missing. */
export function missingWithoutRecord(
  { host, port }: Connection,
  setting: FoundSetting | undefined,
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
  given: Connection,
  setting: FoundSetting | undefined,
): ClientEndpoint {
  const { record } = database;
  const host = hostOf(database, given.host, setting);
  refuse("host", hostProblem(host));
  const port = given.port ?? record?.port;
  if (port === undefined) throw new InputError("port", `${unknownFor(database)} Set port`);
  refuse("port", portProblem(port));
  requireTls(host, given.tls);
  const tls = given.tls ?? (isLoopback(host) ? (record?.tls ?? false) : true);
  return { host: hostWithoutBrackets(host), port, tls };
}

function hostOf(database: LocatedDatabase, given: string | undefined, setting: FoundSetting | undefined): string {
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

/** The user whose password a reset replaces. */
export const defaultUser = "default";

/**
 * The URL with which a client of Redis connects and authenticates. Secret. Without a user name, `redis-cli` and others
 * are refused, so it has that of the default user.
 */
export function connectionUrl(endpoint: ClientEndpoint, username: string | undefined, password: string): string {
  const credentials = [username ?? defaultUser, password].map(encodeURIComponent).join(":");
  return addressOf(endpoint).replace("://", () => `://${credentials}@`);
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
  hostSetting: FoundSetting | undefined,
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
  hostSetting: FoundSetting | undefined,
): string | undefined {
  if (restToken === undefined) return undefined;
  const { host } = endpointOf(database, { host: given, port: 443, tls: true }, hostSetting);
  return `https://${hostInUrl(host)}`;
}

/**
 * A URL of a database; undefined if its credential or its endpoint is not known. It never throws: a reset must not be
 * lost because of its URL.
 */
export function knownUrl(
  urlOf: typeof urlFor,
  database: LocatedDatabase,
  inputs: Readonly<Record<string, unknown>>,
  credential: string | undefined,
  hostSetting: () => FoundSetting | undefined,
): string | undefined {
  try {
    return urlOf(database, connectionIn(inputs), credential, hostSetting());
  } catch {
    return undefined;
  }
}

/** The name of the user at a database, if there is one. */
export function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string | undefined {
  return username?.replaceAll("{id}", () => databaseId);
}
