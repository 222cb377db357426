import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { RequestQueue } from "../../../provider/platform/http";
import { PlatformClient } from "../../../provider/run/platformClient";
import { Settings } from "../../../provider/settings/settings";

describe("platform: request queue", () => {
  it("of a caller runs as many at a time as rekey:maxConcurrency allows", async () => {
    const settings = new Settings(() => undefined, { REKEY_MAX_CONCURRENCY: "2" });
    const queue = new PlatformClient(settings).queueWithin();
    let [running, most] = [0, 0];
    const task = async () => {
      most = Math.max(most, ++running);
      await wait(5);
      running--;
    };
    await Promise.all([1, 2, 3, 4].map(() => queue.run(task)));
    assert.equal(most, 2);
  });

  it("runs retries before first attempts", async () => {
    const queue = new RequestQueue(1);
    const started: string[] = [];
    const run = (name: string, isRetry: boolean) => queue.run(async () => void started.push(name), { isRetry });
    await Promise.all([run("first", false), run("later", false), run("again", true)]);
    assert.deepEqual(started, ["first", "again", "later"]);
  });

  it("starts no more than the allowed number of tasks a second", async () => {
    const queue = new RequestQueue(8, 50);
    const before = performance.now();
    const starts = await Promise.all([0, 1, 2, 3].map(() => queue.run(async () => performance.now() - before)));
    // 20 ms apart, however late the first of them is. Timers are exact to a millisecond.
    for (const [index, start] of starts.entries()) assert.ok(start >= 18 * index, starts.join());
  });

  it("starts no task during a pause; the longest pause counts", async () => {
    const queue = new RequestQueue(8);
    const before = performance.now();
    queue.pauseFor(80);
    queue.pauseFor(10);
    const started = await queue.run(async () => performance.now(), { isRetry: true });
    assert.ok(started - before >= 79, `${started - before}`);
  });

  it("starts tasks although the clock is set back by an hour, after a pause and with a number a second", async () => {
    const { now } = Date;
    const ran = (queue: RequestQueue) =>
      Promise.race([queue.run(async () => "ran"), wait(60_000, "hangs", { ref: false })]);
    const paused = new RequestQueue(8);
    const limited = new RequestQueue(8, 50);
    assert.equal(await ran(limited), "ran");
    paused.pauseFor(10);
    try {
      Date.now = () => now() - 3_600_000;
      assert.deepEqual(await Promise.all([ran(paused), ran(limited), ran(limited)]), ["ran", "ran", "ran"]);
    } finally {
      Date.now = now;
    }
  });
});
