import { type Context, type Hono } from "hono";
import { type TokenSources } from "./authentication";
import { type CredentialDelivery, isInRead, isInReset } from "./credentialDelivery";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { type TokenResource, type TokenResources } from "./tokenResources";

/** The management interface of vector indexes, search indexes and queue users. */
export function addTokenRoutes(
  app: Hono<Env>,
  { vectorIndexes, searchIndexes, queueUsers }: TokenSources,
  delivery: CredentialDelivery,
): void {
  // Whatever `delivery` is, the response to the reset of an index contains no tokens.
  const ok = () => json("OK");
  addRoutes(app, vectorIndexes, delivery, {
    list: "/v2/vector/index",
    read: "/v2/vector/index/:id",
    reset: "/v2/vector/index/:id/reset-password",
    resetResponse: ok,
  });
  addRoutes(app, searchIndexes, delivery, {
    list: "/v2/search",
    read: "/v2/search/:id",
    reset: "/v2/search/:id/reset-password",
    resetResponse: ok,
  });
  addRoutes(app, queueUsers, delivery, {
    list: "/v2/qstash/users",
    read: "/v2/qstash/user/:id",
    reset: "/v2/qstash/rotate-token/:id",
    resetResponse: (user) => json(sent(user, isInReset(delivery))),
  });
}

function addRoutes(
  app: Hono<Env>,
  resources: TokenResources,
  delivery: CredentialDelivery,
  {
    list,
    read,
    reset,
    resetResponse,
  }: { list: string; read: string; reset: string; resetResponse: (resource: TokenResource) => Response },
): void {
  const unknown = (id: string) => refusal(404, "id", `${resources.kind} ${JSON.stringify(id)} does not exist`);
  const isShown = (c: Context<Env>) => isInRead(delivery) && c.req.query("credentials") !== "hide";

  app.get(list, (c) => json([...resources.all.keys()].map((id) => sent(resources.read(id)!, isShown(c)))));

  app.get(read, (c) => {
    const id = pathParameter(c, "id");
    const resource = resources.read(id);
    return resource === undefined ? unknown(id) : json(sent(resource, isShown(c)));
  });

  app.post(reset, (c) => {
    const id = pathParameter(c, "id");
    const resource = resources.reset(id, c.get("fault"));
    return resource === undefined ? unknown(id) : resetResponse(resource);
  });

  allowOnly(app, ["GET"], [list, read]);
  allowOnly(app, ["POST"], [reset]);
}

/** The record as it is sent. */
function sent({ record, token, readOnlyToken }: TokenResource, withTokens: boolean): object {
  return { ...(withTokens && { token, read_only_token: readOnlyToken }), ...record };
}
