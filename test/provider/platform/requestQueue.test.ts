import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { RequestQueue } from "../../../provider/platform/requestQueue";
import { PlatformClient } from "../../../provider/platformClient";
import { Settings } from "../../../provider/settings/settings";

const turn = (): Promise<void> => wait(5);

describe("platform: request queue", () => {
  let started: string[];
  beforeEach(() => (started = []));

  /** Queues a task for each name; a task logs its start, and ends when it is told to. */
  function start(queue: Pick<RequestQueue, "run">, names: readonly string[], retries = [""]) {
    const tasks = names.map((name) => {
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const result = queue.run(
        () => {
          started.push(name);
          return ended.then(() => name);
        },
        { isRetry: retries.includes(name) },
      );
      return { result, end };
    });
    const endAll = (): Promise<string[]> => {
      tasks.forEach(({ end }) => end());
      return Promise.all(tasks.map(({ result }) => result));
    };
    return { tasks, endAll };
  }

  it("runs up to its limit at a time, and the next task when one has ended", async () => {
    const { tasks, endAll } = start(new RequestQueue({ maxConcurrency: 2 }), ["a", "b", "c"]);
    await turn();
    assert.deepEqual(started, ["a", "b"]);
    tasks[1]?.end();
    await turn();
    assert.deepEqual(started, ["a", "b", "c"]);
    assert.deepEqual(await endAll(), ["a", "b", "c"]);
  });

  for (const { own, ofAll, expected } of [
    { own: 2, ofAll: "3", expected: 2 },
    { own: 3, ofAll: "2", expected: 2 },
    { own: undefined, ofAll: "2", expected: 2 },
  ]) {
    it(`with a limit of ${own}, within a queue for all of ${ofAll}, runs ${expected} at a time`, async () => {
      const settings = new Settings(() => undefined, { REKEY_MAX_CONCURRENCY: ofAll });
      const { endAll } = start(new PlatformClient(settings).queueWithin(own), ["a", "b", "c", "d"]);
      await turn();
      assert.equal(started.length, expected);
      await endAll();
    });
  }

  it("runs retries before first attempts", async () => {
    const names = ["first", "later", "again"];
    await start(new RequestQueue({ maxConcurrency: 1 }), names, ["again"]).endAll();
    assert.deepEqual(started, ["first", "again", "later"]);
  });

  it("starts no more than the allowed number of tasks a second", async () => {
    const queue = new RequestQueue({ maxConcurrency: 8, requestsPerSecond: 50 });
    const before = performance.now();
    const starts = await Promise.all([0, 1, 2, 3].map(() => queue.run(async () => performance.now() - before)));
    // 20 ms apart, however late the first of them is. Timers are exact to a millisecond.
    for (const [index, start] of starts.entries()) assert.ok(start >= 18 * index, starts.join());
  });

  it("starts no task during a pause; the longest pause counts", async () => {
    const queue = new RequestQueue({ maxConcurrency: 8 });
    const before = performance.now();
    queue.pauseFor(80);
    queue.pauseFor(10);
    const started = await queue.run(async () => performance.now(), { isRetry: true });
    assert.ok(started - before >= 79, `${started - before}`);
  });

  it("starts tasks although the clock is set back by an hour, after a pause and with a number a second", async () => {
    const { now } = Date;
    const ran = (queue: RequestQueue) => Promise.race([queue.run(async () => "ran"), wait(500, "hangs")]);
    const [paused, limited] = [{}, { requestsPerSecond: 50 }].map(
      (limit) => new RequestQueue({ maxConcurrency: 8, ...limit }),
    );
    assert.ok(paused && limited);
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
