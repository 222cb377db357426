import { type Hono } from "hono";
import { type Env } from "../answers";
import { addEventRoutes } from "./eventRoutes";
import { type MessageQueue } from "./messageQueue";
import { addPublishRoutes } from "./publishRoutes";
import { addQueueRoutes } from "./queueRoutes";
import { addScheduleRoutes } from "./scheduleRoutes";
import { type Destinations } from "./values";

/** What makes messages move. The document leaves it out; a public platform of this kind shows it. */
export function addMessageRoutes(app: Hono<Env>, queue: MessageQueue, destinations: Destinations): void {
  addPublishRoutes(app, queue, destinations);
  addQueueRoutes(app, queue);
  addScheduleRoutes(app, queue, destinations);
  addEventRoutes(app, queue);
}
