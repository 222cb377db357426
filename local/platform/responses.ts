import { type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { routePath } from "hono/route";
import { stringify } from "lossless-json";
import { type Fault } from "./fault";
import { Refused } from "./refused";

export type Env = {
  Bindings: HttpBindings;
  Variables: {
    /** The fault that the request meets. */
    fault?: Fault;
  };
};

/**
 * A router on the unchanged request path. A URL parser would change or remove `%2F` and `..`, which may be part of a
 * key.
 */
export function router(): Hono<Env> {
  return new Hono<Env>({ getPath: (_request, options) => sentPath(options?.env?.incoming.url ?? "/") });
}

/** Path and query of a request target, which HTTP also allows in the form `http://host/path`. */
export function sentTarget(target: string): string {
  return target.replace(/^[a-z]+:\/\/[^/?]*/i, "");
}

/** The path of a request target, without the query. */
export function sentPath(target: string): string {
  return sentTarget(target).replace(/\?.*$/s, "") || "/";
}

/** A JSON response. Unlike `JSON.stringify`, it writes a bigint with all its digits. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

/** An error response in the format of the queue's clients. `field` names the wrong part of the request. */
export function refusal(status: number, field: string, problem: string, headers?: Record<string, string>): Response {
  return json({ error: `${field}: ${problem}` }, status, headers);
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Responds with 405 to every method of these paths that has no handler. Register it last. */
export function allowOnly(app: Hono<Env>, methods: readonly Method[], paths: readonly string[]): void {
  const allow = methods.map((method) => (method === "GET" ? "GET, HEAD" : method)).join(", ");
  for (const path of paths) {
    app.all(path, (c) => refusal(405, "method", `${c.req.method} is not allowed here, only ${allow}`, { allow }));
  }
}

/** A decoded path parameter. @throws Refused if its percent-encoding is malformed */
export function pathParameter(c: Context<Env>, name: string): string {
  // The router's own decoding leaves malformed text unchanged, so "%zz" and "%25zz" would be the same key.
  const sent = c.req.path.split("/")[routePath(c).split("/").indexOf(`:${name}`)] ?? "";
  const decoded = decodedSegment(sent);
  if (decoded === undefined) {
    throw new Refused(name, "its percent-encoding in the path is malformed, or is not UTF-8");
  }
  return decoded;
}

/** A decoded segment of a path. Undefined if its percent-encoding is malformed. */
export function decodedSegment(sent: string): string | undefined {
  try {
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}
