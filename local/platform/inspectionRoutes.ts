import { type Hono } from "hono";
import { allowOnly, type Env, json } from "./answers";
import { type Databases } from "./databases";
import { redisUser } from "./redis";
import { type PlatformSeed } from "./seed";

/**
 * What only a local platform has, for tests and for saving it. It takes the credentials of the management interface.
 */
export function addInspectionRoutes(app: Hono<Env>, databases: Databases, state: () => PlatformSeed): void {
  app.get("/local/databases", () =>
    json(
      [...databases.all].map(([id, { resets, generation, lastResetAt, redisUrl }]) => {
        return { id, resets, generation, lastResetAt, ...(redisUrl && { redisUser: redisUser(id) }) };
      }),
    ),
  );
  // With every password: without them, what is started from it would not be the same platform.
  app.get("/local/state", () => json(state()));
  allowOnly(app, ["GET"], ["/local/databases", "/local/state"]);
}
