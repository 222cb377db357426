import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { type FlowControlRecord, type Platform, startPlatform } from "../../../../local/platform/index";
import { queue } from "../client";
import { Destination } from "./destination";

describe("local platform: a public client, as it is", () => {
  let platform: Platform;
  let destination: Destination;
  let client: Client;
  beforeEach(async () => {
    destination = await new Destination().start();
    platform = await startPlatform({ flowControlKeys: [] });
    client = new Client({ baseUrl: platform.url, token: platform.queueToken, retry: false });
  });
  afterEach(async () => {
    await platform.close();
    await destination.close();
  });

  const flowControl = { key: "orders", parallelism: 2, rate: 3, period: "1d" } as const;
  const record = () => client.flowControl.get("orders");

  it("publishes, and the message arrives as it was sent", async () => {
    const { messageId } = await client.publish({
      url: `${destination.url}/a%20b//c?x=1&y=%2F`,
      method: "PUT",
      headers: { "X-Custom": "1", "Content-Type": "text/plain" },
      body: "größe",
    });
    await destination.arrived(1);
    const [{ method, path, headers, body }] = destination.deliveries as [(typeof destination.deliveries)[0]];
    assert.deepEqual([method, path, body], ["PUT", "/a%20b//c?x=1&y=%2F", "größe"]);
    assert.deepEqual([headers["x-custom"], headers["content-type"]], ["1", "text/plain"]);
    assert.equal(headers["upstash-message-id"], messageId);
    assert.equal(headers.authorization, undefined, "the token of the queue is nothing for destinations");
  });

  it("publishes JSON with a callback, and a batch", async () => {
    await client.publishJSON({
      url: destination.url,
      body: { a: 1 },
      callback: `${destination.url}/callback`,
      retries: 0,
    });
    await destination.arrived(2);
    assert.deepEqual([destination.bodies[0], destination.deliveries[1]?.path], ['{"a":1}', "/callback"]);
    const accepted = await client.batchJSON([
      { url: `${destination.url}/1`, body: 1, flowControl },
      { url: `${destination.url}/2`, body: 2, queueName: "q", headers: { "X-Custom": "2" } },
    ]);
    assert.equal(accepted.length, 2);
    await destination.arrived(4);
    const batch = destination.deliveries.slice(2).sort((one, other) => (one.path < other.path ? -1 : 1));
    assert.deepEqual(
      batch.map(({ path, body, headers }) => [path, body, headers["x-custom"]]),
      [
        ["/1", "1", undefined],
        ["/2", "2", "2"],
      ],
    );
  });

  it("reads, pauses, resumes, pins, unpins and resets a flow-control key", async () => {
    await client.flowControl.pause("orders");
    await client.batch(Array.from({ length: 9 }, () => ({ url: destination.url, body: "x", flowControl })));
    assert.deepEqual(await record(), {
      flowControlKey: "orders",
      waitListSize: 9,
      parallelismMax: 2,
      rateMax: 3,
      ratePeriod: 86_400,
      isPaused: true,
    });
    await client.flowControl.resume("orders");
    await destination.arrived(3);
    const { rateCount, isPaused } = await record();
    assert.deepEqual([rateCount, isPaused], [3, undefined]);
    await client.flowControl.resetRate("orders");
    await destination.arrived(6);
    await client.flowControl.pin("orders", { parallelism: 5, rate: 1, period: 60 });
    await destination.arrived(7);
    const pinned = await record();
    assert.deepEqual(
      [pinned.parallelismMax, pinned.rateMax, pinned.ratePeriod, pinned.isPinnedParallelism, pinned.isPinnedRate],
      [5, 1, 60, true, true],
    );
    await client.flowControl.unpin("orders", { parallelism: true, rate: true });
    assert.equal((await record()).isPinnedRate, undefined);
    // The public client has no reset of both counters and no list; the document has.
    assert.equal((await queue(platform, "POST", "/flowControl/orders/reset")).status, 200);
    await destination.arrived(8);
    const listed = (await queue(platform, "GET", "/flowControl?search=rder")).body as FlowControlRecord[];
    assert.deepEqual(
      listed.map(({ flowControlKey, waitListSize, rateCount }) => [flowControlKey, waitListSize, rateCount]),
      [["orders", 1, 1]],
    );
    assert.equal(destination.deliveries.length, 8);
  });

  it("reads the global parallelism", async () => {
    assert.deepEqual(await client.flowControl.getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 0 });
  });

  it("makes, reads, pauses, resumes, fills and deletes a queue", async () => {
    const jobs = client.queue({ queueName: "jobs" });
    await jobs.upsert({ parallelism: 1, paused: true });
    for (const body of ["a", "b", "c"]) {
      await jobs.enqueue({ url: destination.url, body });
    }
    const { name, parallelism, lag, paused } = await jobs.get();
    assert.deepEqual([name, parallelism, lag, paused], ["jobs", 1, 3, true]);
    await jobs.resume();
    await destination.arrived(3);
    assert.deepEqual(destination.bodies, ["a", "b", "c"]);
    await jobs.pause();
    assert.deepEqual(
      (await jobs.list()).map(({ paused }) => paused),
      [true],
    );
    await jobs.delete();
    await assert.rejects(jobs.get(), /queueName: queue .* does not exist/);
  });

  it("makes, reads, pauses, resumes and deletes schedules, which run", async () => {
    const { scheduleId } = await client.schedules.create({
      destination: destination.url,
      cron: "* * * * * *",
      body: "tick",
    });
    await destination.arrived(1);
    await client.schedules.pause({ schedule: scheduleId });
    assert.equal((await client.schedules.get(scheduleId)).isPaused, true);
    await client.schedules.resume({ schedule: scheduleId });
    await client.schedules.create({
      scheduleId: "nightly-1.0_x",
      destination: destination.url,
      cron: "0 4 * * *",
      flowControl,
    });
    const nightly = await client.schedules.get("nightly-1.0_x");
    assert.deepEqual(
      [nightly.flowControlKey, nightly.parallelism, nightly.rate, nightly.period],
      ["orders", 2, 3, 86_400],
    );
    await client.schedules.delete(scheduleId);
    assert.deepEqual(
      (await client.schedules.list()).map((schedule) => schedule.scheduleId),
      ["nightly-1.0_x"],
    );
    assert.equal(destination.bodies[0], "tick");
  });

  it("lists events in pages", async () => {
    const { messageId } = await client.publish({ url: destination.url, body: "x", label: "l" });
    await client.publish({ url: destination.url, body: "y" });
    const { events } = await client.events();
    const all = events.length;
    assert.ok(all >= 2);
    const states = async () => {
      const { logs } = await client.logs({ filter: { messageId } });
      return logs.map(({ state }) => state);
    };
    while ((await states()).length < 3) {
      await destination.arrived(1);
    }
    assert.deepEqual(await states(), ["DELIVERED", "ACTIVE", "CREATED"]);
    const first = await client.logs({ filter: { label: "l" }, count: 2 });
    const second = await client.logs({ filter: { label: "l" }, count: 2, cursor: first.cursor! });
    assert.deepEqual(
      [first, second].map(({ logs, cursor }) => [logs.length, cursor === undefined]),
      [
        [2, false],
        [1, true],
      ],
    );
  });
});
