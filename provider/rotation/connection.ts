import { InputError } from "../platform/errors";
import { hostTemplateProblem, isLoopback, isSet, portProblem } from "../records/fields";
import { type FoundSetting } from "../settings/foundSetting";

/** Where and as which user clients connect to a database, as a program sets it. */
export interface Connection {
  /** May contain `{endpoint}` and `{id}`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  /** May contain `{id}`. */
  readonly username?: string | undefined;
}

export const connectionNames = ["host", "port", "tls", "username"] as const satisfies readonly (keyof Connection)[];

/** Inputs without those that describe a connection. */
export function withoutConnection<T extends { readonly [K in keyof Connection]?: unknown }>(
  inputs: T,
): Omit<T, keyof Connection> {
  const { host, port, tls, username, ...others } = inputs;
  return others;
}

/**
 * The inputs that describe a connection, checked as far as they can be without the database. Null counts as not set.
 *
 * @param hostSetting returns `rekey:databaseHost`; left out if `host` is not known yet
 * @throws InputError if one cannot be used
 */
export function connectionIn(
  inputs: Readonly<Record<string, unknown>>,
  hostSetting?: () => FoundSetting | undefined,
): Connection {
  const names = connectionNames.filter((name) => isSet(inputs[name]));
  const connection = Object.fromEntries(names.map((name) => [name, inputs[name]])) as Connection;
  const { host, port, tls, username } = connection;
  if (host !== undefined) refuse("host", hostTemplateProblem(host));
  if (port !== undefined) refuse("port", portProblem(port));
  if (tls !== undefined && typeof tls !== "boolean") refuse("tls", "must be true or false");
  if (host !== undefined) requireTls(host, tls);
  else if (hostSetting && tls === false) requireTls(templateIn(hostSetting()), tls);
  if (username !== undefined && typeof username !== "string") refuse("username", "must be a string");
  return connection;
}

/** The host if nothing else is set. */
export const defaultDatabaseHost = "{endpoint}";

/** The host that a setting makes of any endpoint. A preset completes a short slug only. */
export function templateIn(setting: FoundSetting | undefined): string {
  return setting === undefined || setting.source === "preset" ? defaultDatabaseHost : setting.value;
}

/** @throws InputError if there is a problem with an input */
export function refuse(property: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InputError(property, problem);
}

/**
 * @param host may contain `{endpoint}` and `{id}`
 * @throws InputError if a password would travel in plain text
 */
export function requireTls(host: string, tls: boolean | undefined): void {
  if (tls !== false || canBeLoopback(host)) return;
  refuse("tls", "must not be false unless host is this machine: the password would be sent in plain text");
}

/** Whether a host with `{endpoint}` or `{id}` in it can be this machine. */
function canBeLoopback(template: string): boolean {
  return ["localhost", "1"].some((value) => isLoopback(template.replace(/\{(endpoint|id)\}/g, value)));
}
