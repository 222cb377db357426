import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { assertFields } from "../../../support/results";
import { type Delivery, Destination } from "./destination";

describe("Local platform: a public client, unmodified", () => {
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
    const expected = { "x-custom": "1", "content-type": "text/plain", "upstash-message-id": messageId };
    assertFields(received, { ...expected, authorization: undefined });
  });

  it("publishes with a callback, a batch, and to a queue", async () => {
    await client.publishJSON({ url, body: { a: 1 }, callback: `${url}/callback`, retries: 0 });
    await destination.arrived(2);
    assert.deepEqual([destination.bodies[0], destination.deliveries[1]?.path], ['{"a":1}', "/callback"]);
    const accepted = await client.batchJSON([
      { url: `${url}/1`, body: 1, flowControl },
      { url: `${url}/2`, body: 2, queueName: "q", headers: { "X-Custom": "2" } },
    ]);
    assert.equal(accepted.length, 2);
    await destination.arrived(4);
    const batch = destination.deliveries.slice(2);
    const arrived = batch.map(({ path, body, headers }) => `${path} ${body} ${String(headers["x-custom"])}`);
    assert.deepEqual(arrived.sort(), ["/1 1 undefined", "/2 2 2"]);
    for (const body of ["a", "b", "c"]) await client.queue({ queueName: "q" }).enqueue({ url, body });
    await destination.arrived(7);
    assert.deepEqual(destination.bodies.slice(4), ["a", "b", "c"]);
  });

  it("reads, pauses, resumes, pins, unpins and resets the rate of a flow-control key", async () => {
    const record = () => client.flowControl.get("orders");
    assert.deepEqual(await client.flowControl.getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 0 });
    await client.flowControl.pause("orders");
    await client.batch(Array.from({ length: 9 }, () => ({ url, body: "x", flowControl })));
    const limits = { parallelismMax: 2, rateMax: 3, ratePeriod: 86_400 };
    assertFields(await record(), { ...limits, waitListSize: 9, parallelismCount: 0, rateCount: 0, isPaused: true });
    await client.flowControl.resume("orders");
    await destination.arrived(3);
    assertFields(await record(), { rateCount: 3, isPaused: false });
    await client.flowControl.resetRate("orders");
    await destination.arrived(6);
    await client.flowControl.pin("orders", { parallelism: 5, rate: 1, period: 60 });
    await destination.arrived(7);
    const pinned = { parallelismMax: 5, rateMax: 1, ratePeriod: 60, isPinnedParallelism: true, isPinnedRate: true };
    assertFields(await record(), pinned);
    await client.flowControl.unpin("orders", { parallelism: true });
    assertFields(await record(), { isPinnedParallelism: false, isPinnedRate: true });
    await client.flowControl.unpin("orders", { parallelism: true, rate: true });
    assertFields(await record(), { isPinnedParallelism: false, isPinnedRate: false });
  });

  it("cancels a message that waits, and then knows no such message", async () => {
    await client.flowControl.pause("orders");
    const { messageId } = await client.publish({ url, body: "x", flowControl });
    assert.deepEqual(await client.messages.cancel(messageId), { cancelled: 1 });
    await client.flowControl.resume("orders");
    assertFields(await client.flowControl.get("orders"), { waitListSize: 0, parallelismCount: 0 });
    await assert.rejects(client.messages.delete(messageId), /messageId: message .* is unknown, delivered or canceled/);
    assert.deepEqual(destination.deliveries, []);
  });

  it("lists events in pages", async () => {
    const { messageId } = await client.publish({ url, body: "x", label: "l" });
    await client.publish({ url, body: "y" });
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
