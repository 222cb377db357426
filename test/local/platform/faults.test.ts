import assert from "node:assert/strict";
import { type Fault, type Platform, startPlatform } from "../../../local/platform/index";
import { assertFields, until } from "../../support/results";
import { basic, databasePath, queue, readDatabase, requestArrived, resetPassword, resetPath, send } from "./client";

describe("local platform: faults on demand", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ databasePath })));
  beforeEach(() => platform.reset());
  after(() => platform.close());

  const list = async (search = "") => (await queue(platform, "GET", `/flowControl${search}`)).status;
  const statuses = () => platform.requests.map(({ status }) => status);
  const reset = async () => (await resetPassword(platform)).status;

  for (const { dropConnection, error, resets } of [
    { dropConnection: "before-apply", error: /socket hang up/, resets: 0 },
    { dropConnection: "after-apply", error: /socket hang up/, resets: 1 },
    { dropConnection: "within-answer", error: /aborted/, resets: 1 },
  ] as const) {
    it(`cuts the connection: ${dropConnection}`, async () => {
      platform.failNext({ dropConnection });
      await assert.rejects(resetPassword(platform), error);
      assert.equal(platform.resetCount, resets);
      assert.deepEqual(statuses(), [undefined]);
      assert.equal(await reset(), 200);
    });
  }

  it("responds with a status and headers in place of the operation, once", async () => {
    platform.failNext({ status: 429, headers: { "retry-after": "3" }, body: { error: "slow down" } });
    const { status, headers, body } = await resetPassword(platform);
    assert.deepEqual({ status, body }, { status: 429, body: { error: "slow down" } });
    assertFields(headers, { "retry-after": "3", "content-type": "application/json" });
    assert.equal(platform.resetCount, 0);
    assert.equal(await reset(), 200);
    assert.deepEqual(statuses(), [429, 200]);
  });

  it("sends a text unchanged, after a reset that was applied", async () => {
    platform.failNext({ body: '{"database_id":', headers: { "content-type": "text/html" } });
    const { status, headers, text } = await resetPassword(platform);
    assert.deepEqual({ status, text }, { status: 200, text: '{"database_id":' });
    assert.equal(headers["content-type"], "text/html");
    assert.equal(platform.resetCount, 1);
  });

  it("garbles the response, after the reset was applied", async () => {
    platform.failNext({ garble: true });
    const { status, headers, body } = await resetPassword(platform);
    assert.deepEqual({ status, body }, { status: 200, body: undefined });
    assert.equal(headers["content-type"], "application/json");
    assert.equal(platform.resetCount, 1);
    platform.failNext({ garble: true, status: 204 });
    assert.equal((await resetPassword(platform)).text, "");
  });

  it("responds with 429 to more requests in a second than the option allows, and applies none of them", async () => {
    const limited = await startPlatform({ requestsPerSecond: 1 });
    const second = () => Math.floor(Date.now() / 1000);
    const begin = second();
    const responses = await Promise.all(Array.from({ length: 100 }, () => resetPassword(limited)));
    const refused = responses.filter(({ status }) => status === 429);
    const accepted = responses.length - refused.length;
    assert.ok(accepted <= second() - begin + 1);
    assert.equal(limited.resetCount, accepted);
    assert.match(refused[0]!.error, /^rate limit: /);
    await limited.close();
  });

  for (const status of [204, 304]) {
    it(`responds with ${status} without a body`, async () => {
      platform.failNext({ status });
      const response = await resetPassword(platform);
      assert.deepEqual({ status: response.status, text: response.text }, { status, text: "" });
      assert.equal(platform.resetCount, status === 204 ? 1 : 0);
    });
  }

  it("applies nothing without credentials, whatever the fault", async () => {
    platform.failNext({ dropConnection: "after-apply" });
    platform.failNext({ status: 200 });
    await assert.rejects(send(platform, "POST", resetPath));
    const { status, headers } = await send(platform, "POST", resetPath);
    // The response in its place shows nothing of the refusal.
    assert.equal(status, 200);
    assert.equal(headers["www-authenticate"], undefined);
    assert.equal(platform.resetCount, 0);
  });

  it("affects the requests that match, as often as asked, in order", async () => {
    platform.failNext({ method: "POST", path: /reset-password/, status: 503, times: 2 });
    platform.failNext({ method: "POST", status: 500 });
    platform.failNext({ path: "/v2/flowControl", status: 502 });
    assert.equal((await queue(platform, "GET", "/flowControl/orders")).status, 200);
    assert.equal(await list("?search=x"), 502);
    assert.deepEqual([await reset(), await reset(), await reset(), await reset()], [503, 503, 500, 200]);
  });

  it("affects only the reads of a database if the method is GET", async () => {
    platform.failNext({ method: "GET", path: /db-quickstart/, status: 503 });
    assert.equal(await reset(), 200);
    const { status } = await readDatabase(platform, "db-quickstart", "?credentials=hide");
    assert.deepEqual([status, (await readDatabase(platform)).status], [503, 200]);
    const path = "/v2/redis/database/db-quickstart";
    assert.deepEqual(platform.requests, [
      { method: "POST", path: resetPath, authorized: true, status: 200 },
      { method: "GET", path: `${path}?credentials=hide`, authorized: true, status: 503 },
      { method: "GET", path, authorized: true, status: 200 },
    ]);
  });

  it("matches a global expression from the start each time", async () => {
    platform.failNext({ path: /flowControl/g, status: 503, times: 2 });
    assert.deepEqual([await list(), await list()], [503, 503]);
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

  it("can be asked for over HTTP too, with the credentials of the management interface", async () => {
    const ask = (body: unknown) =>
      send(platform, "POST", "/local/faults", basic(platform), { body: JSON.stringify(body) });
    assert.match((await ask({ status: 99 })).error, /^status: .*200/);
    assert.equal((await ask({ path: "/v2/flowControl", status: 503 })).status, 200);
    assert.deepEqual([await list(), await list()], [503, 200]);
  });

  it("refuses an impossible fault, and names the option", () => {
    for (const { fault, option } of [
      { fault: { status: 99 }, option: "status" },
      { fault: { method: "post" }, option: "method" },
      { fault: { path: "v2" }, option: "path" },
      { fault: { times: 0 }, option: "times" },
      { fault: { delayMs: 2 ** 31 }, option: "delayMs" },
      ...[-1, 2 ** 31, "soon"].map((applyAfterMs) => ({ fault: { applyAfterMs } as Fault, option: "applyAfterMs" })),
      // Node would refuse to send them.
      { fault: { headers: { "a b": "x" } }, option: 'headers["a b"]' },
      ...["a\nb", "\u0100", "\u0000"].map((a) => ({ fault: { headers: { a } }, option: "headers.a" })),
    ]) {
      assert.throws(() => platform.failNext(fault), { name: "PlatformOptionError", option });
    }
  });
});
