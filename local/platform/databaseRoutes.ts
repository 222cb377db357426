import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { type Databases } from "./databases";

/** Whether the response to a reset contains the new credentials. The interface specifies `never`. */
export type CredentialsInResponse = "never" | "always";

// The second path is the one of the public platform.
const resetPaths = ["/v2/keyvalue/reset-password/:id", "/v2/redis/reset-password/:id"];

/** The management interface. @see docs/interface.md#reset-a-password */
export function addDatabaseRoutes(
  app: Hono<Env>,
  databases: Databases,
  credentialsInResponse: CredentialsInResponse,
): void {
  app.on("POST", resetPaths, async (c) => {
    const id = pathParameter(c, "id");
    const database = await databases.resetPassword(id, c.get("fault")).catch((error: Error) => error);
    if (database instanceof Error) {
      return refusal(503, "redis", `${database.message}; the password of ${JSON.stringify(id)} is unchanged`);
    }
    if (database === undefined) {
      return refusal(404, "id", `database ${JSON.stringify(id)} does not exist`);
    }
    const { record, password, restToken, readOnlyRestToken } = database;
    const credentials = { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
    return json(credentialsInResponse === "always" ? { ...credentials, ...record } : record);
  });
  allowOnly(app, ["POST"], resetPaths);
}
