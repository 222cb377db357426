import {
  addressOf,
  type ClientEndpoint,
  type Credential,
  hostInUrl,
  hostProblem,
  hostWithoutBrackets,
  isLoopback,
  portProblem,
} from "../domain/endpoint";
import { InputError } from "../domain/errors";
import { type SecretKind, type Subject } from "../domain/secretKind";
import { type DatabaseRecord } from "../records/database";
import { isObject, isSet, orUndefined } from "../records/fields";
import { type Run } from "../run/run";
import { type FoundSetting } from "../settings/table";
import { knownCredential } from "./compare";
import { isDuration, oldestFormer, validFormers, validUntil } from "./formers";
import { type Connection, type Former, type KnownCredential } from "./memory";
import { type AdminInput, untilVerified } from "./program";
import { type State } from "./state";

/**
 * How one secret is verified: the output `access` of its rotation, as JSON text, and the input of a verification.
 * Neither credential is known while a reset is not confirmed.
 */
export interface Access {
  readonly id: string;
  /** Of a user: its server, in messages. */
  readonly server?: string | undefined;
  /** `name` of its kind. */
  readonly of: SecretKind["name"];
  /** Confirmed resets so far. */
  readonly count: number;
  /** The salt of the marks. */
  readonly salt: string;
  readonly current?: AccessCredential | undefined;
  /** What the last change has replaced: it must be refused by now. Its value is never saved. */
  readonly former?: AccessCredential | undefined;
  /** Set while the former one is valid: what retires it. */
  readonly retire?: AccessRetirement | undefined;
  /** Where a database is: what is known from its record, and what the program sets. */
  readonly record?: LocatedDatabase["record"];
  readonly connection?: Omit<Connection, "username"> | undefined;
  /** Where an index is. */
  readonly restUrl?: string | undefined;
  /** Of a queue user: the address of its queue, if the program sets it. */
  readonly queueUrl?: string | undefined;
  /** Of a user: its administrator, in the form in which the program gives it. */
  readonly admin?: AdminInput | undefined;
}

const parts: readonly string[] = ["current", "former", "retire", "record", "connection"];

/** A value as an `access`, in which null counts as not set; undefined if it is something else. */
export function accessIn(given: unknown): Access | undefined {
  if (!isObject(given) || typeof given["id"] !== "string" || typeof given["of"] !== "string") {
    return undefined;
  }
  const known = Object.entries(given).filter(([, value]) => isSet(value));
  const isWrong = known.some(([name, value]) => parts.includes(name) && !isObject(value));
  return isWrong ? undefined : (Object.fromEntries(known) as unknown as Access);
}

/** What a verification needs to retire the former secret, and to report about it. */
export interface AccessRetirement {
  /** Those that are valid, with what retires them. */
  readonly formers: readonly Former[];
  /** Since when the first of them was to be replaced (ISO 8601, UTC). */
  readonly since: string;
  /** If `overlap` is a duration: until when the former one is valid (ISO 8601, UTC). */
  readonly until?: string | undefined;
  /** Whether it must not wait: a date has asked for it, or its time is over. */
  readonly isUrgent?: true | undefined;
}

/** A credential that is known by its mark, with its value if the rotation saves it. */
export interface AccessCredential extends Omit<Credential, "value"> {
  readonly mark: string;
  readonly value?: string | undefined;
}

export interface LocatedDatabase {
  readonly databaseId: string;
  readonly record?: Pick<DatabaseRecord, "endpoint" | "port" | "tls"> | undefined;
}

/** The output `access`; undefined for signing keys, which cannot be tried: a read proves them. */
export function accessOf(subject: Subject, state: State, run: Run): Access | undefined {
  const { kind, id } = subject;
  if (kind.shape === "rolls") return undefined;
  const { memory, rotationCount } = state;
  const access: Access = {
    id,
    server: subject.server,
    of: kind.name,
    count: rotationCount,
    salt: memory.salt,
    ...placeOf(subject, state, run),
    queueUrl: memory.program.queueUrl,
    admin: state.admin?.given,
  };
  // After an unconfirmed reset, the saved credentials are the old ones, which may be invalid.
  if (memory.attempt && !memory.attempt.adds) return access;
  const current = knownCredential(kind, memory.current.marks, memory.program);
  const former = memory.formers.at(-1)?.credential;
  return {
    ...access,
    current: current && { ...accessCredential(current, subject), value: state[current.name] },
    former: former && accessCredential(former, subject),
    retire: accessRetirement(validFormers(memory)),
  };
}

function accessRetirement(formers: readonly Former[]): AccessRetirement | undefined {
  const oldest = oldestFormer({ formers });
  if (oldest === undefined) return undefined;
  const isUrgent = formers.some(({ lasts }) => lasts !== untilVerified && !isDuration(lasts));
  return {
    formers,
    since: oldest.since,
    until: validUntil(oldest),
    isUrgent: isUrgent || undefined,
  };
}

