import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "./answers";
import { type Databases } from "./databases";

/** Whether a reset answers the new credentials: `never` is the document's shape, `always` an older public one. */
export type CredentialsInAnswer = "never" | "always";

// The second path is how public platforms of this kind name the first.
const resetPaths = ["/v2/keyvalue/reset-password/:id", "/v2/redis/reset-password/:id"];

/** The management interface (section 4.1). */
export function addDatabaseRoutes(
  app: Hono<Env>,
  databases: Databases,
  credentialsInAnswer: CredentialsInAnswer,
): void {
  app.on("POST", resetPaths, async (c) => {
    const id = pathParameter(c, "id");
    const database = await databases.resetPassword(id).catch((error: Error) => error);
    if (database instanceof Error) {
      return refusal(503, "redis", `${database.message}; the password of ${JSON.stringify(id)} is unchanged`);
    }
    if (database === undefined) {
      return refusal(404, "id", `there is no database ${JSON.stringify(id)}`);
    }
    const { record, password, restToken, readOnlyRestToken } = database;
    const credentials = { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
    return json(credentialsInAnswer === "always" ? { ...credentials, ...record } : record);
  });
  allowOnly(app, ["POST"], resetPaths);
}
