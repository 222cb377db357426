import { addressOf, type ClientEndpoint, hostInUrl } from "../../domain/endpoint";
import { type Subject } from "../../domain/secretKind";
import { orUndefined } from "../../records/fields";
import { type Run } from "../../run/run";
import { type Connection } from "../memory/memory";
import { type State } from "../memory/state";
import { endpointOf, restConnection, usernameFor } from "./databaseEndpoint";

/**
 * The URLs with which the credentials of a state are used, as far as they are known. Those of a database or a user are
 * secret: the one for clients of Redis, and that of the REST interface, which has the port of HTTPS.
 */
export function urlsOf({ kind, id }: Subject, state: State, { options }: Run): Urls {
  const { settings } = options;
  const { record = {}, memory } = state;
  const { endpoint } = memory.kindFacts.server ?? {};
  if (endpoint) {
    // Where its administrator connects, unless the program sets another address.
    const server = { databaseId: "", record: { ...endpoint, endpoint: endpoint.host } };
    // Nothing else than its clients connects there, so that it may be without TLS.
    const endpointFor = ({ tls, ...given }: Connection) => {
      const secure = endpointOf(server, given, undefined);
      return { ...secure, tls: tls ?? secure.tls };
    };
    return urlsAt(endpointFor, id, state);
  }
  if (kind.restUrl) return { restUrl: kind.restUrl(record, settings.preset?.indexHost) };
  const database = { databaseId: id, record };
  const username = usernameFor(id, memory.program.connection?.username);
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
