import { type Hono } from "hono";
import { allowOnly, type Env, json } from "../responses";
import { Refused } from "../refused";
import { type QueueEvent } from "./events";
import { type MessageQueue } from "./messageQueue";
import { whole } from "./values";

/** Maximum, and default, number of events in a response. */
const mostEvents = 1_000;
const filters = ["messageId", "state", "url", "flowControlKey", "queueName", "label"] as const;

/** The events of messages, newest first. */
export function addEventRoutes(app: Hono<Env>, queue: MessageQueue): void {
  app.get("/v2/events", (c) => {
    const query = (name: string) => {
      const text = c.req.query(name);
      return text === undefined ? undefined : whole(name, text);
    };
    const count = query("count") ?? mostEvents;
    if (count < 1 || count > mostEvents) throw new Refused("count", `must be from 1 to ${mostEvents}`);
    const fromDate = query("fromDate") ?? 0;
    const toDate = query("toDate") ?? Infinity;
    const conditions = filters.flatMap((name) => {
      const values = c.req.queries(name);
      return values === undefined ? [] : [{ name, values }];
    });
    const matches = (event: QueueEvent) =>
      event.time >= fromDate &&
      event.time <= toDate &&
      conditions.every(({ name, values }) => values.includes(event[name] ?? ""));
    return json(queue.events.page(matches, count, queue.now, query("cursor")));
  });

  allowOnly(app, ["GET"], ["/v2/events"]);
}
