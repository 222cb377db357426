import { type Context, type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal, sentTarget } from "../responses";
import { Refused } from "../refused";
import { mostBytes, readBody, readJson } from "./bodies";
import { type Draft, type Message } from "./messages";
import { type MessageQueue } from "./messageQueue";
import { publishSettings, type SentHeaders } from "./publishHeaders";
import { destination, type Destinations, entityName } from "./values";

const messagePath = "/v2/messages/:messageId";

/** Publishing: one message, a batch, and one message to a queue. A message can be canceled. */
export function addPublishRoutes(app: Hono<Env>, queue: MessageQueue, destinations: Destinations): void {
  app.post("/v2/publish/*", async (c) => {
    const [message] = queue.publish([await draftOf(c, "/v2/publish/", destinations)]);
    return json(accepted(message!), 201);
  });

  app.post("/v2/enqueue/:queue/*", async (c) => {
    const name = pathParameter(c, "queue");
    const before = `/v2/enqueue/${c.req.path.split("/")[3]}/`;
    const draft = await draftOf(c, before, destinations);
    const [message] = queue.publish([{ ...draft, queue: entityName("queue", name) }]);
    return json(accepted(message!), 201);
  });

  app.post("/v2/batch", async (c) => {
    const drafts = batch(await readJson(c.env.incoming), destinations);
    if (responseBytes(drafts.length) > mostBytes) {
      throw new Refused("body", `has too many messages: the response would be larger than ${mostBytes} bytes`, 413);
    }
    return json(queue.publish(drafts).map(accepted), 201);
  });

  app.delete(messagePath, (c) => {
    const id = pathParameter(c, "messageId");
    return queue.cancel(id) ? json({}) : refusal(404, "messageId", `message ${JSON.stringify(id)} does not exist`);
  });

  allowOnly(app, ["POST"], ["/v2/publish/*", "/v2/enqueue/:queue/*", "/v2/batch"]);
  allowOnly(app, ["DELETE"], [messagePath]);
}

/** The message of a request with the destination at the end of its path. */
export async function draftOf(c: Context<Env>, before: string, destinations: Destinations): Promise<Draft> {
  return {
    ...publishSettings(c.env.incoming.headers as SentHeaders, destinations),
    destination: sentDestination(c, before, destinations),
    body: await readBody(c.env.incoming),
  };
}

/** The destination at the end of a path: unencoded, with its query, or percent-encoded as one segment. */
function sentDestination(c: Context<Env>, before: string, destinations: Destinations): string {
  const sent = sentTarget(c.env.incoming.url ?? "/").slice(before.length);
  const isEncoded = /^https?%3a/i.test(sent);
  try {
    return destination("destination", isEncoded ? decodeURIComponent(sent) : sent, destinations);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("destination", "its percent-encoding is malformed");
  }
}

/** Size of the response to a batch. Each message has `{"messageId":"msg_<36 characters>"}`. */
export function responseBytes(count: number): number {
  return count * '{"messageId":"msg_00000000-0000-0000-0000-000000000000"},'.length + 1;
}

function batch(given: unknown, destinations: Destinations): Draft[] {
  if (!Array.isArray(given)) {
    throw new Refused("body", "must be an array of messages");
  }
  return given.map((message: unknown, index) => {
    try {
      return batchDraft(message, destinations);
    } catch (error) {
      throw error instanceof Refused ? error.within(`[${index}].`) : error;
    }
  });
}

function batchDraft(given: unknown, destinations: Destinations): Draft {
  const { destination: to, headers = {}, body = "", queue } = (given ?? {}) as Record<string, unknown>;
  if (typeof to !== "string") {
    throw new Refused("destination", "must be a URL");
  }
  if (typeof body !== "string") {
    throw new Refused("body", "must be text");
  }
  return {
    ...publishSettings(batchHeaders(headers), destinations),
    destination: destination("destination", to, destinations),
    body: Buffer.from(body),
    queue: queue === undefined ? undefined : entityName("queue", queue),
  };
}

function batchHeaders(given: unknown): SentHeaders {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Refused("headers", "must be an object");
  }
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") {
      throw new Refused(`headers.${name}`, "must be text");
    }
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value as string]));
}

function accepted({ messageId }: Message): { messageId: string } {
  return { messageId };
}
