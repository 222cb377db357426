import * as pulumi from "@pulumi/pulumi";
import {
  checkGivenEndpoint,
  connectionUrl,
  type Endpoint,
  endpointOf,
  type LocatedDatabase,
} from "../provider/api/endpoint";
import { InputError } from "../provider/api/errors";
import { SettingSources } from "../provider/settingSources";
import { type ConnectionArgs } from "./connectionArgs";
import { perRun } from "./perRun";
import { runError } from "./runError";

/** Known `ConnectionArgs`. */
export interface Connection {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: boolean;
  readonly username?: string;
}

const argumentNames = ["host", "port", "tls", "username"] as const satisfies readonly (keyof ConnectionArgs)[];

/** The arguments of each resource, which are not sent to the engine: changing them must not update the resource. */
const argumentsOf = new WeakMap<pulumi.Resource, ConnectionArgs>();

/** Separates the `ConnectionArgs` from a resource's inputs. */
export function splitConnection<Args extends ConnectionArgs>(
  args: Args,
): [ConnectionArgs, Omit<Args, keyof ConnectionArgs>] {
  const { host, port, tls, username, ...inputs } = args;
  return [{ host, port, tls, username }, inputs];
}

export function rememberConnection(resource: pulumi.Resource, args: ConnectionArgs): void {
  argumentsOf.set(resource, args);
}

/**
 * The connection that a resource has, and further arguments that override it. They are checked as soon as they are
 * known, even if the database's record is not.
 */
export function connectionOf(resource: pulumi.Resource, overrides: ConnectionArgs = {}): pulumi.Output<Connection> {
  const own = argumentsOf.get(resource);
  const args = Object.fromEntries(argumentNames.map((name) => [name, overrides[name] ?? own?.[name]]));
  return pulumi.output(args as Connection).apply((given) => {
    // Null counts as not set.
    const connection = Object.fromEntries(
      Object.entries(given).filter(([, value]) => (value ?? undefined) !== undefined),
    );
    asRunError(() => checkGivenEndpoint(connection));
    return connection;
  });
}

const hostSetting = perRun(() => {
  const config = new pulumi.Config("rekey");
  return new SettingSources((name) => config.get(name), process.env).find("databaseHost");
});

/** The endpoint of a database. @throws RunError if it is unknown or cannot be used */
export function endpointFor(database: LocatedDatabase, connection: Connection): Endpoint {
  return asRunError(() => endpointOf(database, connection, hostSetting()));
}

/** The name of the user at a database, if there is one. */
export function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string | undefined {
  return username?.replaceAll("{id}", databaseId);
}

/** The URL with which clients connect; undefined if the password is. @throws RunError */
export function urlFor(
  database: LocatedDatabase,
  connection: Connection,
  password: string | undefined,
): string | undefined {
  if (password === undefined) return undefined;
  return connectionUrl(endpointFor(database, connection), usernameFor(database, connection), password);
}

/** An error of the program's arguments needs no stack trace. */
function asRunError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof InputError) throw runError(error.code, error.text);
    throw error;
  }
}
