import { type Hono } from "hono";
import { allowOnly, type Env, json } from "../answers";
import { Refused } from "../refused";
import { type QueueEvent } from "./events";
import { type MessageQueue } from "./messageQueue";
import { whole } from "./values";

/** Most events of one answer, and as many as there are where no `count` is given. */
const mostEvents = 1_000;
const filters = ["messageId", "state", "url", "flowControlKey", "queueName", "scheduleId", "label"] as const;

/** What happened to messages, the newest first. */
export function addEventRoutes(app: Hono<Env>, queue: MessageQueue): void {
  app.get("/v2/events", (c) => {
    const query = (name: string) => {
      const text = c.req.query(name);
      return text === undefined ? undefined : whole(name, text);
    };
    const count = query("count") ?? mostEvents;
    if (count < 1 || count > mostEvents) {
      throw new Refused("count", `must be from 1 to ${mostEvents}`);
    }
    const fromDate = query("fromDate") ?? 0;
    const toDate = query("toDate") ?? Infinity;
    const wanted = filters.flatMap((name) => {
      const values = c.req.queries(name);
      return values === undefined ? [] : [{ name, values }];
    });
    const isWanted = (event: QueueEvent) =>
      event.time >= fromDate &&
      event.time <= toDate &&
      wanted.every(({ name, values }) => values.includes(event[name] ?? ""));
    return json(queue.events.page(isWanted, count, queue.now, query("cursor")));
  });

  allowOnly(app, ["GET"], ["/v2/events"]);
}
