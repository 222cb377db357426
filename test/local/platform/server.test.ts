import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, bearer, queue, resetPassword, send } from "./client";

const awkward = [
  "a/b",
  "100%",
  "%2F",
  "a b",
  "größe 日本",
  "..",
  ".",
  "a?b#c",
  "a+b",
  "a\\b",
  "\u0000",
  "__proto__",
  "[x]",
];

// As they were before any test started a platform.
const globals = [globalThis.Request, globalThis.Response];

describe("local platform: the server", () => {
  let platform: Platform;
  afterEach(() => platform.close());

  for (const name of awkward) {
    it(`finds what is called ${JSON.stringify(name)}`, async () => {
      platform = await startPlatform({ databases: [name], flowControlKeys: [{ flowControlKey: name, rateCount: 1 }] });
      const answer = await resetPassword(platform, name);
      assert.equal((answer.body as { database_id: string }).database_id, name);
      assert.equal(platform.database(name).resets, 1);

      const path = `/flowControl/${encodeURIComponent(name)}`;
      assert.deepEqual((await queue(platform, "GET", path)).body, { flowControlKey: name, rateCount: 1 });
      assert.equal((await queue(platform, "POST", `${path}/reset`)).status, 200);
      assert.equal(platform.flowControlKeys.get(name)?.rateCount, 0);
    });
  }

  it("takes dots that are percent-encoded for a key, not for a way up", async () => {
    platform = await startPlatform({ flowControlKeys: [{ flowControlKey: ".." }] });
    assert.deepEqual((await queue(platform, "GET", "/flowControl/%2e%2E")).body, { flowControlKey: ".." });
  });

  for (const malformed of ["%", "%zz", "a%2", "%ff", "%C3%28"]) {
    it(`refuses ${malformed} in a path and names the parameter`, async () => {
      platform = await startPlatform();
      const key = await queue(platform, "GET", `/flowControl/${malformed}`);
      const keyReset = await queue(platform, "POST", `/flowControl/${malformed}/reset`);
      const id = await send(platform, "POST", `/v2/keyvalue/reset-password/${malformed}`, basic(platform));
      assert.deepEqual([key.status, keyReset.status, id.status], [400, 400, 400]);
      assert.match((key.body as { error: string }).error, /^flowControlKey: its percent-encoding/);
      assert.match((keyReset.body as { error: string }).error, /^flowControlKey: /);
      assert.match((id.body as { error: string }).error, /^id: its percent-encoding/);
    });
  }

  for (const path of ["/nope", "/v2", "/v2/", "/v2/flowControl/", "/v2/flowControl/a/b/reset", "//v2/flowControl"]) {
    it(`answers 404 in JSON to ${path}`, async () => {
      platform = await startPlatform();
      const answer = await send(platform, "GET", path, bearer(platform));
      assert.deepEqual([answer.status, answer.body], [404, { error: "path: the platform has no such operation" }]);
    });
  }

  it("notes a request when it arrives, and its status when it is answered", async () => {
    platform = await startPlatform();
    platform.failNext({ delayMs: 150 });
    const answer = resetPassword(platform);
    while (platform.requests.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const request = { method: "POST", path: "/v2/keyvalue/reset-password/db-quickstart", authorized: true };
    assert.deepEqual(platform.requests, [{ ...request, status: undefined }]);
    await answer;
    assert.deepEqual(platform.requests, [{ ...request, status: 200 }]);
  });

  it("notes requests in order, as they were sent", async () => {
    const told: string[] = [];
    platform = await startPlatform({
      onRequest: ({ method, path, status }) => told.push(`${method} ${path} ${status}`),
    });
    await queue(platform, "GET", "/flowControl?search=a%2Fb");
    await queue(platform, "HEAD", "/flowControl/..");
    await send(platform, "OPTIONS", "/elsewhere");
    const noted = platform.requests.map(({ method, path, status }) => `${method} ${path} ${status}`);
    assert.deepEqual(noted, [
      "GET /v2/flowControl?search=a%2Fb 200",
      "HEAD /v2/flowControl/.. 404",
      "OPTIONS /elsewhere 404",
    ]);
    assert.deepEqual(told, noted);
  });

  it("answers requests with bodies, large ones too, and goes on after them", async () => {
    platform = await startPlatform();
    const path = "/v2/keyvalue/reset-password/db-quickstart";
    for (const body of ["{}", "no json", "x".repeat(5_000_000)]) {
      assert.equal((await send(platform, "POST", path, basic(platform), { body })).status, 200);
    }
    const answer = await fetch(`${platform.url}${path}`, {
      method: "POST",
      headers: { authorization: basic(platform) },
    });
    assert.equal(answer.status, 200);
    assert.equal(platform.resetCount, 4);
  });

  it("outlives huge headers and requests that are no HTTP", async () => {
    platform = await startPlatform();
    const huge = await send(platform, "GET", "/v2/flowControl", undefined, {
      headers: { "x-huge": "x".repeat(20_000) },
    });
    assert.equal(huge.status, 431);
    const badHost = await send(platform, "GET", "/v2/flowControl", undefined, { headers: { host: "a b" } });
    assert.equal(badHost.status, 400);
    assert.match((badHost.body as { error: string }).error, /^request: /);
    const socket = connect(Number(new URL(platform.url).port), "127.0.0.1", () => socket.end("nonsense\r\n\r\n"));
    await once(socket.resume(), "close");
    assert.equal((await resetPassword(platform)).status, 200);
  });

  it("reads a target with scheme and host, as HTTP allows", async () => {
    platform = await startPlatform();
    const answer = await send(platform, "GET", `${platform.url}/v2/flowControl/orders`, bearer(platform));
    assert.equal(answer.status, 200);
  });

  it("listens on loopback alone, at a free port", async () => {
    platform = await startPlatform();
    const other = await startPlatform();
    assert.match(platform.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.notEqual(platform.url, other.url);
    await other.close();
  });

  it("names an address that can be connected to where it listens at all of them", async () => {
    platform = await startPlatform({ host: "0.0.0.0" });
    assert.match(platform.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal((await resetPassword(platform)).status, 200);
  });

  it("names the option where it cannot listen", async () => {
    platform = await startPlatform();
    const port = Number(new URL(platform.url).port);
    await assert.rejects(startPlatform({ port }), { name: "PlatformOptionError", option: "port" });
    await assert.rejects(startPlatform({ host: "192.0.2.1" }), { name: "PlatformOptionError", option: "host" });
  });

  it("closes at once, however many connections are open, and as often as it is asked to", async () => {
    platform = await startPlatform();
    const port = Number(new URL(platform.url).port);
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    platform.failNext({ delayMs: 60_000 });
    const waiting = assert.rejects(resetPassword(platform));
    while (platform.requests.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const started = Date.now();
    await Promise.all([platform.close(), platform.close()]);
    await platform.close();
    await waiting;
    assert.ok(Date.now() - started < 5_000);
    assert.equal(platform.resetCount, 0);
    // The port is free again.
    const next = createServer().listen(port, "127.0.0.1");
    await once(next, "listening");
    assert.equal((next.address() as AddressInfo).port, port);
    next.close();
  });

  it("leaves the Request and Response of its process alone", async () => {
    platform = await startPlatform();
    await resetPassword(platform);
    assert.deepEqual([globalThis.Request, globalThis.Response], globals);
  });
});
