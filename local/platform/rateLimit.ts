import { type MiddlewareHandler } from "hono";
import { type Env, refusal } from "./responses";

/** Responds with 429 to further requests in a second, with the headers of the public platform. */
export function rateLimit(requestsPerSecond: number): MiddlewareHandler<Env> {
  let second = 0;
  let count = 0;
  return async (_c, next) => {
    const now = Math.floor(Date.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    if (count <= requestsPerSecond) {
      return next();
    }
    return refusal(429, "rate limit", `more than ${requestsPerSecond} requests in one second`, {
      "burst-ratelimit-limit": String(requestsPerSecond),
      "burst-ratelimit-remaining": "0",
      "burst-ratelimit-reset": String(now + 1),
    });
  };
}
