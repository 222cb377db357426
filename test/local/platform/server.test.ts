import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { queue, requestArrived, send } from "./client";

describe("Local platform: the server", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform()));
  afterEach(() => platform.close());
  const portOf = ({ url }: Platform) => Number(new URL(url).port);

  it("records requests in order, unchanged, when they arrive, and reports them with their status", async () => {
    await platform.close();
    const told: object[] = [];
    platform = await startPlatform({ onRequest: (request) => told.push(request) });
    platform.failNext({ delayMs: 1_500 });
    const response = queue(platform, "GET", "/flowControl?search=a%2Fb");
    await requestArrived(platform);
    const request = { method: "GET", path: "/v2/flowControl?search=a%2Fb", authorized: true };
    assert.deepEqual([platform.requests, told], [[{ ...request, status: undefined }], []]);
    await response;
    await send(platform, "OPTIONS", "/elsewhere");
    const other = { method: "OPTIONS", path: "/elsewhere", authorized: false, status: 404 };
    assert.deepEqual(told, [{ ...request, status: 200 }, other]);
    assert.deepEqual(platform.requests, told);
  });

  it("listens on loopback alone, at a free port or the given one", async () => {
    const other = await startPlatform();
    assert.match(platform.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.notEqual(platform.url, other.url);
    await other.close();
    const port = portOf(platform);
    const problem = new RegExp(`^cannot listen on 127.0.0.1, port ${port}: `);
    await assert.rejects(startPlatform({ port }), { name: "PlatformOptionError", option: "port", problem });
    const again = await startPlatform({ port: portOf(other) });
    assert.equal(again.url, other.url);
    await again.close();
  });
});
