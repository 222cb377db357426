import { type Hono } from "hono";
import { allowOnly, type Env, json } from "./responses";
import { type Databases } from "./databases";
import { redisUser } from "./redis";
import { type PlatformSeed } from "./options";

/**
 * Paths that only a local platform has, for tests and for `platform save`. They need the credentials of the management
 * interface.
 */
export function addInspectionRoutes(app: Hono<Env>, databases: Databases, state: () => PlatformSeed): void {
  app.get("/local/databases", () =>
    json(
      [...databases.all].map(([id, { resets, generation, lastResetAt, redisUrl }]) => {
        return { id, resets, generation, lastResetAt, ...(redisUrl && { redisUser: redisUser(id) }) };
      }),
    ),
  );
  // Includes all passwords: a platform that is started with the state must accept the same ones.
  app.get("/local/state", () => json(state()));
  allowOnly(app, ["GET"], ["/local/databases", "/local/state"]);
}
