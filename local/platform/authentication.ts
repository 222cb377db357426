import { type MiddlewareHandler } from "hono";
import { decodedSegment, type Env, refusal } from "./responses";
import { isSecret } from "./secrets";
import { type Stores, type Tokens } from "./stores";

/** The credentials of the management interface. */
export interface ManagementCredentials {
  /** User name of the management interface (Basic). */
  readonly username: string;
  /** Password of the management interface (Basic), not of a database. */
  readonly password: string;
}

/** One of the two authentication schemes. @see docs/interface.md#authentication */
export interface Scheme {
  readonly name: "Basic" | "Bearer";
  /** The expected header, for error messages. */
  readonly expected: string;
  accepts(authorization: string | undefined, method: string): boolean;
}

/**
 * The scheme of a path: Basic for the management interface and the local platform's own paths, Bearer for the queue and
 * the REST interface of an index, none for other paths.
 *
 * @param databasePath path of an operation of the management interface that may be anywhere, with `{id}`
 */
export function schemes(
  { username, password }: ManagementCredentials,
  stores: Stores,
  databasePath?: string,
): (path: string) => Scheme | undefined {
  const encoded = Buffer.from(`${username}:${password}`).toString("base64");
  const basic = scheme("Basic", "username:password in base64", (given) => isSecret(given, encoded));
  const queue = scheme("Bearer", "token", (token, isRead) =>
    isOneOf(stores.queueUsers.accepted(stores.queueUserId), token, isRead),
  );
  const pattern = databasePath?.replaceAll(".", "\\.").replace("{id}", "[^/]+");
  const management = new RegExp(
    `^/(v2/(keyvalue|redis|vector|search|qstash)|local)(/|$)${pattern === undefined ? "" : `|^${pattern}$`}`,
  );
  return (path) => (management.test(path) ? basic : path.startsWith("/v2/") ? queue : indexScheme(path, stores));
}

/** The scheme of the REST interface of an index. Undefined if the path is not that of an index. */
function indexScheme(path: string, { vectorIndexes, searchIndexes }: Stores): Scheme | undefined {
  const [, kind, segment = ""] = /^\/indexes\/(vector|search)\/([^/]+)\//.exec(path) ?? [];
  const tokens = (kind === "vector" ? vectorIndexes : searchIndexes).accepted(decodedSegment(segment) ?? "");
  if (kind === undefined || tokens.length === 0) return undefined;
  // Clients read with POST, too.
  return scheme("Bearer", "token of the index", (token) => isOneOf(tokens, token, true));
}

/** Whether a token is valid. A read-only token is valid for reads alone. */
function isOneOf(accepted: readonly Tokens[], given: string, isRead: boolean): boolean {
  return accepted.some(
    ({ token, readOnlyToken }) => isSecret(given, token) || (isRead && isSecret(given, readOnlyToken)),
  );
}

/** Rejects requests without the credentials of their path. */
export function authenticate(schemeOf: (path: string) => Scheme | undefined): MiddlewareHandler<Env> {
  return async (c, next) => {
    const scheme = schemeOf(c.req.path);
    if (scheme === undefined || scheme.accepts(c.req.header("authorization"), c.req.method)) return next();
    return refusal(401, "Authorization", `missing or wrong; this path requires "${scheme.expected}"`, {
      "www-authenticate": `${scheme.name} realm="local platform"`,
    });
  };
}

function scheme(
  name: Scheme["name"],
  description: string,
  accepts: (credentials: string, isRead: boolean) => boolean,
): Scheme {
  return {
    name,
    expected: `${name} <${description}>`,
    accepts(authorization = "", method) {
      // The name of a scheme is case-insensitive (RFC 9110, section 11.1).
      const [, given, credentials] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
      const isRead = method === "GET" || method === "HEAD";
      return given?.toLowerCase() === name.toLowerCase() && accepts(credentials ?? "", isRead);
    },
  };
}
