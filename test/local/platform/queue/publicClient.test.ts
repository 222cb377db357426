import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { queue } from "../client";
import { type Delivery, Destination } from "./destination";

describe("local platform: a public client, unmodified", () => {
  let platform: Platform;
  let destination: Destination;
  let client: Client;
  let url: string;
  beforeEach(async () => {
    destination = await new Destination().start();
    ({ url } = destination);
    platform = await startPlatform({ flowControlKeys: [] });
    client = new Client({ baseUrl: platform.url, token: platform.queueToken, retry: false });
  });
  afterEach(async () => {
    await platform.close();
    await destination.close();
  });

  const flowControl = { key: "orders", parallelism: 2, rate: 3, period: "1d" } as const;

  it("publishes, and the message arrives unchanged", async () => {
    const path = "/a%20b//c?x=1&y=%2F";
    const headers = { "X-Custom": "1", "Content-Type": "text/plain" };
    const { messageId } = await client.publish({ url: url + path, method: "PUT", headers, body: "größe" });
    await destination.arrived(1);
    const [{ method, path: target, body, headers: received }] = destination.deliveries as [Delivery];
    assert.deepEqual({ method, target, body }, { method: "PUT", target: path, body: "größe" });
    const { "x-custom": custom, "content-type": type, "upstash-message-id": id, authorization } = received;
    assert.deepEqual({ custom, type, id }, { custom: "1", type: "text/plain", id: messageId });
    assert.equal(authorization, undefined, "the queue's token is not for destinations");
  });

  it("publishes JSON with a callback, and a batch", async () => {
    await client.publishJSON({ url, body: { a: 1 }, callback: `${url}/callback`, retries: 0 });
    await destination.arrived(2);
    assert.equal(destination.bodies[0], '{"a":1}');
    assert.equal(destination.deliveries[1]?.path, "/callback");
    const accepted = await client.batchJSON([
      { url: `${url}/1`, body: 1, flowControl },
      { url: `${url}/2`, body: 2, queueName: "q", headers: { "X-Custom": "2" } },
    ]);
    assert.equal(accepted.length, 2);
    await destination.arrived(4);
    const batch = destination.deliveries
      .slice(2)
      .map(({ path, body, headers }) => `${path} ${body} ${String(headers["x-custom"])}`);
    assert.deepEqual(batch.sort(), ["/1 1 undefined", "/2 2 2"]);
  });

  it("reads, pauses, resumes, pins, unpins and resets the rate of a flow-control key", async () => {
    const record = () => client.flowControl.get("orders");
    const limits = { parallelismMax: 2, rateMax: 3, ratePeriod: 86_400 };
    const unpinned = { isPinnedParallelism: false, isPinnedRate: false };
    const key = { flowControlKey: "orders", ...limits, ...unpinned, parallelismCount: 0, rateCount: 0 };
    await client.flowControl.pause("orders");
    await client.batch(Array.from({ length: 9 }, () => ({ url, body: "x", flowControl })));
    assert.deepEqual(await record(), { ...key, waitListSize: 9, isPaused: true });
    await client.flowControl.resume("orders");
    await destination.arrived(3);
    const { rateCount, isPaused } = await record();
    assert.deepEqual({ rateCount, isPaused }, { rateCount: 3, isPaused: false });
    await client.flowControl.resetRate("orders");
    await destination.arrived(6);
    await client.flowControl.pin("orders", { parallelism: 5, rate: 1, period: 60 });
    await destination.arrived(7);
    const { parallelismMax, rateMax, ratePeriod, isPinnedParallelism, isPinnedRate } = await record();
    assert.deepEqual({ parallelismMax, rateMax, ratePeriod }, { parallelismMax: 5, rateMax: 1, ratePeriod: 60 });
    assert.deepEqual({ isPinnedParallelism, isPinnedRate }, { isPinnedParallelism: true, isPinnedRate: true });
    await client.flowControl.unpin("orders", { parallelism: true });
    const partly = await record();
    assert.deepEqual([partly.isPinnedParallelism, partly.isPinnedRate], [false, true]);
    await client.flowControl.unpin("orders", { parallelism: true, rate: true });
    assert.equal((await record()).isPinnedRate, false);
  });

  it("reads numbers and flags, also of what is 0 and false", async () => {
    assert.deepEqual(await client.flowControl.getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 0 });
    const silent = await new Destination(() => {}).start();
    const { messageId } = await client.publish({ url: silent.url, body: "x", flowControl });
    await silent.arrived(1);
    await client.flowControl.pause("orders");
    await client.flowControl.resetRate("orders");
    const { waitListSize, parallelismCount, rateCount } = await client.flowControl.get("orders");
    assert.deepEqual(
      { waitListSize, parallelismCount, rateCount },
      { waitListSize: 0, parallelismCount: 1, rateCount: 0 },
    );
    assert.deepEqual(await client.flowControl.getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 1 });
    await client.messages.cancel(messageId);
    await assert.rejects(client.messages.cancel(messageId), /messageId: message .* does not exist/);
    await silent.close();
  });

  it("makes, reads, pauses, resumes, fills and deletes a queue", async () => {
    const jobs = client.queue({ queueName: "jobs" });
    await jobs.upsert({ parallelism: 1, paused: true });
    for (const body of ["a", "b", "c"]) await jobs.enqueue({ url, body });
    const { name, parallelism, lag, paused } = await jobs.get();
    assert.deepEqual({ name, parallelism, lag, paused }, { name: "jobs", parallelism: 1, lag: 3, paused: true });
    await jobs.resume();
    await destination.arrived(3);
    assert.deepEqual(destination.bodies, ["a", "b", "c"]);
    await jobs.pause();
    const [only, ...others] = await jobs.list();
    assert.deepEqual({ paused: only?.paused, others }, { paused: true, others: [] });
    await jobs.delete();
    await assert.rejects(jobs.get(), /queueName: queue .* does not exist/);
  });

  it("makes, reads, pauses, resumes and deletes schedules, which run", async () => {
    const { scheduleId } = await client.schedules.create({ destination: url, cron: "* * * * * *", body: "tick" });
    await destination.arrived(1);
    await client.schedules.pause({ schedule: scheduleId });
    assert.equal((await client.schedules.get(scheduleId)).isPaused, true);
    await client.schedules.resume({ schedule: scheduleId });
    for (const [action, isPaused] of [
      ["pause", true],
      ["resume", false],
    ] as const) {
      // The description has POST, and the client sends PATCH.
      assert.equal((await queue(platform, "POST", `/schedules/${scheduleId}/${action}`)).status, 200);
      assert.equal((await client.schedules.get(scheduleId)).isPaused, isPaused);
    }
    const nightlyId = "nightly-1.0_x";
    await client.schedules.create({ scheduleId: nightlyId, destination: url, cron: "0 4 * * *", flowControl });
    const { flowControlKey, parallelism, rate, period } = await client.schedules.get(nightlyId);
    const limits = { flowControlKey: "orders", parallelism: 2, rate: 3, period: 86_400 };
    assert.deepEqual({ flowControlKey, parallelism, rate, period }, limits);
    await client.schedules.delete(scheduleId);
    const [left, ...others] = await client.schedules.list();
    assert.deepEqual({ scheduleId: left?.scheduleId, others }, { scheduleId: nightlyId, others: [] });
    assert.equal(destination.bodies[0], "tick");
  });

  it("lists events in pages", async () => {
    const { messageId } = await client.publish({ url, body: "x", label: "l" });
    await client.publish({ url, body: "y" });
    assert.ok((await client.events()).events.length >= 2);
    const states = async () => (await client.logs({ filter: { messageId } })).logs.map(({ state }) => state);
    while ((await states()).length < 3) await destination.arrived(1);
    assert.deepEqual(await states(), ["DELIVERED", "ACTIVE", "CREATED"]);
    const first = await client.logs({ filter: { label: "l" }, count: 2 });
    const second = await client.logs({ filter: { label: "l" }, count: 2, cursor: first.cursor! });
    const pages = [first, second].map(({ logs, cursor }) => ({ length: logs.length, isLast: cursor === undefined }));
    assert.deepEqual(pages, [
      { length: 2, isLast: false },
      { length: 1, isLast: true },
    ]);
  });
});
