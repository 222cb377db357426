import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hono } from "hono";
import { allowOnly, type Env } from "./responses";

/** The OpenAPI description of both interfaces. It needs no credentials and contains no data of this platform. */
export function addDescriptionRoutes(app: Hono<Env>): void {
  app.get("/openapi.yaml", () => {
    const description = readFileSync(join(__dirname, "openapi.yaml"), "utf8");
    return new Response(description, { headers: { "content-type": "application/yaml" } });
  });
  allowOnly(app, ["GET"], ["/openapi.yaml"]);
}
