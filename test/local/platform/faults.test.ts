import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { until } from "../../support/results";
import { basic, queue, requestArrived, resetPassword, resetPath, send } from "./client";

describe("Local platform: faults on demand", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform()));
  beforeEach(() => platform.reset());
  after(() => platform.close());

  const list = async (search = "") => (await queue(platform, "GET", `/flowControl${search}`)).status;
  const reset = async () => (await resetPassword(platform)).status;

  it("affects the requests that match, as often as asked, in order", async () => {
    platform.failNext({ method: "POST", path: /reset-password/g, status: 503, times: 2 });
    platform.failNext({ method: "POST", status: 500 });
    platform.failNext({ path: "/v2/flowControl", status: 502 });
    assert.equal((await queue(platform, "GET", "/flowControl/orders")).status, 200);
    assert.equal(await list("?search=x"), 502);
    assert.deepEqual([await reset(), await reset(), await reset(), await reset()], [503, 503, 500, 200]);
    assert.equal(platform.resetCount, 1);
  });

  it("delays, and applies although the client has given up", async () => {
    platform.failNext({ delayMs: 1000 });
    const client = new AbortController();
    const headers = { authorization: basic(platform) };
    const sent = assert.rejects(fetch(platform.url + resetPath, { method: "POST", headers, signal: client.signal }));
    await requestArrived(platform);
    client.abort();
    await sent;
    assert.equal(platform.resetCount, 0);
    await until(() => platform.resetCount === 1);
  });

  it("is forgotten by reset(), with the request that it delays", async () => {
    platform.failNext({ status: 500, path: "/v2/flowControl" });
    platform.failNext({ delayMs: 60_000 });
    const delayed = assert.rejects(resetPassword(platform));
    await requestArrived(platform);
    await platform.reset();
    await delayed;
    assert.equal(platform.resetCount, 0);
    assert.equal(await list(), 200);
  });

  it("can be asked for over HTTP, too", async () => {
    const ask = (body: unknown) =>
      send(platform, "POST", "/local/faults", basic(platform), { body: JSON.stringify(body) });
    assert.match((await ask({ status: 99 })).error, /^status: .*200/);
    assert.equal((await ask({ path: "/v2/flowControl", status: 503 })).status, 200);
    assert.deepEqual([await list(), await list()], [503, 200]);
  });
});
