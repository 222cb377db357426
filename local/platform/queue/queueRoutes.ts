import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "../responses";
import { Refused } from "../refused";
import { readJson } from "./bodies";
import { type MessageQueue } from "./messageQueue";
import { entityName } from "./values";

const queuePath = "/v2/queues/:queueName";

/** Queues: ordered lists of messages, each with its own parallelism. */
export function addQueueRoutes(app: Hono<Env>, queue: MessageQueue): void {
  app.get("/v2/queues", () => json(queue.queues));

  app.post("/v2/queues", async (c) => {
    const { queueName, ...settings } = queueSettings(await readJson(c.env.incoming));
    queue.setQueue(queueName, settings);
    return json({});
  });

  app.get(queuePath, (c) => {
    const name = pathParameter(c, "queueName");
    const found = queue.queue(name);
    return found === undefined ? unknown(name) : json(found);
  });

  app.delete(queuePath, (c) => {
    const name = pathParameter(c, "queueName");
    return queue.deleteQueue(name) ? json({}) : unknown(name);
  });

  for (const action of ["pause", "resume"]) {
    app.post(`${queuePath}/${action}`, (c) => {
      const name = pathParameter(c, "queueName");
      if (queue.queue(name) === undefined) {
        return unknown(name);
      }
      queue.setQueue(name, { isPaused: action === "pause" });
      return json({});
    });
  }

  allowOnly(app, ["GET", "POST"], ["/v2/queues"]);
  allowOnly(app, ["GET", "DELETE"], [queuePath]);
  allowOnly(app, ["POST"], [`${queuePath}/pause`, `${queuePath}/resume`]);
}

function queueSettings(given: unknown): { queueName: string; parallelism?: number; isPaused?: boolean } {
  const { queueName, parallelism = 1, paused } = (given ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(parallelism) || (parallelism as number) < 1) {
    throw new Refused("parallelism", "must be an integer of at least 1");
  }
  if (paused !== undefined && typeof paused !== "boolean") {
    throw new Refused("paused", "must be true or false");
  }
  return {
    queueName: entityName("queueName", queueName),
    parallelism: parallelism as number,
    ...(paused === undefined ? {} : { isPaused: paused }),
  };
}

function unknown(name: string): Response {
  return refusal(404, "queueName", `queue ${JSON.stringify(name)} does not exist`);
}
