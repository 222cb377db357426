import { type Hono } from "hono";
import { type CredentialDelivery } from "./options";
import { readJson } from "./queue/bodies";
import { Refused } from "./refused";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { sent, unknownId } from "./secretRoutes";
import { hashOf } from "./secrets";
import { type Stores } from "./stores";

const nextPath = "/v2/qstash/next-token/:id";
const rollPath = "/v2/qstash/roll-token/:id";

/** Prepares the next tokens of a queue user, which are accepted at once, and makes them the current ones. */
export function addNextTokenRoutes(app: Hono<Env>, { queueUsers }: Stores, delivery: CredentialDelivery): void {
  app.post(nextPath, (c) => {
    const id = pathParameter(c, "id");
    const next = queueUsers.prepare(id);
    // Whatever `delivery` is: no other response contains the next tokens.
    return next === undefined
      ? unknownId(queueUsers.kind, id)
      : json({ next_token: next.token, next_read_only_token: next.readOnlyToken });
  });

  app.post(rollPath, async (c) => {
    const id = pathParameter(c, "id");
    const hash = nextTokenHash(await readJson(c.env.incoming));
    const next = queueUsers.next(id);
    const isOfNext = Object.values(next ?? {}).some((token) => hashOf(token) === hash);
    if (!isOfNext && queueUsers.read(id) !== undefined) {
      return refusal(409, "next_token_hash", "is not the SHA-256 of the next token or the next read-only token");
    }
    const user = await queueUsers.reset(id, c.get("fault"), next);
    return user === undefined
      ? unknownId(queueUsers.kind, id)
      : json(sent(user, delivery === "always" || delivery === "once"));
  });

  allowOnly(app, ["POST"], [nextPath, rollPath]);
}

function nextTokenHash(body: unknown): string {
  const { next_token_hash: hash } = (body ?? {}) as { next_token_hash?: unknown };
  if (typeof hash === "string") return hash;
  throw new Refused("next_token_hash", "is required: the SHA-256 of the next token in hexadecimal digits");
}
