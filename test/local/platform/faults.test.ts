import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, queue, resetPassword, send } from "./client";

describe("local platform: faults on demand", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform()));
  beforeEach(() => platform.reset());
  after(() => platform.close());

  it("cuts the connection before the reset is applied", async () => {
    platform.failNext({ dropConnection: "before-apply" });
    await assert.rejects(resetPassword(platform), /socket hang up/);
    assert.equal(platform.resetCount, 0);
    assert.equal(platform.requests.length, 1);
    assert.equal(platform.requests[0]?.status, undefined);
  });

  it("cuts the connection after the reset was applied", async () => {
    platform.failNext({ dropConnection: "after-apply" });
    await assert.rejects(resetPassword(platform), /socket hang up/);
    assert.equal(platform.resetCount, 1);
    assert.equal(platform.requests[0]?.status, undefined);
  });

  it("answers a status with headers in place of the operation, once", async () => {
    platform.failNext({ status: 429, headers: { "retry-after": "3" }, body: { error: "slow down" } });
    const answer = await resetPassword(platform);
    assert.deepEqual([answer.status, answer.headers["retry-after"], answer.body], [429, "3", { error: "slow down" }]);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.equal(platform.resetCount, 0);
    assert.equal((await resetPassword(platform)).status, 200);
    assert.deepEqual(
      platform.requests.map(({ status }) => status),
      [429, 200],
    );
  });

  it("answers text as it is, after a reset that was applied", async () => {
    platform.failNext({ body: '{"database_id":', headers: { "content-type": "text/html" } });
    const answer = await resetPassword(platform);
    assert.deepEqual([answer.status, answer.text], [200, '{"database_id":']);
    assert.equal(answer.headers["content-type"], "text/html");
    assert.equal(platform.resetCount, 1);
  });

  it("cuts the connection in the middle of the answer, after the reset was applied", async () => {
    platform.failNext({ dropConnection: "within-answer" });
    await assert.rejects(resetPassword(platform), /aborted/);
    assert.equal(platform.resetCount, 1);
    assert.equal(platform.requests[0]?.status, undefined);
    assert.equal((await resetPassword(platform)).status, 200);
  });

  it("garbles the answer, after the reset was applied", async () => {
    platform.failNext({ garble: true });
    const answer = await resetPassword(platform);
    assert.deepEqual(
      [answer.status, answer.headers["content-type"], answer.body],
      [200, "application/json", undefined],
    );
    assert.equal(platform.resetCount, 1);
    platform.failNext({ garble: true, status: 204 });
    assert.deepEqual((await resetPassword(platform)).text, "");
  });

  it("answers 429 to more requests in a second than the option allows, and applies nothing of them", async () => {
    const limited = await startPlatform({ requestsPerSecond: 1 });
    const second = () => Math.floor(Date.now() / 1000);
    const begin = second();
    const answers = await Promise.all(Array.from({ length: 100 }, () => resetPassword(limited)));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(answers.length - refused.length <= second() - begin + 1);
    assert.equal(limited.resetCount, answers.length - refused.length);
    const [{ headers, body }] = refused as [(typeof answers)[0]];
    assert.deepEqual([headers["retry-after"], headers["burst-ratelimit-limit"]], ["1", "1"]);
    assert.match((body as { error: string }).error, /^rate limit: more than 1 requests/);
    await limited.close();
  });

  for (const status of [204, 304]) {
    it(`answers ${status} without a body`, async () => {
      platform.failNext({ status });
      const answer = await resetPassword(platform);
      assert.deepEqual([answer.status, answer.text], [status, ""]);
      assert.equal(platform.resetCount, status === 204 ? 1 : 0);
    });
  }

  it("applies nothing without credentials, whatever the fault", async () => {
    const path = "/v2/keyvalue/reset-password/db-quickstart";
    platform.failNext({ dropConnection: "after-apply" });
    platform.failNext({ status: 200 });
    await assert.rejects(send(platform, "POST", path));
    const answer = await send(platform, "POST", path);
    // Nothing of the refusal shows in the answer that takes its place.
    assert.deepEqual([answer.status, answer.headers["www-authenticate"]], [200, undefined]);
    assert.equal(platform.resetCount, 0);
  });

  it("meets the requests that match, as often as it was asked to, in order", async () => {
    platform.failNext({ method: "POST", path: /reset-password/, status: 503, times: 2 });
    platform.failNext({ method: "POST", status: 500 });
    platform.failNext({ path: "/v2/flowControl", status: 502 });
    const status = async (sent: Promise<{ status: number }>) => (await sent).status;
    assert.equal(await status(queue(platform, "GET", "/flowControl/orders")), 200);
    assert.equal(await status(queue(platform, "GET", "/flowControl?search=x")), 502);
    assert.equal(await status(resetPassword(platform)), 503);
    assert.equal(await status(resetPassword(platform)), 503);
    assert.equal(await status(resetPassword(platform)), 500);
    assert.equal(await status(resetPassword(platform)), 200);
  });

  it("tests a global expression from the start each time", async () => {
    platform.failNext({ path: /flowControl/g, status: 503, times: 2 });
    assert.equal((await queue(platform, "GET", "/flowControl")).status, 503);
    assert.equal((await queue(platform, "GET", "/flowControl")).status, 503);
  });

  it("delays, and applies although the client has given up", async () => {
    platform.failNext({ delayMs: 1000 });
    const path = "/v2/keyvalue/reset-password/db-quickstart";
    const client = new AbortController();
    const headers = { authorization: basic(platform) };
    const sent = assert.rejects(fetch(platform.url + path, { method: "POST", headers, signal: client.signal }));
    while (platform.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    client.abort();
    await sent;
    assert.equal(platform.resetCount, 0);
    const deadline = Date.now() + 5_000;
    while (platform.resetCount === 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(platform.resetCount, 1);
  });

  it("is forgotten by reset(), with the request that it delays", async () => {
    platform.failNext({ status: 500, path: "/v2/flowControl" });
    platform.failNext({ delayMs: 60_000 });
    const delayed = assert.rejects(resetPassword(platform));
    while (platform.requests.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await platform.reset();
    await delayed;
    assert.equal(platform.resetCount, 0);
    assert.equal((await queue(platform, "GET", "/flowControl")).status, 200);
  });

  it("is asked for over HTTP too, with the credentials of the management interface", async () => {
    const ask = (body: unknown, authorization = basic(platform)) =>
      send(platform, "POST", "/local/faults", authorization, { body: JSON.stringify(body) });
    assert.equal((await ask({ status: 503 }, "Basic eDp5")).status, 401);
    assert.deepEqual((await ask({ status: 99 })).body, { error: "status: Too small: expected number to be >=200" });
    assert.equal((await ask({ path: "/v2/flowControl", status: 503 })).status, 200);
    assert.equal((await queue(platform, "GET", "/flowControl")).status, 503);
    assert.equal((await queue(platform, "GET", "/flowControl")).status, 200);
  });

  it("refuses a fault that cannot be, and names what", () => {
    assert.throws(() => platform.failNext({ status: 99 }), { name: "PlatformOptionError", option: "status" });
    assert.throws(() => platform.failNext({ method: "post" }), { option: "method" });
    assert.throws(() => platform.failNext({ path: "v2" }), /path: /);
    assert.throws(() => platform.failNext({ times: 0 }), { option: "times" });
    assert.throws(() => platform.failNext({ delayMs: 2 ** 31 }), { option: "delayMs" });
    // Either would make the request that meets it fail otherwise than was asked for.
    assert.throws(() => platform.failNext({ headers: { "a b": "x" } }), /headers\["a b"\]: must be a header name/);
    for (const value of ["a\nb", "\u0100", "\u0000"]) {
      assert.throws(() => platform.failNext({ headers: { a: value } }), { option: "headers.a" });
    }
  });
});
