import { type MiddlewareHandler } from "hono";
import { type Env, refusal } from "./answers";

/** Answers 429 to more requests in one second than this, with the headers that a public platform of this kind sends. */
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
      "retry-after": "1",
      "burst-ratelimit-limit": String(requestsPerSecond),
      "burst-ratelimit-remaining": "0",
      "burst-ratelimit-reset": String(now + 1),
    });
  };
}
