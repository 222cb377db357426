import { type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { routePath } from "hono/route";
import { stringify } from "lossless-json";
import { Refused } from "./refused";

export type Env = { Bindings: HttpBindings };

/** A router over the path as it was sent: `%2F` and `..` belong to a key, and URL parsers would change or drop them. */
export function router(): Hono<Env> {
  return new Hono<Env>({ getPath: (_request, options) => sentPath(options?.env?.incoming.url ?? "/") });
}

/** Path and query of a request target; also of `http://host/path`, which HTTP allows as well. */
export function sentTarget(target: string): string {
  return target.replace(/^[a-z]+:\/\/[^/?]*/i, "");
}

/** The path of a request target, without query. */
export function sentPath(target: string): string {
  return sentTarget(target).replace(/\?.*$/s, "") || "/";
}

/** A JSON answer; unlike `JSON.stringify`, bigints are written digit for digit. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

/**
 * A refusal, in the shape the queue's clients read. `field` is what is wrong with the request (interface, section 7).
 */
export function refusal(status: number, field: string, problem: string, headers?: Record<string, string>): Response {
  return json({ error: `${field}: ${problem}` }, status, headers);
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Answers 405 to every method of these paths that has no handler of its own; register it last. */
export function allowOnly(app: Hono<Env>, methods: readonly Method[], paths: readonly string[]): void {
  const allow = methods.map((method) => (method === "GET" ? "GET, HEAD" : method)).join(", ");
  for (const path of paths) {
    app.all(path, (c) => refusal(405, "method", `${c.req.method} is not allowed here, only ${allow}`, { allow }));
  }
}

/** A path parameter, decoded. @throws Refused where its percent-encoding cannot be decoded */
export function pathParameter(c: Context<Env>, name: string): string {
  // The router's own decoding keeps what it cannot decode, so that "%zz" and "%25zz" would be one key.
  const sent = c.req.path.split("/")[routePath(c).split("/").indexOf(`:${name}`)] ?? "";
  try {
    return decodeURIComponent(sent);
  } catch {
    throw new Refused(name, "its percent-encoding in the path is malformed, or is not UTF-8");
  }
}
