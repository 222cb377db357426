import { randomUUID } from "node:crypto";
import { type Context, type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal, sentTarget } from "../responses";
import { Refused } from "../refused";
import { readBody, readJson } from "./bodies";
import { type Draft, type Message } from "./messages";
import { type MessageQueue } from "./messageQueue";
import { publishSettings, type SentHeaders } from "./publishHeaders";
import { destination, entityName } from "./values";

/** Maximum size in bytes of the response to a batch. @see docs/interface.md#limits */
const mostResponseBytes = 100 * 1024 * 1024;
/** Size of what the response has for each message: `{"messageId":"msg_<36 characters>"},`. */
const bytesPerMessage = '{"messageId":"msg_00000000-0000-0000-0000-000000000000"},'.length;

/**
 * Publishing: one message, a batch, and one message to a queue. A message can be canceled. Schedules are only checked,
 * and never run.
 */
export function addPublishRoutes(app: Hono<Env>, queue: MessageQueue): void {
  app.post("/v2/publish/*", async (c) => {
    const [message] = queue.publish([await draftOf(c, "/v2/publish/")]);
    return json(accepted(message!), 201);
  });

  app.post("/v2/enqueue/:queue/*", async (c) => {
    const name = entityName("queue", pathParameter(c, "queue"));
    const draft = await draftOf(c, `/v2/enqueue/${c.req.path.split("/")[3]}/`);
    const [message] = queue.publish([{ ...draft, queue: name }]);
    return json(accepted(message!), 201);
  });

  app.post("/v2/batch", async (c) => {
    const drafts = batch(await readJson(c.env.incoming));
    return json(queue.publish(drafts).map(accepted), 201);
  });

  app.post("/v2/schedules/*", (c) => {
    const given = c.req.header("upstash-schedule-id") ?? `scd_${randomUUID()}`;
    return json({ scheduleId: entityName("Upstash-Schedule-Id", given) }, 201);
  });

  app.delete("/v2/messages/:messageId", (c) => {
    const id = pathParameter(c, "messageId");
    if (queue.cancel(id)) return json({ cancelled: 1 });
    return refusal(404, "messageId", `message ${JSON.stringify(id)} is unknown, delivered or canceled`);
  });

  allowOnly(app, ["DELETE"], ["/v2/messages/:messageId"]);
  allowOnly(app, ["POST"], ["/v2/publish/*", "/v2/enqueue/:queue/*", "/v2/batch", "/v2/schedules/*"]);
}

/** The message of a request with the destination at the end of its path. */
async function draftOf(c: Context<Env>, before: string): Promise<Draft> {
  return {
    ...publishSettings(c.env.incoming.headers as SentHeaders),
    destination: sentDestination(c, before),
    body: await readBody(c.env.incoming),
  };
}

/** The destination at the end of a path: unencoded, with its query, or percent-encoded as one segment. */
function sentDestination(c: Context<Env>, before: string): string {
  const sent = sentTarget(c.env.incoming.url ?? "/").slice(before.length);
  const isEncoded = /^https?%3a/i.test(sent);
  try {
    return destination("destination", isEncoded ? decodeURIComponent(sent) : sent);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("destination", "its percent-encoding is malformed");
  }
}

function batch(given: unknown): Draft[] {
  if (!Array.isArray(given)) throw new Refused("body", "must be an array of messages");
  if (given.length * bytesPerMessage + 1 > mostResponseBytes) {
    const problem = `has too many messages: the response would be larger than ${mostResponseBytes} bytes`;
    throw new Refused("body", problem, 413);
  }
  return given.map((message: unknown, index) => {
    try {
      return batchDraft(message);
    } catch (error) {
      throw error instanceof Refused ? error.within(`[${index}].`) : error;
    }
  });
}

function batchDraft(given: unknown): Draft {
  const { destination: to, headers = {}, body = "", queue } = (given ?? {}) as Record<string, unknown>;
  if (typeof to !== "string") throw new Refused("destination", "must be a URL");
  if (typeof body !== "string") throw new Refused("body", "must be text");
  return {
    ...publishSettings(batchHeaders(headers)),
    destination: destination("destination", to),
    body: Buffer.from(body),
    queue: queue === undefined ? undefined : entityName("queue", queue),
  };
}

function batchHeaders(given: unknown): SentHeaders {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Refused("headers", "must be an object");
  }
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") throw new Refused(`headers.${name}`, "must be text");
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value as string]));
}

function accepted({ messageId }: Message): { messageId: string } {
  return { messageId };
}
