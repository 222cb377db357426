import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hono, type MiddlewareHandler } from "hono";
import { allowOnly, type Env, json } from "../responses";
import { type Credentials } from "../authentication";
import { refuseOtherHosts } from "./otherPages";
import { snapshot, type Sources } from "./snapshot";

const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };

const pageHeaders = {
  // Only resources of the platform itself, and no framing by other pages.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const files = ["console.css", "console.js", "platform.js", "tables.js", "rows.js", "chart.js"];

/**
 * The console. Its page is public and contains no data; its data requires the credentials of the management interface.
 * Add these routes before the request log, which must not contain the reads of the console. The actions of its buttons
 * are ordinary requests.
 */
export function addConsoleRoutes(app: Hono<Env>, sources: Sources, authenticated: MiddlewareHandler<Env>): void {
  app.get("/", refuseOtherHosts, () => pageFile("index.html"));
  for (const file of files) {
    app.get(`/console/${file}`, refuseOtherHosts, () => pageFile(file));
  }
  app.get("/local/console", refuseOtherHosts, authenticated, (c) =>
    json(snapshot(sources, c.req.query("search") ?? ""), 200, { "cache-control": "no-store" }),
  );
  allowOnly(app, ["GET"], ["/", "/console/*", "/local/console"]);
}

/** URL that opens the console with these credentials. They are in the fragment, which a browser does not send. */
export function consoleUrl(url: string, { username, password, queueToken }: Credentials): string {
  return `${url}/#${new URLSearchParams({ username, password, queueToken }).toString()}`;
}

function pageFile(name: string): Response {
  const type = types[name.replace(/.*\./, "")];
  const headers = { ...pageHeaders, "content-type": `${type}; charset=utf-8` };
  return new Response(readFileSync(join(__dirname, "page", name)), { headers });
}
