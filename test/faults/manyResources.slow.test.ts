import assert from "node:assert/strict";
import { rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { testRow } from "./describeFaults";

/** The platform's window, in milliseconds. */
const window = 50;
const allowed = 10;

/** Accepts this many requests in each window, and rejects the rest with 429. */
function limiter(): () => boolean {
  let started: number[] = [];
  return () => {
    const now = performance.now();
    started = started.filter((time) => now - time < window);
    if (started.length >= allowed) return false;
    started.push(now);
    return true;
  };
}

describe("faults: many resources", () => {
  for (const { count, paced } of [
    { count: 1_000, paced: true },
    { count: 100, paced: false },
  ]) {
    const fault = `${count} resources, 10 requests a window`;
    const how = paced ? "with rekey:requestsPerSecond" : "held back by Retry-After alone";
    testRow([50, fault, "create", `all done, none lost; ${how}`], async (fixture) => {
      const perSecond = (allowed * 1000 * 0.9) / window;
      await fixture.start({
        deadlineSeconds: 60,
        settings: () => ({ maxConcurrency: 8, ...(paced && { requestsPerSecond: perSecond }) }),
      });
      const lets = limiter();
      const applied = new Map<string, number>();
      const ids = Array.from({ length: count }, (_, nth) => `db-${nth}`);
      for (const id of ids) {
        fixture.server.behave("POST", id, ({ answer }) => {
          if (!lets()) return answer(429, { "retry-after": String(Math.ceil(window / 1000)) }, "{}");
          applied.set(id, (applied.get(id) ?? 0) + 1);
          answer(200);
        });
      }
      const results = await Promise.all(ids.map((id) => fixture.host.create(rotation(id))));
      for (const result of results) expectKind("done", result);
      assert.equal(applied.size, ids.length);
      assert.ok([...applied.values()].every((times) => times === 1));
    });
  }
});
