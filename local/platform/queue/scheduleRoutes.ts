import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "../responses";
import { Refused } from "../refused";
import { type MessageQueue } from "./messageQueue";
import { draftOf } from "./publishRoutes";
import { type Schedule } from "./schedules";
import { type Destinations, entityName } from "./values";

const schedulePath = "/v2/schedules/:scheduleId";

/** Schedules: messages that are published by a cron expression. */
export function addScheduleRoutes(app: Hono<Env>, queue: MessageQueue, destinations: Destinations): void {
  app.get("/v2/schedules", () => json([...queue.schedules.values()].map(toSent)));
  // Must be registered before the path with a destination, whose pattern matches this path too.
  allowOnly(app, ["GET"], ["/v2/schedules"]);

  app.get(schedulePath, (c) => {
    const id = pathParameter(c, "scheduleId");
    const schedule = queue.schedules.get(id);
    return schedule === undefined ? unknown(id) : json(toSent(schedule));
  });

  app.delete(schedulePath, (c) => {
    const id = pathParameter(c, "scheduleId");
    return queue.deleteSchedule(id) ? json({}) : unknown(id);
  });

  for (const action of ["pause", "resume"]) {
    const path = `${schedulePath}/${action}`;
    // The public platform documents POST; its client sends PATCH.
    app.on(["POST", "PATCH"], path, (c) => {
      const id = pathParameter(c, "scheduleId");
      return queue.pauseSchedule(id, action === "pause") ? json({}) : unknown(id);
    });
    allowOnly(app, ["POST", "PATCH"], [path]);
  }

  app.post("/v2/schedules/*", async (c) => {
    const cron = c.req.header("upstash-cron");
    if (cron === undefined) {
      throw new Refused("Upstash-Cron", "is missing");
    }
    const given = c.req.header("upstash-schedule-id");
    const id = given === undefined ? undefined : entityName("Upstash-Schedule-Id", given);
    const queueName = c.req.header("upstash-queue-name");
    const draft = await draftOf(c, "/v2/schedules/", destinations);
    const queued = queueName === undefined ? draft : { ...draft, queue: entityName("Upstash-Queue-Name", queueName) };
    return json({ scheduleId: queue.addSchedule(id, cron, queued).scheduleId }, 201);
  });

  allowOnly(app, ["GET", "DELETE", "POST"], ["/v2/schedules/*"]);
}

function toSent({ scheduleId, cron, createdAt, isPaused, lastAt, nextAt, draft }: Schedule): object {
  const { flowControl } = draft;
  return {
    scheduleId,
    cron,
    createdAt,
    isPaused,
    destination: draft.destination,
    method: draft.method,
    header: Object.fromEntries(Object.entries(draft.headers).map(([name, value]) => [name, [value]])),
    body: draft.body.toString(),
    retries: draft.retries,
    delay: draft.delaySeconds,
    callback: draft.callback?.destination,
    failureCallback: draft.failureCallback?.destination,
    queueName: draft.queue,
    label: draft.label,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    period: flowControl?.period,
    lastScheduleTime: lastAt,
    nextScheduleTime: isPaused ? undefined : nextAt,
  };
}

function unknown(id: string): Response {
  return refusal(404, "scheduleId", `schedule ${JSON.stringify(id)} does not exist`);
}
