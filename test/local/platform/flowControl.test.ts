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

const flags = { isPaused: false, isPinnedParallelism: false, isPinnedRate: false };
/** A key as it is sent: with each counter and flag, and with a period. */
const sent = (key: FlowControlRecord) => {
  return { waitListSize: 0, parallelismCount: 0, rateCount: 0, ratePeriod: 1, ...flags, ...key };
};
const second = () => Math.floor(Date.now() / 1000);

describe("Local platform: flow control", () => {
  let platform: Platform;
  const start = async (...flowControlKeys: (string | FlowControlRecord)[]) =>
    (platform = await startPlatform({ flowControlKeys }));
  afterEach(() => platform.close());

  const get = async (path: string) => (await queue(platform, "GET", path)).body;
  const post = async (path: string) => assert.equal((await queue(platform, "POST", path)).status, 200);

  it("has every field of section 2.2 for a key that is only named", async () => {
    await start("orders");
    const names = [...fields.flowControl.map(({ name }) => name), ...Object.keys(flags)];
    assert.deepEqual(Object.keys((await get("/flowControl/orders")) as object), names);
  });

  it("omits only the two maxima of a key without limits, before and after a reset", async () => {
    const before = second();
    await start({ flowControlKey: "plain", parallelismCount: 2 });
    for (const parallelismCount of [2, 0]) {
      const { ratePeriodStart, ...record } = (await get("/flowControl/plain")) as FlowControlRecord;
      assert.deepEqual(record, sent({ flowControlKey: "plain", parallelismCount }));
      assert.ok(Number(ratePeriodStart) >= before && Number(ratePeriodStart) <= second());
      await post("/flowControl/plain/reset");
    }
  });

  it("searches for a part of the key, as text", async () => {
    const names = ["eu-orders", "orders-2", "emails", "a.b", "a_b"];
    await start(...names);
    const matches = { orders: ["eu-orders", "orders-2"], ".": ["a.b"], _: ["a_b"], größe: [], ORDERS: [], "": names };
    for (const [search, expected] of Object.entries(matches)) {
      const found = (await get(`/flowControl?search=${encodeURIComponent(search)}`)) as FlowControlRecord[];
      assert.deepEqual(
        found.map(({ flowControlKey }) => flowControlKey),
        expected,
        search,
      );
    }
  });

  for (const { action, cleared } of [
    { action: "reset", cleared: { parallelismCount: 0, rateCount: 0 } },
    { action: "resetRate", cleared: { rateCount: 0 } },
  ]) {
    it(`clears ${Object.keys(cleared).join(" and ")} by ${action}, begins a new period, and leaves the rest`, async () => {
      await start(orders, "emails");
      const emails = platform.flowControlKeys.get("emails");
      const before = second();
      await post(`/flowControl/orders/${action}`);
      const after = platform.flowControlKeys.get("orders");
      const ratePeriodStart = after?.ratePeriodStart ?? 0;
      assert.deepEqual(after, sent({ ...orders, ...cleared, ratePeriodStart }));
      assert.ok(ratePeriodStart >= before && ratePeriodStart <= second());
      assert.deepEqual(platform.flowControlKeys.get("emails"), emails);
    });
  }

  it("responds with 404 to an unknown key, and names the parameter and the key", async () => {
    await start();
    for (const action of ["", "/reset", "/resetRate", "/resume", "/unpin"]) {
      const { status, error } = await queue(platform, action ? "POST" : "GET", `/flowControl/unknown${action}`);
      assert.equal(status, 404);
      assert.match(error, /^flowControlKey: .*"unknown"/);
    }
    assert.deepEqual(await get("/flowControl"), []);
  });

  it("sums what runs over all keys, and omits a count of 0", async () => {
    await start(orders, { flowControlKey: "emails", parallelismCount: 4 });
    assert.deepEqual(await get("/globalParallelism"), { parallelismMax: 100, parallelismCount: 7 });
    for (const { flowControlKey } of [orders, { flowControlKey: "emails" }]) {
      await post(`/flowControl/${flowControlKey}/reset`);
    }
    assert.deepEqual(await get("/globalParallelism"), { parallelismMax: 100 });
  });

  it("refuses a key with other characters than the public platform", async () => {
    await start();
    const name = "größe/a b";
    const path = `/flowControl/${encodeURIComponent(name)}`;
    for (const response of [queue(platform, "GET", path), queue(platform, "POST", `${path}/pin?parallelism=1`)]) {
      const { status, error } = await response;
      assert.deepEqual([status, /^flowControlKey: must contain letters, digits/.test(error)], [400, true]);
    }
    assert.throws(() => platform.setFlowControlKey({ flowControlKey: name }), /must contain letters, digits/);
    await assert.rejects(startPlatform({ flowControlKeys: [name] }), /flowControlKeys\[0\]: must contain letters/);
    assert.equal(platform.flowControlKeys.size, 0);
  });
});
