import * as pulumi from "@pulumi/pulumi";
import { InputError, resetsAreSaved } from "../provider/platform/errors";
import { hostTemplateProblem, isSet } from "../provider/records/fields";
import { type NamesOf } from "../provider/rotation/arguments";
import { type Connection, connectionIn } from "../provider/rotation/connection";
import { missingWithoutRecord } from "../provider/rotation/endpoint";
import { type FoundSetting } from "../provider/settings/foundSetting";
import { settingsOfProgram } from "./platform";
import { perRun, checked, refusal } from "./program";

/** Where a resource's databases are. It is not sent to the engine: changing it must not update the resource. */
interface Location {
  /** The resource, for errors: `PasswordRotation "sessions"`. */
  readonly of: string;
  readonly connection: pulumi.Output<Connection>;
  readonly includeRecords: pulumi.Input<boolean> | undefined;
}

const locations = new WeakMap<pulumi.Resource, Location>();

/**
 * Checks the arguments of a resource's connection as soon as they are known, and keeps them for `withConnection`.
 *
 * @param of the resource, for errors: `PasswordRotation "sessions"`
 * @param includeRecords whether the resource saves records, which have an endpoint and a port
 */
export function rememberConnection(
  resource: pulumi.Resource,
  of: string,
  { host, port, tls, username }: ConnectionArgs,
  includeRecords: pulumi.Input<boolean> | undefined,
): void {
  const connection = pulumi
    .output({ host, port, tls, username })
    .apply((known) => checked(of, () => connectionIn({ ...known }, hostSetting)));
  locations.set(resource, { of, connection, includeRecords });
}

/**
 * Calls a function with the connection of a resource and the setting `rekey:databaseHost`, once the values are known.
 *
 * @param override further arguments, and what they belong to, for errors
 * @throws RekeyError if rekey:databaseHost cannot be used
 */
export function withConnection<T, R>(
  resource: pulumi.Resource,
  values: pulumi.Output<T>,
  use: (values: T, connection: Connection, setting: FoundSetting | undefined) => R,
  override?: { readonly of: string; readonly args: ConnectionArgs },
): pulumi.Output<R> {
  const setting = hostSetting();
  const own = locations.get(resource);
  const of = override?.of ?? own?.of ?? "";
  const { host, port, tls, username } = override?.args ?? {};
  const connection = pulumi
    .all([own?.connection, own?.includeRecords, { host, port, tls, username }])
    .apply(([saved, includeRecords, given]) =>
      checked(of, () => {
        const set = Object.fromEntries(Object.entries(given).filter(([, value]) => isSet(value)));
        const known = connectionIn({ ...saved, ...set }, hostSetting);
        if (own && includeRecords !== true) requireLocation(known, setting);
        return known;
      }),
    );
  // In this order: if the connection cannot be used, the values are never known.
  return connection.apply((known) => values.apply((all) => checked(of, () => use(all, known, setting))));
}

/** @throws InputError if only a record could say where the databases of a fleet are */
function requireLocation(connection: Connection, setting: FoundSetting | undefined): void {
  const missing = missingWithoutRecord(connection, setting);
  if (missing === undefined) return;
  const advice = "Set includeRecords: true on the fleet, or a host without {endpoint} and a port";
  throw new InputError(missing, `is unknown, because the fleet saves no records. ${advice}`);
}

const hostSetting = perRun((): FoundSetting | undefined => {
  const setting = settingsOfProgram().find("databaseHost");
  const wrong = setting && hostTemplateProblem(setting.value);
  if (wrong === undefined) return setting;
  throw refusal("REKEY_SETTING_INVALID", `rekey:databaseHost ${wrong}. ${resetsAreSaved}`);
});

/** The connection for the provider, which needs it only to encrypt URLs. */
export function connectionFor(encryptFor: unknown, { host, port, tls, username }: ConnectionArgs) {
  return encryptFor === undefined ? {} : { connection: { host, port, tls, username } };
}

/** The names of the arguments of a connection. */
export const connectionArguments: NamesOf<ConnectionArgs> = { host: true, port: true, tls: true, username: true };

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
   * @default `default`; an empty text leaves it out of the URL
   */
  username?: pulumi.Input<string> | undefined;
}
