import { type Context, type Hono } from "hono";
import { type CredentialDelivery } from "./options";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { type Credentials, type Secret, type SecretStore } from "./secretStore";
import { keysId, type Stores } from "./stores";

/** The paths of the operations on one kind of secret. Without an operation, there is no path. */
interface Paths {
  readonly list?: string;
  readonly read?: string | undefined;
  readonly resets: readonly string[];
}

/**
 * Lists, reads and resets secrets.
 *
 * @param databasePath path of the operation that reads a database. Without it, the operation does not exist.
 * @see docs/interface.md
 */
export function addSecretRoutes(
  app: Hono<Env>,
  { databases, vectorIndexes, searchIndexes, queueUsers, signingKeys }: Stores,
  delivery: CredentialDelivery,
  databasePath: string | undefined,
): void {
  add(databases, {
    list: "/v2/redis/databases",
    read: databasePath?.replace("{id}", ":id"),
    // The second path is the one of the public platform.
    resets: ["/v2/keyvalue/reset-password/:id", "/v2/redis/reset-password/:id"],
  });
  // Whatever `delivery` is, the response to the reset of an index contains no tokens.
  const ok = (): unknown => "OK";
  const index = "/v2/vector/index";
  add(vectorIndexes, { list: index, read: `${index}/:id`, resets: [`${index}/:id/reset-password`] }, ok);
  add(searchIndexes, { list: "/v2/search", read: "/v2/search/:id", resets: ["/v2/search/:id/reset-password"] }, ok);
  add(queueUsers, {
    list: "/v2/qstash/users",
    read: "/v2/qstash/user/:id",
    resets: ["/v2/qstash/rotate-token/:id"],
  });
  add(signingKeys, { read: "/v2/keys", resets: ["/v2/keys/rotate"] });

  function add<R extends object, C extends Credentials>(
    store: SecretStore<R, C>,
    { list, read, resets }: Paths,
    responseToReset = (secret: Secret<R, C>): unknown => sent(secret, delivery === "always" || delivery === "once"),
  ): void {
    const unknown = (id: string) => unknownId(store.kind, id);
    const shown = (c: Context<Env>, secret: Secret<R, C>) =>
      sent(secret, (delivery === "always" || delivery === "read") && c.req.query("credentials") !== "hide");

    app.on("POST", [...resets], async (c) => {
      const id = idIn(c);
      const secret = await store.reset(id, c.get("fault")).catch((error: Error) => error);
      if (secret instanceof Error) {
        return refusal(503, "redis", `${secret.message}; the password of ${JSON.stringify(id)} is unchanged`);
      }
      return secret === undefined ? unknown(id) : json(responseToReset(secret));
    });
    if (list !== undefined) {
      app.get(list, (c) => json([...store.all.keys()].map((id) => shown(c, store.read(id)!))));
    }
    if (read !== undefined) {
      app.get(read, (c) => {
        const secret = store.read(idIn(c));
        return secret === undefined ? unknown(idIn(c)) : json(shown(c, secret));
      });
    }
    allowOnly(
      app,
      ["GET"],
      [list, read].filter((path) => path !== undefined),
    );
    allowOnly(app, ["POST"], resets);
  }
}

/** The id in the path. The paths of the signing keys have none. */
function idIn(c: Context<Env>): string {
  return c.req.param("id") === undefined ? keysId : pathParameter(c, "id");
}

export function unknownId(kind: string, id: string): Response {
  return refusal(404, "id", `${kind} ${JSON.stringify(id)} does not exist`);
}

/** The record as it is sent: credentials in snake case, such as `rest_token`. */
export function sent<R extends object, C extends Credentials>(secret: Secret<R, C>, withCredentials: boolean): object {
  const { record, resets: _, ...credentials } = secret;
  const names = Object.entries(credentials).map(
    ([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const,
  );
  return { ...(withCredentials && Object.fromEntries(names)), ...record };
}
