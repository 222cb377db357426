import { type Hono } from "hono";
import { type CredentialDelivery, isInRead, isInReset } from "./credentialDelivery";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { type Database, type Databases } from "./databases";

const listPath = "/v2/redis/databases";
// The second path is the one of the public platform.
const resetPaths = ["/v2/keyvalue/reset-password/:id", "/v2/redis/reset-password/:id"];

/**
 * The management interface.
 *
 * @param databasePath path of the operation that reads a database. Without it, the operation does not exist.
 * @see docs/interface.md#reset-a-password
 */
export function addDatabaseRoutes(
  app: Hono<Env>,
  databases: Databases,
  delivery: CredentialDelivery,
  databasePath: string | undefined,
): void {
  const sent = (database: Database, withCredentials: boolean) => ({
    ...(withCredentials && credentialsOf(database)),
    ...database.record,
  });
  const unknown = (id: string) => refusal(404, "id", `database ${JSON.stringify(id)} does not exist`);

  app.on("POST", resetPaths, async (c) => {
    const id = pathParameter(c, "id");
    const database = await databases.resetPassword(id, c.get("fault")).catch((error: Error) => error);
    if (database instanceof Error) {
      return refusal(503, "redis", `${database.message}; the password of ${JSON.stringify(id)} is unchanged`);
    }
    if (database === undefined) {
      return unknown(id);
    }
    return json(sent(database, isInReset(delivery)));
  });

  app.get(listPath, () => json([...databases.all.keys()].map((id) => sent(databases.read(id)!, isInRead(delivery)))));

  if (databasePath !== undefined) {
    const path = databasePath.replace("{id}", ":id");
    app.get(path, (c) => {
      const id = pathParameter(c, "id");
      const database = databases.read(id);
      if (database === undefined) {
        return unknown(id);
      }
      return json(sent(database, isInRead(delivery) && c.req.query("credentials") !== "hide"));
    });
    allowOnly(app, ["GET"], [path]);
  }
  allowOnly(app, ["GET"], [listPath]);
  allowOnly(app, ["POST"], resetPaths);
}

function credentialsOf({ password, restToken, readOnlyRestToken }: Database) {
  return { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
}
