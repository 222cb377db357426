import { createHash, timingSafeEqual } from "node:crypto";
import { type MiddlewareHandler } from "hono";
import { type Env, refusal } from "./responses";

/** The credentials that a request must contain. */
export interface Credentials {
  /** User name of the management interface (Basic). */
  readonly username: string;
  /** Password of the management interface (Basic), not of a database. */
  readonly password: string;
  /** Token of the queue interface (Bearer). */
  readonly queueToken: string;
}

/** One of the two authentication schemes. @see docs/interface.md#authentication */
export interface Scheme {
  readonly name: "Basic" | "Bearer";
  /** The expected header, for error messages. */
  readonly expected: string;
  accepts(authorization: string | undefined): boolean;
}

/**
 * The scheme of a path: Basic for the management interface and the local platform's own paths, Bearer for the queue,
 * none for other paths.
 *
 * @param databasePath path of an operation of the management interface that may be anywhere, with `{id}`
 */
export function schemes(credentials: Credentials, databasePath?: string): (path: string) => Scheme | undefined {
  const { username, password, queueToken } = credentials;
  const basic = scheme(
    "Basic",
    Buffer.from(`${username}:${password}`).toString("base64"),
    "username:password in base64",
  );
  const bearer = scheme("Bearer", queueToken, "token");
  const pattern = databasePath?.replaceAll(".", "\\.").replace("{id}", "[^/]+");
  const management = new RegExp(`^/(v2/(keyvalue|redis)|local)/${pattern === undefined ? "" : `|^${pattern}$`}`);
  return (path) => (management.test(path) ? basic : path.startsWith("/v2/") ? bearer : undefined);
}

/** Rejects requests without the credentials of their path. */
export function authenticate(schemeOf: (path: string) => Scheme | undefined): MiddlewareHandler<Env> {
  return async (c, next) => {
    const scheme = schemeOf(c.req.path);
    if (scheme === undefined || scheme.accepts(c.req.header("authorization"))) {
      return next();
    }
    return refusal(401, "Authorization", `missing or wrong; this path requires "${scheme.expected}"`, {
      "www-authenticate": `${scheme.name} realm="local platform"`,
    });
  };
}

function scheme(name: Scheme["name"], value: string, description: string): Scheme {
  const expected = digest(value);
  return {
    name,
    expected: `${name} <${description}>`,
    accepts(authorization = "") {
      // The name of a scheme is case-insensitive (RFC 9110, section 11.1).
      const [, given, credentials] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
      const equal = timingSafeEqual(digest(credentials ?? ""), expected);
      return given?.toLowerCase() === name.toLowerCase() && equal;
    },
  };
}

// Digests have the same length, so a comparison in constant time does not reveal the length either.
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
