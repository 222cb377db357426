import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { RequestQueue } from "../../../provider/api/requestQueue";
import { PlatformClient } from "../../../provider/api/platformClient";
import { Settings } from "../../../provider/settings";

/** A task that says when it began, and ends when it is told. */
function task(log: string[], name: string) {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const run = async (): Promise<string> => {
    log.push(name);
    await ended;
    return name;
  };
  return { run, end };
}

const turn = (): Promise<void> => wait(5);

describe("api: line", () => {
  it("runs as many at a time as it may, and the next when one has ended", async () => {
    const log: string[] = [];
    const line = new RequestQueue({ maxConcurrency: 2 });
    const tasks = ["a", "b", "c"].map((name) => task(log, name));
    const results = tasks.map(({ run }) => line.run(run, false));
    await turn();
    assert.deepEqual(log, ["a", "b"]);
    tasks[1]?.end();
    await turn();
    assert.deepEqual(log, ["a", "b", "c"]);
    tasks.forEach(({ end }) => end());
    assert.deepEqual(await Promise.all(results), ["a", "b", "c"]);
  });

  for (const [own, ofAll, expected] of [
    [2, "3", 2],
    [3, "2", 2],
    [undefined, "2", 2],
  ] as const) {
    it(`within the line of all, ${ofAll} wide, runs ${expected} at a time where ${own} may`, async () => {
      const log: string[] = [];
      const settings = new Settings(() => undefined, { REKEY_MAX_CONCURRENCY: ofAll });
      const line = new PlatformClient(settings).queueWithin(own);
      const tasks = ["a", "b", "c", "d"].map((name) => task(log, name));
      const results = tasks.map(({ run }) => line.run(run, false));
      await turn();
      assert.equal(log.length, expected);
      tasks.forEach(({ end }) => end());
      await Promise.all(results);
    });
  }

  it("lets what already began go before what has not", async () => {
    const log: string[] = [];
    const line = new RequestQueue({ maxConcurrency: 1 });
    const tasks = ["first", "later", "again"].map((name) => task(log, name));
    const results = tasks.map(({ run }, index) => line.run(run, index === 2));
    tasks.forEach(({ end }) => end());
    await Promise.all(results);
    assert.deepEqual(log, ["first", "again", "later"]);
  });

  it("passes a failure on, and goes on", async () => {
    const line = new RequestQueue({ maxConcurrency: 1 });
    const failing = line.run(() => Promise.reject(new Error("no")), false);
    const next = line.run(async () => "yes", false);
    await assert.rejects(failing, /^Error: no$/);
    assert.equal(await next, "yes");
  });

  it("starts so many a second and no more", async () => {
    const line = new RequestQueue({ maxConcurrency: 8, requestsPerSecond: 50 });
    const starts = await Promise.all([1, 2, 3, 4].map(() => line.run(async () => performance.now(), false)));
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    // 20 ms apart: timers are exact to a millisecond or two, and never much too early.
    assert.ok(
      gaps.every((gap) => gap > 15),
      gaps.join(),
    );
  });

  it("lets nobody start while it is to be quiet, the longest time counts", async () => {
    const line = new RequestQueue({ maxConcurrency: 8 });
    const before = performance.now();
    line.quiet(80);
    line.quiet(10);
    const started = await line.run(async () => performance.now(), true);
    assert.ok(started - before >= 79, `${started - before}`);
  });

  it("starts again though the clock was set back meanwhile", async () => {
    const line = new RequestQueue({ maxConcurrency: 8 });
    const { now } = Date;
    try {
      line.quiet(10);
      Date.now = () => now() - 3_600_000;
      assert.equal(await Promise.race([line.run(async () => "ran", false), wait(500, "hangs")]), "ran");
    } finally {
      Date.now = now;
    }
  });
});
