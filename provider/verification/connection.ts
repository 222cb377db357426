import { type Credential } from "./probe";
import {
  checkGivenEndpoint,
  connectionUrl,
  endpointOf,
  type GivenEndpoint,
  type LocatedDatabase,
} from "./clientEndpoint";
import { InputError } from "../platform/errors";
import { type FoundSetting } from "../settings/settings";
import { type FleetDatabase } from "../rotation/fleet";
import { type CheckFailure } from "../resource";
import { type VerificationTarget } from "./passwordVerification";

/** Where and as which user clients connect, as a program sets it. */
export interface Connection extends GivenEndpoint {
  /** May contain `{id}`. */
  readonly username?: string | undefined;
}

/** The credentials that the platform may have returned. */
interface KnownCredentials {
  readonly password?: string | undefined;
  readonly restToken?: string | undefined;
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
  hostSetting?: () => FoundSetting | undefined,
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

/** What is wrong with the inputs that describe a connection. Unknown inputs pass. */
export function checkConnection(
  inputs: Readonly<Record<string, unknown>>,
  unknown: ReadonlySet<string>,
  hostSetting: () => FoundSetting | undefined,
): CheckFailure[] {
  try {
    const known = Object.entries(inputs).filter(([name]) => !unknown.has(name));
    connectionIn(Object.fromEntries(known), unknown.has("host") ? undefined : hostSetting);
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return [{ property: error.property, reason: `${error.property} ${error.reason}` }];
  }
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
  hostSetting: FoundSetting | undefined,
): string | undefined {
  if (password === undefined) return undefined;
  return connectionUrl(endpointOf(database, connection, hostSetting), usernameFor(database, connection), password);
}

/**
 * How the current credential of a database is tried; undefined if none is known. The REST interface has the port of
 * HTTPS.
 *
 * @param hostSetting `rekey:databaseHost`
 * @throws InputError if the endpoint is unknown or cannot be used
 */
export function accessTo(
  database: LocatedDatabase,
  connection: Connection,
  { password, restToken }: KnownCredentials,
  hostSetting: FoundSetting | undefined,
): VerificationTarget["access"] {
  if (password !== undefined) {
    const username = usernameFor(database, connection);
    const credential: Credential = { ...(username !== undefined && { username }), password };
    return { ...endpointOf(database, connection, hostSetting), credential };
  }
  if (restToken === undefined) return undefined;
  const { port = 443, tls = true } = connection;
  return { ...endpointOf(database, { ...connection, port, tls }, hostSetting), credential: { restToken } };
}

/** The name of the user at a database, if there is one. */
function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string | undefined {
  return username?.replaceAll("{id}", databaseId);
}

/** The outputs of a fleet that say where its databases are. */
export interface FleetOutputs {
  readonly databases: Readonly<
    Record<string, Pick<FleetDatabase, "databaseId" | "rotatedAt" | "rotationCount" | "outcome">>
  >;
  readonly credentials: Readonly<Record<string, KnownCredentials>>;
  readonly records?: Readonly<Record<string, Pick<LocatedDatabase, "record">>> | undefined;
}

/**
 * The URL of each database of a fleet, by its name. Databases without a known password are left out.
 *
 * @param urlOf returns the URL of a database
 */
export function urlsOf(
  { databases, credentials, records }: FleetOutputs,
  urlOf: (database: LocatedDatabase, password: string | undefined) => string | undefined,
): Record<string, string> {
  const entries = Object.entries(databases).flatMap(([name, { databaseId }]) => {
    const url = urlOf({ databaseId, record: records?.[name]?.record }, credentials[name]?.password);
    return url === undefined ? [] : [[name, url] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * What a verification needs to know of each database of a fleet.
 *
 * @param accessOf returns how the current credential of a database is tried
 */
export function targetsOf(
  { databases, credentials, records }: FleetOutputs,
  accessOf: (name: string, database: LocatedDatabase, known: KnownCredentials) => VerificationTarget["access"],
): VerificationTarget[] {
  return Object.entries(databases).map(([name, { databaseId, rotatedAt, rotationCount, outcome }]) => {
    const database = { databaseId, record: records?.[name]?.record };
    // The credentials of an unconfirmed reset are the former ones, which may be invalid.
    const known = outcome === "reset" ? credentials[name] : undefined;
    return { databaseId, name, rotatedAt, rotationCount, access: accessOf(name, database, known ?? {}) };
  });
}

/** The input `targets`. Sorted by id: the order in the program does not matter. */
export function targetsText(targets: readonly VerificationTarget[]): string {
  return JSON.stringify(targets.toSorted((a, b) => (a.databaseId < b.databaseId ? -1 : 1)));
}
