import * as pulumi from "@pulumi/pulumi";
import { InputError, resetsAreSaved } from "../provider/platform/errors";
import { type FoundSetting, Settings } from "../provider/settings/settings";
import { missingWithoutRecord, type Connection, connectionIn } from "../provider/rotation/clientEndpoint";
import { hostTemplateProblem } from "../provider/records/fields";
import { perRun, checked, refusal } from "./program";

/** Where a resource's databases are. It is not sent to the engine: changing it must not update the resource. */
interface Location {
  /** The resource, for errors: `PasswordRotation "sessions"`. */
  readonly of: string;
  readonly connection: pulumi.Output<Connection>;
  /** Whether the resource saves records, which have an endpoint and a port. */
  readonly includeRecords: pulumi.Input<boolean> | undefined;
}

const locations = new WeakMap<pulumi.Resource, Location>();

/** Separates the `ConnectionArgs` from a resource's inputs. */
export function splitConnection<Args extends ConnectionArgs>(
  args: Args,
): [ConnectionArgs, Omit<Args, keyof ConnectionArgs>] {
  const { host, port, tls, username, ...inputs } = args;
  return [{ host, port, tls, username }, inputs];
}

/**
 * Checks the arguments of a connection as soon as they are known.
 *
 * @param of the resource, for errors: `PasswordRotation "sessions"`
 */
export function checkConnection(of: string, args: ConnectionArgs): pulumi.Output<Connection> {
  return pulumi.output(args).apply((known) => checked(of, () => connectionIn({ ...known }, hostSetting)));
}

export function rememberConnection(resource: pulumi.Resource, location: Location): void {
  locations.set(resource, location);
}

/** A resource, for errors. */
export function labelOf(resource: pulumi.Resource): string {
  return locations.get(resource)?.of ?? "";
}

/**
 * The connection that a resource has, and further arguments that override it.
 *
 * @param of the resource that uses it, for errors
 * @throws RekeyError if rekey:databaseHost cannot be used
 */
export function connectionOf(
  resource: pulumi.Resource,
  overrides: ConnectionArgs = {},
  of = labelOf(resource),
): pulumi.Output<Connection> {
  const setting = hostSetting();
  const own = locations.get(resource);
  return pulumi.all([own?.connection, own?.includeRecords, overrides]).apply(([saved, includeRecords, given]) =>
    checked(of, () => {
      const set = Object.fromEntries(Object.entries(given).filter(([, value]) => (value ?? undefined) !== undefined));
      const connection = connectionIn({ ...saved, ...set }, hostSetting);
      if (own && includeRecords !== true) requireLocation(connection, setting);
      return connection;
    }),
  );
}

/** @throws InputError if only a record could say where the databases of a fleet are */
function requireLocation(connection: Connection, setting: FoundSetting | undefined): void {
  const missing = missingWithoutRecord(connection, setting);
  if (missing === undefined) return;
  const advice = "Set includeRecords: true on the fleet, or a host without {endpoint} and a port";
  throw new InputError(missing, `is unknown, because the fleet saves no records. ${advice}`);
}

const hostSetting = perRun((): FoundSetting | undefined => {
  const config = new pulumi.Config("rekey");
  const setting = new Settings((name) => config.get(name), process.env).find("databaseHost");
  const wrong = setting && hostTemplateProblem(setting.value);
  if (wrong === undefined) return setting;
  throw refusal("REKEY_SETTING_INVALID", `rekey:databaseHost ${wrong}. ${resetsAreSaved}`);
});

/**
 * Calls a function with the setting `rekey:databaseHost`, after a reset.
 *
 * @param of the resource, for errors
 * @throws InputError that ends the program
 */
export function withHostSetting<T>(of: string, act: (setting: FoundSetting | undefined) => T): T {
  return checked(of, () => act(hostSetting()));
}

/** Where and as which user clients connect to a database. Changing any of them resets nothing. */
export interface ConnectionArgs {
  /**
   * Host name or IP address, in which `{endpoint}` and `{id}` are replaced by the endpoint and the id of the database.
   * Changing it resets nothing.
   *
   * @default `rekey:databaseHost`
   */
  host?: pulumi.Input<string> | undefined;
  /**
   * Port. Changing it resets nothing.
   *
   * @default that of the database's record
   */
  port?: pulumi.Input<number> | undefined;
  /**
   * Whether to use TLS. It can be switched off for loopback hosts only: a password never travels in plain text.
   * Changing it resets nothing.
   *
   * @default true; for loopback hosts that of the database's record
   */
  tls?: pulumi.Input<boolean> | undefined;
  /**
   * Name of the user, in which `{id}` is replaced by the id of the database. Changing it resets nothing.
   *
   * @default none: the default user
   */
  username?: pulumi.Input<string> | undefined;
}
