import { addressOf, type ClientEndpoint } from "../platform/address";
import { InputError } from "../platform/errors";
import { type DatabaseRecord } from "../records/database";
import {
  hostInUrl,
  hostProblem,
  hostTemplateProblem,
  hostWithoutBrackets,
  isLoopback,
  isObject,
  isSet,
  kindOf,
  portProblem,
} from "../records/fields";

/** Where, and as which user, clients connect to a database, as a program sets it. */
export interface Connection {
  /** May contain `{endpoint}` and `{id}`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  /** May contain `{id}`. Default: `default`. */
  readonly username?: string | undefined;
}

export const connectionNames = ["host", "port", "tls", "username"] as const satisfies readonly (keyof Connection)[];

/** The setting `rekey:databaseHost`, if it is set. */
export type HostSetting = Readonly<Record<"value" | "source", string>> | undefined;

/** What is known of a database. */
export interface LocatedDatabase {
  readonly databaseId: string;
  readonly record?: Pick<DatabaseRecord, "endpoint" | "port" | "tls"> | undefined;
}

/** The user that the platform creates. */
const defaultUser = "default";

/** The host if nothing else is set. */
const defaultHost = "{endpoint}";

/**
 * What is wrong with a connection, as far as that is known without the database.
 *
 * @param setting that counts if the connection has no host
 */
export function connectionProblem(given: unknown, setting?: HostSetting): string | undefined {
  if (!isObject(given)) return `must be an object, not ${kindOf(given)}`;
  const unknown = Object.keys(given).find((name) => !connectionNames.some((known) => known === name));
  if (unknown !== undefined) return `has no ${JSON.stringify(unknown)} (known: ${connectionNames.join(", ")})`;
  const { host, port, tls, username } = given;
  const problems = {
    host: isSet(host) ? hostTemplateProblem(host as string) : undefined,
    port: isSet(port) ? portProblem(port as number) : undefined,
    tls:
      isSet(tls) && typeof tls !== "boolean" ? "must be true or false" : tlsProblem(host ?? templateIn(setting), tls),
    username: isSet(username) && typeof username !== "string" ? "must be a string" : undefined,
  };
  const [wrong] = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  return wrong && `has a ${wrong[0]} that ${wrong[1]}`;
}

/** The host that a setting makes of any endpoint. A preset completes a short slug only. */
function templateIn(setting: HostSetting): string | undefined {
  return setting?.source === "preset" ? undefined : setting?.value;
}

/** Without a host, that of the record may be this machine. */
function tlsProblem(host: unknown, tls: unknown): string | undefined {
  if (tls !== false || typeof host !== "string" || canBeLoopback(host)) return undefined;
  return "must not be false unless host is this machine: the password would be sent in plain text";
}

/** Whether a host with `{endpoint}` or `{id}` in it can be this machine. */
function canBeLoopback(template: string): boolean {
  return ["localhost", "1"].some((value) => isLoopback(template.replace(/\{(endpoint|id)\}/g, value)));
}

/**
 * The endpoint of a database: what the program sets, else the setting `rekey:databaseHost` and the database's record.
 * Only a loopback host is ever used without TLS.
 *
 * @throws InputError if it is unknown or cannot be used
 */
export function endpointOf(database: LocatedDatabase, given: Connection, setting: HostSetting): ClientEndpoint {
  const { record } = database;
  const host = hostOf(database, given.host, setting);
  refuse("host", hostProblem(host));
  const port = given.port ?? record?.port;
  if (port === undefined) throw new InputError("port", `${unknownFor(database)} Set port`);
  refuse("port", portProblem(port));
  refuse("tls", isLoopback(host) ? undefined : tlsProblem(host, given.tls));
  const tls = given.tls ?? (isLoopback(host) ? (record?.tls ?? false) : true);
  return { host: hostWithoutBrackets(host), port, tls };
}

function hostOf(database: LocatedDatabase, given: string | undefined, setting: HostSetting): string {
  const { databaseId, record: { endpoint } = {} } = database;
  const template = given ?? setting?.value ?? defaultHost;
  if (template.includes("{endpoint}") && !endpoint) {
    refuse("host", `${unknownFor(database)} Set host or rekey:databaseHost without {endpoint}`);
  }
  // A preset completes a short slug. Other templates are used as they are written.
  if (given === undefined && setting?.source === "preset" && endpoint?.includes(".")) return endpoint;
  return template.replace(/\{(endpoint|id)\}/g, (_, name) => (name === "id" ? databaseId : (endpoint ?? "")));
}

function unknownFor({ databaseId, record }: LocatedDatabase): string {
  const why = `${record ? "the platform's record has none" : "the platform has not shown its record"}.`;
  return `is unknown for database ${JSON.stringify(databaseId)}: ${why}`;
}

function refuse(property: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InputError(property, problem);
}

/** The name of the user at a database. */
export function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string {
  return username?.replaceAll("{id}", () => databaseId) ?? defaultUser;
}

/** The URL with which a client of Redis connects and authenticates. Secret. */
export function connectionUrl(endpoint: ClientEndpoint, username: string, password: string): string {
  const credentials = [username, password].map(encodeURIComponent).join(":");
  return addressOf(endpoint).replace("://", () => `://${credentials}@`);
}

/**
 * The URL with which clients connect to a database; undefined if the password or the endpoint is not known. It never
 * throws: a reset must not be lost because of its URL.
 */
export function connectionUrlOf(
  database: LocatedDatabase,
  connection: Connection,
  password: string | undefined,
  setting: HostSetting,
): string | undefined {
  if (password === undefined) return undefined;
  const endpoint = known(() => endpointOf(database, connection, setting));
  return endpoint && connectionUrl(endpoint, usernameFor(database, connection), password);
}

/**
 * The URL of a database's REST interface, which has the port of HTTPS; undefined if the token for it or the host is not
 * known. It never throws.
 */
export function restUrlOf(
  database: LocatedDatabase,
  { host }: Connection,
  restToken: string | undefined,
  setting: HostSetting,
): string | undefined {
  if (restToken === undefined) return undefined;
  const endpoint = known(() => endpointOf(database, { host, port: 443, tls: true }, setting));
  return endpoint && `https://${hostInUrl(endpoint.host)}`;
}

/** What a function returns; undefined if it throws. */
export function known<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}
