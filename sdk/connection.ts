import * as pulumi from "@pulumi/pulumi";
import { InputError } from "../provider/api/errors";
import { type Connection, connectionIn, connectionNames } from "../provider/lifecycle/connection";
import { type FoundSetting, SettingSources } from "../provider/settingSources";
import { type ConnectionArgs } from "./connectionArgs";
import { perRun } from "./perRun";
import { runError } from "./runError";

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
  const args = Object.fromEntries(connectionNames.map((name) => [name, overrides[name] ?? own?.[name]]));
  return pulumi.output(args).apply((given) => asRunError(() => connectionIn(given)));
}

const hostSetting = perRun(() => {
  const config = new pulumi.Config("rekey");
  return new SettingSources((name) => config.get(name), process.env).find("databaseHost");
});

/** Calls a function with the setting `rekey:databaseHost`. @throws RunError for an InputError */
export function withHostSetting<T>(act: (setting: FoundSetting | undefined) => T): T {
  return asRunError(() => act(hostSetting()));
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
