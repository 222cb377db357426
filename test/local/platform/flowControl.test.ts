import assert from "node:assert/strict";
import {
  type FlowControlRecord,
  type Platform,
  type PlatformOptions,
  startPlatform,
} from "../../../local/platform/index";
import { queue } from "./client";

const orders: FlowControlRecord = {
  flowControlKey: "orders",
  waitListSize: 7,
  parallelismMax: 3,
  parallelismCount: 3,
  rateMax: 5,
  rateCount: 4,
  ratePeriod: 60,
  ratePeriodStart: 1_700_000_000,
};

describe("local platform: flow control", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions) => (platform = await startPlatform(options));
  afterEach(() => platform.close());

  it("lists the keys as a bare array, and reads one", async () => {
    await start({ flowControlKeys: [orders, { flowControlKey: "emails", waitListSize: 1 }] });
    const list = await queue(platform, "GET", "/flowControl");
    assert.equal(list.status, 200);
    assert.deepEqual(list.body, [orders, { flowControlKey: "emails", waitListSize: 1 }]);
    assert.deepEqual((await queue(platform, "GET", "/flowControl/orders")).body, orders);
  });

  it("leaves out counters that are 0, but no limit", async () => {
    const idle = { flowControlKey: "idle", waitListSize: 0, parallelismCount: 0, rateCount: 0, parallelismMax: 0 };
    await start({ flowControlKeys: [idle] });
    const answer = await queue(platform, "GET", "/flowControl/idle");
    assert.deepEqual(answer.body, { flowControlKey: "idle", parallelismMax: 0 });
  });

  it("searches a part of the key, as text", async () => {
    await start({ flowControlKeys: ["eu-orders", "orders-2", "emails", "a.b", "a+b", "größe"] });
    const found = async (search: string) => {
      const answer = await queue(platform, "GET", `/flowControl?search=${encodeURIComponent(search)}`);
      return (answer.body as FlowControlRecord[]).map((record) => record.flowControlKey);
    };
    assert.deepEqual(await found("orders"), ["eu-orders", "orders-2"]);
    assert.deepEqual(await found("."), ["a.b"]);
    assert.deepEqual(await found("+"), ["a+b"]);
    assert.deepEqual(await found("größe"), ["größe"]);
    assert.deepEqual(await found("ORDERS"), []);
    assert.equal((await found("")).length, 6);
  });

  it("resets both counters, begins a new period, and leaves the rest", async () => {
    await start({ flowControlKeys: [orders, "emails"] });
    const emails = platform.flowControlKeys.get("emails");
    const before = Math.floor(Date.now() / 1000);
    assert.equal((await queue(platform, "POST", "/flowControl/orders/reset")).status, 200);
    const after = platform.flowControlKeys.get("orders");
    const began = after?.ratePeriodStart ?? 0;
    assert.deepEqual(after, { ...orders, parallelismCount: 0, rateCount: 0, ratePeriodStart: began });
    assert.ok(began >= before && began <= Math.floor(Date.now() / 1000));
    assert.deepEqual(platform.flowControlKeys.get("emails"), emails);
  });

  it("delivers the waiting messages of a sample key after a reset", async () => {
    await start({ flowControlKeys: ["orders"] });
    await queue(platform, "POST", "/flowControl/orders/resetRate");
    assert.equal(platform.flowControlKeys.get("orders")?.waitListSize, 42, "the parallelism is still used up");
    await queue(platform, "POST", "/flowControl/orders/reset");
    const { waitListSize, parallelismCount, rateCount } = platform.flowControlKeys.get("orders")!;
    assert.deepEqual([waitListSize, parallelismCount, rateCount], [0, 0, 42]);
    await platform.reset();
    assert.equal(platform.flowControlKeys.get("orders")?.waitListSize, 42);
  });

  it("resets the rate alone by resetRate", async () => {
    await start({ flowControlKeys: [orders] });
    assert.equal((await queue(platform, "POST", "/flowControl/orders/resetRate")).status, 200);
    const after = platform.flowControlKeys.get("orders");
    assert.deepEqual([after?.parallelismCount, after?.rateCount], [3, 0]);
  });

  it("gives a key without a rate no period by a reset", async () => {
    await start({ flowControlKeys: [{ flowControlKey: "plain", parallelismMax: 2, parallelismCount: 2 }] });
    await queue(platform, "POST", "/flowControl/plain/reset");
    const answer = await queue(platform, "GET", "/flowControl/plain");
    assert.deepEqual(answer.body, { flowControlKey: "plain", parallelismMax: 2 });
  });

  it("answers 404 that names the parameter and the key of an unknown key", async () => {
    await start({ flowControlKeys: [] });
    const error = 'flowControlKey: flow-control key "nobody" does not exist';
    for (const [method, action] of [
      ["GET", ""],
      ["POST", "/reset"],
      ["POST", "/resetRate"],
    ] as const) {
      const answer = await queue(platform, method, `/flowControl/nobody${action}`);
      assert.deepEqual([answer.status, answer.body], [404, { error }]);
    }
    assert.deepEqual((await queue(platform, "GET", "/flowControl")).body, []);
  });

  it("sums what runs over all keys", async () => {
    await start({ flowControlKeys: [orders, { flowControlKey: "emails", parallelismCount: 4 }] });
    const answer = await queue(platform, "GET", "/globalParallelism");
    assert.deepEqual([answer.status, answer.body], [200, { parallelismMax: 100, parallelismCount: 7 }]);
  });

  it("takes a given global parallelism", async () => {
    await start({ globalParallelism: { parallelismMax: 9, parallelismCount: 8 } });
    const answer = await queue(platform, "GET", "/globalParallelism");
    assert.deepEqual(answer.body, { parallelismMax: 9, parallelismCount: 8 });
  });

  it("answers the older shapes where it is asked to", async () => {
    await start({ flowControlKeys: [orders], flowControlListShape: "object", globalParallelismShape: "old" });
    assert.deepEqual((await queue(platform, "GET", "/flowControl")).body, { flowControls: [orders] });
    assert.deepEqual((await queue(platform, "GET", "/globalParallelism")).body, { waitListSize: 7 });
  });

  it("takes a key while it runs, and forgets it by reset()", async () => {
    await start({ flowControlKeys: [orders] });
    platform.setFlowControlKey({ flowControlKey: "late", waitListSize: 1 });
    platform.setFlowControlKey({ flowControlKey: "orders", waitListSize: 2 });
    assert.equal((await queue(platform, "GET", "/flowControl/late")).status, 200);
    assert.deepEqual((await queue(platform, "GET", "/flowControl/orders")).body, {
      flowControlKey: "orders",
      waitListSize: 2,
    });
    await platform.reset();
    assert.deepEqual([...platform.flowControlKeys.values()], [orders]);
    assert.throws(() => platform.setFlowControlKey({ flowControlKey: "" }), /flowControlKey: must not be empty/);
  });

  for (const [method, path, allow] of [
    ["POST", "/flowControl", "GET, HEAD"],
    ["DELETE", "/flowControl/orders", "GET, HEAD"],
    ["GET", "/flowControl/orders/reset", "POST"],
    ["PUT", "/globalParallelism", "GET, HEAD"],
    ["OPTIONS", "/flowControl", "GET, HEAD"],
  ] as const) {
    it(`refuses ${method} ${path}`, async () => {
      await start({ flowControlKeys: [orders] });
      const answer = await queue(platform, method, path);
      assert.deepEqual([answer.status, answer.headers.allow], [405, allow]);
      assert.deepEqual(answer.body, { error: `method: ${method} is not allowed here, only ${allow}` });
      assert.deepEqual(platform.flowControlKeys.get("orders"), orders);
    });
  }

  it("answers HEAD without a body", async () => {
    await start({});
    const answer = await queue(platform, "HEAD", "/flowControl");
    assert.deepEqual([answer.status, answer.text], [200, ""]);
  });
});
