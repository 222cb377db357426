import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hono, type MiddlewareHandler } from "hono";
import { allowOnly, type Env, json } from "../answers";
import { type Credentials } from "../authentication";
import { refuseOtherHosts } from "./otherPages";
import { snapshot, type Sources } from "./snapshot";

const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };

const pageHeaders = {
  // Only what the platform itself serves, and no frame of another page around it.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const files = ["console.css", "console.js", "platform.js", "tables.js", "rows.js", "chart.js"];

/**
 * The console. Its page is for everybody, and holds nothing; its data takes the credentials of the management
 * interface. What the page reads is no request of the interface, so add these routes before those that are noted; what
 * its buttons do is.
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

/** Address that opens the console with these credentials: behind the `#`, which a browser sends to nobody. */
export function consoleUrl(url: string, { username, password, queueToken }: Credentials): string {
  return `${url}/#${new URLSearchParams({ username, password, queueToken }).toString()}`;
}

function pageFile(name: string): Response {
  const type = types[name.replace(/.*\./, "")];
  const headers = { ...pageHeaders, "content-type": `${type}; charset=utf-8` };
  return new Response(readFileSync(join(__dirname, "page", name)), { headers });
}
