import {
  type ClientEndpoint,
  hostProblem,
  hostTemplateProblem,
  hostWithoutBrackets,
  isLoopback,
  portProblem,
} from "../../domain/endpoint";
import { InputError } from "../../domain/errors";
import { type DatabaseRecord } from "../../records/database";
import { type FoundSetting } from "../../settings/table";
import { type Connection } from "../memory/memory";

export interface LocatedDatabase {
  readonly databaseId: string;
  readonly record?: Pick<DatabaseRecord, "endpoint" | "port" | "tls"> | undefined;
}

/**
 * The endpoint of a database: what the program sets, else the setting `rekey:databaseHost` and the database's record.
 * Only a loopback host is ever used without TLS.
 *
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
  refuse("tls", tlsProblem(host, given.tls));
  const tls = given.tls ?? (isLoopback(host) ? (record?.tls ?? false) : true);
  return { host: hostWithoutBrackets(host), port, tls };
}

function hostOf(
  database: LocatedDatabase,
  given: string | undefined,
  setting: FoundSetting | undefined,
): string {
  const { databaseId, record } = database;
  const endpoint = record?.endpoint;
  const template = given ?? setting?.value ?? "{endpoint}";
  refuse("host", hostTemplateProblem(template));
  if (!endpoint && template.includes("{endpoint}")) {
    refuse("host", `${unknownFor(database)} Set host or rekey:databaseHost without {endpoint}`);
  }
  // A preset completes a short slug. Other templates are used as they are written.
  const isFromPreset = given === undefined && setting?.source === "preset";
  if (isFromPreset && endpoint?.includes(".")) return endpoint;
  return template
    .replaceAll("{id}", () => databaseId)
    .replaceAll("{endpoint}", () => endpoint ?? "");
}

function unknownFor({ databaseId, record }: LocatedDatabase): string {
  const why = `${record ? "the platform's record has none" : "the platform has not shown its record"}.`;
  return `is unknown for database ${JSON.stringify(databaseId)}: ${why}`;
}

function refuse(property: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InputError(property, problem);
}

function tlsProblem(host: string, tls: unknown): string | undefined {
  if (tls !== false || isLoopback(host)) return undefined;
  return "must not be false unless host is this machine: the password would be sent in plain text";
}

/** Why a connection would be without TLS, as far as that is known without the database. */
export function plainTextProblem(
  { host, tls }: Connection = {},
  setting: FoundSetting | undefined,
): string | undefined {
  // A preset completes a short slug only: the host of the record may be this machine.
  const template = host ?? (setting?.source === "preset" ? undefined : setting?.value);
  if (typeof template !== "string") return undefined;
  // The value of {endpoint} or {id} may make it this machine.
  const canBeLoopback = ["localhost", "1"].some((value) =>
    isLoopback(template.replace(/\{(endpoint|id)\}/g, value)),
  );
  return canBeLoopback ? undefined : tlsProblem(template, tls);
}

/** The REST interface of a database has the port of HTTPS: a port that a program sets is that of Redis. */
export function restConnection({ host }: Connection): Connection {
  return { host, port: 443, tls: true };
}

/** The name of the user at a database. Default: the user that the platform creates. */
export function usernameFor(databaseId: string, username: string | undefined): string {
  return username?.replaceAll("{id}", () => databaseId) ?? "default";
}
