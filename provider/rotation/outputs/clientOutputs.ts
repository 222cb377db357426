import { addressOf, type ClientEndpoint, type Credential, hostInUrl } from "../../domain/endpoint";
import { type Subject } from "../../domain/secretKind";
import { type DatabaseRecord } from "../../records/database";
import { orUndefined } from "../../records/fields";
import { type Run } from "../../run/run";
import { type Access, type AccessCredential } from "../program/access";
import { knownCredential } from "../plan/compare";
import { endpointOf, restConnection, usernameFor } from "../program/databaseEndpoint";
import { validFormers } from "../program/formers";
import { type Connection, type KnownCredential } from "../memory/memory";
import { type State } from "../memory/state";

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
  const formers = validFormers(memory);
  return {
    ...access,
    current: current && { ...accessCredential(current, subject), value: state[current.name] },
    former: former && accessCredential(former, subject),
    retire: formers.length > 0 ? { formers, currentHash: memory.kindFacts.hash } : undefined,
  };
}

/** Where the credentials of a secret are tried. */
function placeOf(
  subject: Subject,
  state: State,
  run: Run,
): Pick<Access, "record" | "connection" | "restUrl"> {
  const { memory, record } = state;
  if (subject.kind.shape === "redis") return { connection: memory.kindFacts.server?.endpoint };
  if (!subject.kind.connects) return { restUrl: urlsOf(subject, state, run).restUrl };
  const { endpoint, port, tls } = record ?? {};
  const { connection } = memory.program;
  const { username: _ofCredential, ...place } = connection ?? {};
  return {
    record: record && ({ endpoint, port, tls } as DatabaseRecord),
    connection: connection && place,
  };
}

function accessCredential(
  { name, mark, username }: KnownCredential,
  { kind, id }: Subject,
): AccessCredential {
  // That of a Redis user, or of the user that the program sets for a database, if it sets one.
  const ofDatabase = username && usernameFor({ databaseId: id }, { username });
  const ofPassword = kind.shape === "redis" ? id : ofDatabase;
  return {
    // The identities of all kinds that can be tried are such names.
    name: name as Credential["name"],
    mark,
    ...(name === "password" && ofPassword !== undefined && { username: ofPassword }),
  };
}

/**
 * The URLs with which the credentials of a state are used, as far as they are known. Those of a database or a user are
 * secret: the one for clients of Redis, and that of the REST interface, which has the port of HTTPS.
 */
export function urlsOf({ kind, id }: Subject, state: State, { options }: Run): Urls {
  const { settings } = options;
  const { record = {}, memory } = state;
  if (kind.shape === "redis") {
    // Where its administrator connects, unless the program sets another address.
    const { endpoint } = memory.kindFacts.server ?? {};
    if (!endpoint) return {};
    const server = { databaseId: "", record: { ...endpoint, endpoint: endpoint.host } };
    // Nothing else than its clients connects there, so that it may be without TLS.
    const endpointFor = ({ tls, ...given }: Connection) => {
      const secure = endpointOf(server, given, undefined);
      return { ...secure, tls: tls ?? secure.tls };
    };
    return urlsAt(endpointFor, id, state);
  }
  if (!kind.connects) return { restUrl: kind.restUrl?.(record, settings.preset?.indexHost) };
  const database = { databaseId: id, record };
  const username = usernameFor(database, memory.program.connection ?? {});
  return urlsAt((given) => endpointOf(database, given, settings.databaseHost), username, state);
}

interface Urls {
  readonly connectionUrl?: string | undefined;
  readonly restUrl?: string | undefined;
}

function urlsAt(
  endpointFor: (connection: Connection) => ClientEndpoint,
  username: string,
  { memory, password, restToken }: State,
): Urls {
  const { connection = {} } = memory.program;
  const at = (given: Connection) => orUndefined(() => endpointFor(given));
  const endpoint = password === undefined ? undefined : at(connection);
  const rest = restToken === undefined ? undefined : at(restConnection(connection));
  return {
    connectionUrl: endpoint && connectionUrl(endpoint, username, password ?? ""),
    restUrl: rest && `https://${hostInUrl(rest.host)}`,
  };
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