/** Where the credentials of a secret are tried. */
function placeOf(
  subject: Subject,
  state: State,
  run: Run,
): Pick<Access, "record" | "connection" | "restUrl"> {
  if (subject.kind.shape === "redis") return { connection: state.admin?.endpoint };
  if (!subject.kind.connects) return { restUrl: urlsOf(subject, state, run).restUrl };
  const { memory, record } = state;
  const { endpoint, port, tls } = record ?? {};
  const { connection } = memory.program;
  const { username: _ofCredential, ...place } = connection ?? {};
  return {
    record: record && ({ endpoint, port, tls } as DatabaseRecord),
    connection: connection && place,
  };
}

function accessCredential(known: KnownCredential, subject: Subject): AccessCredential {
  const { name, mark } = known;
  const { kind, id } = subject;
  // That of a Redis user, or of the user that the program sets for a database, if it sets one.
  const ofDatabase = known.username && usernameFor({ databaseId: id }, known);
  const ofPassword = kind.shape === "redis" ? id : ofDatabase;
  const username = name === "password" ? ofPassword : undefined;
  return {
    // The identities of all kinds that can be tried are such names.
    name: name as Credential["name"],
    mark,
    ...(username !== undefined && { username }),
  };
}

/**
 * The URLs with which the credentials of a state are used, as far as they are known. Those of a database are secret:
 * the one for clients of Redis, and that of the REST interface, which has the port of HTTPS.
 */
export function urlsOf({ kind, id }: Subject, state: State, { options }: Run) {
  const { settings } = options;
  const { record = {}, memory, password, restToken } = state;
  if (kind.shape === "redis") return urlsOfUser(id, state);
  if (!kind.connects) {
    return {
      connectionUrl: undefined,
      restUrl: kind.restUrl?.(record, settings.preset?.indexHost),
    };
  }
  const { connection = {} } = memory.program;
  const at = (given: Connection) =>
    orUndefined(() => endpointOf({ databaseId: id, record }, given, settings.databaseHost));
  const endpoint = password === undefined ? undefined : at(connection);
  const rest = restToken === undefined ? undefined : at(restConnection(connection));
  return {
    connectionUrl:
      endpoint &&
      connectionUrl(endpoint, usernameFor({ databaseId: id }, connection), password ?? ""),
    restUrl: rest && `https://${hostInUrl(rest.host)}`,
  };
}

/** Where clients of a Redis user connect: where its administrator does, unless the program sets another address. */
function urlsOfUser(userName: string, { admin, memory, password, restToken }: State) {
  if (!admin?.endpoint) return {};
  const { host, port, tls } = admin.endpoint;
  const server = { databaseId: "", record: { endpoint: host, port, tls } };
  const at = orUndefined(() => endpointOf(server, memory.program.connection ?? {}, undefined));
  return {
    connectionUrl: at && password && connectionUrl(at, userName, password),
    restUrl: at && restToken && `https://${hostInUrl(at.host)}`,
  };
}

/** The REST interface of a database has the port of HTTPS: a port that a program sets is that of Redis. */
export function restConnection({ host }: Connection): Connection {
  return { host, port: 443, tls: true };
}

/** The URL with which a client of Redis connects and authenticates. */
export function connectionUrl(
  endpoint: ClientEndpoint,
  username: string,
  password: string,
): string {
  const credentials = [username, password].map(encodeURIComponent).join(":");
  return addressOf(endpoint).replace("://", () => `://${credentials}@`);
}

/** The name of the user at a database. Default: the user that the platform creates. */
export function usernameFor({ databaseId }: LocatedDatabase, { username }: Connection): string {
  return username?.replaceAll("{id}", () => databaseId) ?? "default";
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
  if (!endpoint) {
    const needsEndpoint = template.includes("{endpoint}");
    if (needsEndpoint) {
      refuse("host", `${unknownFor(database)} Set host or rekey:databaseHost without {endpoint}`);
    }
    return template.replaceAll("{id}", () => databaseId);
  }
  // A preset completes a short slug. Other templates are used as they are written.
  const isFromPreset = given === undefined && setting?.source === "preset";
  if (isFromPreset && endpoint.includes(".")) return endpoint;
  return template.replaceAll("{id}", () => databaseId).replaceAll("{endpoint}", () => endpoint);
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
  { host, tls }: { readonly [K in keyof Connection]: unknown },
  setting: FoundSetting | undefined,
): string | undefined {
  // A preset completes a short slug only: the host of the record may be this machine.
  const template = host ?? (setting?.source === "preset" ? undefined : setting?.value);
  return typeof template === "string" && !canBeLoopback(template)
    ? tlsProblem(template, tls)
    : undefined;
}

/** Whether a host with `{endpoint}` or `{id}` in it can be this machine. */
function canBeLoopback(template: string): boolean {
  return ["localhost", "1"].some((value) =>
    isLoopback(template.replace(/\{(endpoint|id)\}/g, value)),
  );
}
