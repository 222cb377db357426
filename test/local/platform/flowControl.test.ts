import assert from "node:assert/strict";
import { type FlowControlRecord, type Platform, startPlatform } from "../../../local/platform/index";
import fields from "../../fixtures/interface-fields.json";
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

const unset = { waitListSize: 0, parallelismCount: 0, rateCount: 0 };
const flags = { isPaused: false, isPinnedParallelism: false, isPinnedRate: false };
/** A key as it is sent: with each counter and flag. */
const sent = (key: FlowControlRecord) => ({ ...unset, ...flags, ...key });

describe("local platform: flow control", () => {
  let platform: Platform;
  const start = async (...flowControlKeys: (string | FlowControlRecord)[]) =>
    (platform = await startPlatform({ flowControlKeys }));
  afterEach(() => platform.close());

  const get = async (path: string) => (await queue(platform, "GET", path)).body;
  const post = async (path: string) => assert.equal((await queue(platform, "POST", path)).status, 200);

  it("lists the keys as a bare array, and reads one", async () => {
    const emails = { flowControlKey: "emails", waitListSize: 1 };
    await start(orders, emails);
    const { status, body } = await queue(platform, "GET", "/flowControl");
    assert.deepEqual({ status, body }, { status: 200, body: [sent(orders), sent(emails)] });
    assert.deepEqual(await get("/flowControl/orders"), sent(orders));
  });

  it("gives a key that is only named a sample value for each field of the interface document, and the flags", async () => {
    await start("orders");
    const names = [...fields.flowControl.map(({ name }) => name), ...Object.keys(flags)];
    assert.deepEqual(Object.keys((await get("/flowControl/orders")) as object), names);
  });

  it("sends counters of 0 and flags that are false, but no limit that is not set", async () => {
    const idle = { flowControlKey: "idle", parallelismMax: 0 };
    await start(idle);
    assert.deepEqual(await get("/flowControl/idle"), { ...idle, ...unset, ...flags });
  });

  it("searches for a part of the key, as text", async () => {
    const names = ["eu-orders", "orders-2", "emails", "a.b", "a_b"];
    await start(...names);
    const matches = { orders: ["eu-orders", "orders-2"], ".": ["a.b"], _: ["a_b"], größe: [], ORDERS: [] };
    for (const [search, expected] of Object.entries({ ...matches, "": names })) {
      const found = (await get(`/flowControl?search=${encodeURIComponent(search)}`)) as FlowControlRecord[];
      const foundNames = found.map(({ flowControlKey }) => flowControlKey);
      assert.deepEqual(foundNames, expected, search);
    }
  });

  for (const { action, cleared } of [
    { action: "reset", cleared: { parallelismCount: 0, rateCount: 0 } },
    { action: "resetRate", cleared: { rateCount: 0 } },
  ]) {
    it(`clears ${Object.keys(cleared).join(" and ")} by ${action}, begins a new period, and leaves the rest`, async () => {
      await start(orders, "emails");
      const emails = platform.flowControlKeys.get("emails");
      const second = () => Math.floor(Date.now() / 1000);
      const before = second();
      await post(`/flowControl/orders/${action}`);
      const after = platform.flowControlKeys.get("orders");
      const ratePeriodStart = after?.ratePeriodStart ?? 0;
      assert.deepEqual(after, sent({ ...orders, ...cleared, ratePeriodStart }));
      assert.ok(ratePeriodStart >= before && ratePeriodStart <= second());
      assert.deepEqual(platform.flowControlKeys.get("emails"), emails);
    });
  }

  it("gives a key without a rate no period by a reset", async () => {
    await start({ flowControlKey: "plain", parallelismMax: 2, parallelismCount: 2 });
    await post("/flowControl/plain/reset");
    assert.deepEqual(await get("/flowControl/plain"), sent({ flowControlKey: "plain", parallelismMax: 2 }));
  });

  it("responds with 404 to an unknown key, and names the parameter and the key", async () => {
    await start();
    for (const action of ["", "/reset", "/resetRate"]) {
      const { status, error } = await queue(platform, action ? "POST" : "GET", `/flowControl/unknown${action}`);
      assert.equal(status, 404);
      assert.match(error, /^flowControlKey: .*"unknown"/);
    }
    assert.deepEqual(await get("/flowControl"), []);
  });

  it("sums what runs over all keys", async () => {
    await start(orders, { flowControlKey: "emails", parallelismCount: 4 });
    assert.deepEqual(await get("/globalParallelism"), { parallelismMax: 100, parallelismCount: 7 });
  });

  it("uses a given global parallelism", async () => {
    const globalParallelism = { parallelismMax: 9, parallelismCount: 8 };
    platform = await startPlatform({ globalParallelism });
    assert.deepEqual(await get("/globalParallelism"), globalParallelism);
  });

  it("omits a count of 0 from the global parallelism", async () => {
    await start({ flowControlKey: "idle" });
    assert.deepEqual(await get("/globalParallelism"), { parallelismMax: 100 });
  });

  it("responds in the older shapes if it is asked to", async () => {
    const shapes = { flowControlListShape: "object", globalParallelismShape: "old" } as const;
    platform = await startPlatform({ flowControlKeys: [orders], ...shapes });
    assert.deepEqual(await get("/flowControl"), { flowControls: [sent(orders)] });
    assert.deepEqual(await get("/globalParallelism"), { waitListSize: 7 });
  });

  it("accepts a key while it runs, and forgets it by reset()", async () => {
    await start(orders);
    for (const key of [
      { flowControlKey: "late", waitListSize: 1 },
      { flowControlKey: "orders", waitListSize: 2 },
    ]) {
      platform.setFlowControlKey(key);
      assert.deepEqual(await get(`/flowControl/${key.flowControlKey}`), sent(key));
    }
    await platform.reset();
    assert.deepEqual([...platform.flowControlKeys.values()], [sent(orders)]);
    assert.throws(() => platform.setFlowControlKey({ flowControlKey: "" }), /flowControlKey: must not be empty/);
  });

  it("responds to HEAD without a body", async () => {
    await start();
    const { status, text } = await queue(platform, "HEAD", "/flowControl");
    assert.deepEqual({ status, text }, { status: 200, text: "" });
  });
});
