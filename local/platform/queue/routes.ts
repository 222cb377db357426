import { type Hono } from "hono";
import { type Env } from "../responses";
import { addEventRoutes } from "./eventRoutes";
import { type MessageQueue } from "./messageQueue";
import { addPublishRoutes } from "./publishRoutes";
import { addQueueRoutes } from "./queueRoutes";
import { addScheduleRoutes } from "./scheduleRoutes";
import { type Destinations } from "./values";

/**
 * Publishing, queues, schedules and events, which are not part of the interface, as the public platform offers them.
 */
export function addMessageRoutes(app: Hono<Env>, queue: MessageQueue, destinations: Destinations): void {
  addPublishRoutes(app, queue, destinations);
  addQueueRoutes(app, queue);
  addScheduleRoutes(app, queue, destinations);
  addEventRoutes(app, queue);
}
