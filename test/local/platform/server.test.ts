import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { RequestLog } from "../../../local/platform/requests";
import { basic, bearer, queue, requestArrived, resetPassword, resetPath, send } from "./client";

const odd = ["/", "100%", "%2F", "a b", "größe 日本", "..", ".", "?#", "+", "a\\b", "\u0000", "__proto__", "[x]"];

const keyProblem = "must contain letters, digits, hyphens, underscores and dots only";

// The originals, read before any test starts a platform.
const { Request, Response } = globalThis;

describe("local platform: the server", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform()));
  afterEach(() => platform.close());
  const portOf = ({ url }: Platform) => Number(new URL(url).port);

  for (const name of odd) {
    it(`finds what is called ${JSON.stringify(name)}`, async () => {
      await platform.close();
      platform = await startPlatform({ databases: [name] });
      const { body } = await resetPassword(platform, name);
      assert.equal((body as { database_id: string }).database_id, name);
      assert.equal(platform.database(name).resets, 1);
    });
  }

  for (const name of ["a/b", "a b", "größe", "a+b", "a:b", "%2F", "\u0000", "emoji 🙂"]) {
    it(`refuses the flow-control key ${JSON.stringify(name)}, as the public platform does`, async () => {
      const path = `/flowControl/${encodeURIComponent(name)}`;
      for (const response of [queue(platform, "GET", path), queue(platform, "POST", `${path}/pin?parallelism=1`)]) {
        const { status, error } = await response;
        assert.deepEqual([status, /^flowControlKey: must contain letters, digits/.test(error)], [400, true]);
      }
      assert.throws(() => platform.setFlowControlKey({ flowControlKey: name }), /must contain letters, digits/);
      await assert.rejects(startPlatform({ flowControlKeys: [name] }), /flowControlKeys\[0\]: must contain letters/);
      if (!/^[\x20-\x7e]+$/.test(name)) return;
      const headers = { "Upstash-Flow-Control-Key": name, "Upstash-Flow-Control-Value": "parallelism=1" };
      const published = await queue(platform, "POST", "/publish/http://127.0.0.1:1/", { headers });
      assert.deepEqual([published.status, published.error], [400, `Upstash-Flow-Control-Key: ${keyProblem}`]);
      assert.equal(platform.flowControlKeys.has(name), false);
    });
  }

  it("takes percent-encoded dots for a key, not for a way up", async () => {
    platform.setFlowControlKey({ flowControlKey: ".." });
    const { body } = await queue(platform, "GET", "/flowControl/%2e%2E");
    assert.equal((body as { flowControlKey: string }).flowControlKey, "..");
  });

  for (const malformed of ["%", "%zz", "a%2", "%ff", "%C3%28"]) {
    it(`refuses ${malformed} in a path and names the parameter`, async () => {
      const reset = `/v2/keyvalue/reset-password/${malformed}`;
      for (const { response, error } of [
        { response: queue(platform, "GET", `/flowControl/${malformed}`), error: /^flowControlKey: .*percent-encod/ },
        { response: queue(platform, "POST", `/flowControl/${malformed}/reset`), error: /^flowControlKey: / },
        { response: send(platform, "POST", reset, basic(platform)), error: /^id: .*percent-encod/ },
      ]) {
        assert.equal((await response).status, 400);
        assert.match((await response).error, error);
      }
    });
  }

  for (const path of ["/nope", "/v2", "/v2/", "/v2/flowControl/", "/v2/flowControl/a/b/reset", "//v2/flowControl"]) {
    it(`responds with 404 in JSON to ${path}`, async () => {
      const { status, error } = await send(platform, "GET", path, bearer(platform));
      assert.equal(status, 404);
      assert.match(error, /^path: /);
    });
  }

  it("records a request when it arrives, and its status when the response is sent", async () => {
    platform.failNext({ delayMs: 150 });
    const response = resetPassword(platform);
    await requestArrived(platform);
    const request = { method: "POST", path: resetPath, authorized: true };
    assert.deepEqual(platform.requests, [{ ...request, status: undefined }]);
    await response;
    assert.deepEqual(platform.requests, [{ ...request, status: 200 }]);
  });

  it("records requests in order, unchanged", async () => {
    await platform.close();
    const told: object[] = [];
    platform = await startPlatform({ onRequest: (request) => told.push(request) });
    await queue(platform, "GET", "/flowControl?search=a%2Fb");
    await queue(platform, "HEAD", "/flowControl/..");
    await send(platform, "OPTIONS", "/elsewhere");
    const recorded = platform.requests.map(({ method, path, status }) => `${method} ${path} ${status}`);
    const expected = ["GET /v2/flowControl?search=a%2Fb 200", "HEAD /v2/flowControl/.. 404", "OPTIONS /elsewhere 404"];
    assert.deepEqual(recorded, expected);
    assert.deepEqual(told, platform.requests);
  });

  it("keeps the newest 10,000 requests at least, in order, and not all of them", () => {
    const log = new RequestLog();
    for (let index = 0; index < 50_000; index++) {
      log.add({ method: "GET", path: `/${index}`, authorized: true });
      assert.ok(log.all.length <= 11_000);
    }
    assert.ok(log.all.length >= 10_000);
    const first = 50_000 - log.all.length;
    assert.ok(log.all.every(({ path }, index) => path === `/${first + index}`));
  });

  it("accepts requests with bodies, large ones too, and goes on after them", async () => {
    for (const body of ["{}", "no json", "x".repeat(5_000_000)]) {
      assert.equal((await send(platform, "POST", resetPath, basic(platform), { body })).status, 200);
    }
    const headers = { authorization: basic(platform) };
    assert.equal((await fetch(platform.url + resetPath, { method: "POST", headers })).status, 200);
    assert.equal(platform.resetCount, 4);
  });

  it("survives huge headers and requests that are not HTTP", async () => {
    const list = (headers: Record<string, string>) => send(platform, "GET", "/v2/flowControl", undefined, { headers });
    assert.equal((await list({ "x-huge": "x".repeat(20_000) })).status, 431);
    const badHost = await list({ host: "a b" });
    assert.equal(badHost.status, 400);
    assert.match(badHost.error, /^request: /);
    const socket = connect(portOf(platform), "127.0.0.1", () => socket.end("nonsense\r\n\r\n"));
    await once(socket.resume(), "close");
    assert.equal((await resetPassword(platform)).status, 200);
  });

  it("reads a target with scheme and host, as HTTP allows", async () => {
    const { status } = await send(platform, "GET", `${platform.url}/v2/flowControl/orders`, bearer(platform));
    assert.equal(status, 200);
  });

  it("listens on loopback alone, at a free port", async () => {
    const other = await startPlatform();
    assert.match(platform.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.notEqual(platform.url, other.url);
    await other.close();
  });

  it("prints an address that can be connected to if it listens at all of them", async () => {
    const open = await startPlatform({ host: "0.0.0.0" });
    assert.match(open.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal((await resetPassword(open)).status, 200);
    await open.close();
  });

  it("names the option if it cannot listen", async () => {
    const port = portOf(platform);
    const problem = new RegExp(`^cannot listen on 127.0.0.1, port ${port}: `);
    await assert.rejects(startPlatform({ port }), { name: "PlatformOptionError", option: "port", problem });
    await assert.rejects(startPlatform({ host: "192.0.2.1" }), { name: "PlatformOptionError", option: "host" });
  });

  it("closes without waiting for a response, however many connections are open, and may be closed again", async () => {
    const idle = connect(portOf(platform), "127.0.0.1");
    await once(idle, "connect");
    platform.failNext({ delayMs: 2 ** 31 - 1 });
    const waiting = assert.rejects(resetPassword(platform));
    await requestArrived(platform);
    await Promise.all([platform.close(), platform.close()]);
    await platform.close();
    await waiting;
    assert.equal(platform.resetCount, 0);
    const next = createServer().listen(portOf(platform), "127.0.0.1");
    await once(next, "listening");
    next.close();
  });

  it("leaves the Request and Response of its process unchanged", async () => {
    await resetPassword(platform);
    assert.deepEqual({ Request: globalThis.Request, Response: globalThis.Response }, { Request, Response });
  });
});
