import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { databasePath } from "../../support/resources";
import { basic, bearer, resetPath, send } from "./client";

/** Every operation: how clients authenticate, the methods that it allows, and its path. */
const operations = `
  Basic   GET       /v2/redis/databases
  Basic   GET       /v2/redis/database/{id}
  Basic   POST      /v2/keyvalue/reset-password/{id}
  Basic   POST      /v2/redis/reset-password/{id}
  Basic   GET       /v2/vector/index
  Basic   GET       /v2/vector/index/{id}
  Basic   POST      /v2/vector/index/{id}/reset-password
  Basic   GET       /v2/search
  Basic   GET       /v2/search/{id}
  Basic   POST      /v2/search/{id}/reset-password
  Basic   GET       /v2/qstash/users
  Basic   GET       /v2/qstash/user/{id}
  Basic   POST      /v2/qstash/rotate-token/{id}
  Basic   POST      /local/faults
  Bearer  GET       /v2/keys
  Bearer  POST      /v2/keys/rotate
  Bearer  GET       /v2/flowControl
  Bearer  GET       /v2/flowControl/{flowControlKey}
  Bearer  POST      /v2/flowControl/{flowControlKey}/reset
  Bearer  POST      /v2/flowControl/{flowControlKey}/resetRate
  Bearer  POST      /v2/flowControl/{flowControlKey}/pause
  Bearer  POST      /v2/flowControl/{flowControlKey}/resume
  Bearer  POST      /v2/flowControl/{flowControlKey}/pin
  Bearer  POST      /v2/flowControl/{flowControlKey}/unpin
  Bearer  GET       /v2/globalParallelism
  Bearer  POST      /v2/publish/http://127.0.0.1:1/
  Bearer  POST      /v2/enqueue/{queue}/http://127.0.0.1:1/
  Bearer  POST      /v2/batch
  Bearer  POST      /v2/schedules/http://127.0.0.1:1/
  Bearer  GET       /v2/events
  Bearer  GET,POST  /indexes/vector/{id}/info
  Bearer  GET,POST  /indexes/search/{id}/info`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/ +/) as ["Basic" | "Bearer", string, string]);

describe("Local platform: each operation", () => {
  let platform: Platform;
  const name = "one";
  before(async () => {
    const indexes = { vectorIndexes: [name], searchIndexes: [name], queueUsers: [name] };
    const account = { username: "ops", password: "p:w ö", queueToken: "t0ken" };
    platform = await startPlatform({
      ...account,
      ...indexes,
      databases: [name],
      flowControlKeys: [name],
      databasePath,
    });
  });
  beforeEach(() => platform.reset());
  after(() => platform.close());

  for (const [scheme, methods, operation] of operations) {
    const [method = ""] = methods.split(",");
    const allow = methods.replace("GET", "GET, HEAD").replace(",POST", ", POST");
    const path = operation.replace(/\{\w+\}/, name);
    const credentials = (): string => {
      if (scheme === "Basic") return basic(platform);
      if (!path.startsWith("/indexes")) return bearer(platform);
      const indexes = path.includes("vector") ? platform.vectorIndexes : platform.searchIndexes;
      return bearer({ queueToken: indexes.get(name)!.token });
    };

    it(`${operation} requires ${scheme} authentication`, async () => {
      const others = [basic(platform), bearer(platform)].filter((authorization) => authorization !== credentials());
      for (const authorization of [undefined, ...others, `${credentials()}x`]) {
        const { status, headers } = await send(platform, method, path, authorization);
        const expected = `${scheme} realm="local platform"`;
        assert.deepEqual([status, headers["www-authenticate"]], [401, expected], authorization);
      }
      assert.ok(platform.requests.every(({ authorized, status }) => !authorized && status === 401));
      assert.equal(platform.resetCount, 0);
    });

    it(`${operation} allows ${allow}`, async () => {
      const response = await send(platform, "DELETE", path, credentials());
      assert.deepEqual([response.status, response.headers["allow"]], [405, allow]);
      if (method !== "GET") return;
      const { status, text } = await send(platform, "HEAD", path, credentials());
      assert.deepEqual([status, text], [200, ""]);
    });
  }

  for (const path of [
    "/nope",
    "/v2",
    "/v2/",
    "/v2/nope",
    "/v2/flowControl/",
    "/v2/flowControl/a/b/reset",
    "//v2/keys",
  ]) {
    it(`does not exist at ${path}`, async () => {
      const { status, error } = await send(platform, "GET", path, bearer(platform));
      assert.deepEqual({ status, error }, { status: 404, error: "path: the platform has no such operation" });
    });
  }

  for (const authorization of [
    basic({ username: "op", password: "p:w ö" }),
    basic({ username: "ops", password: "" }),
    "Basic ops:p:w",
    "Basic t0ken",
    `${basic({ username: "ops", password: "p:w ö" })} x`,
  ]) {
    it(`refuses "${authorization}" for a reset, and does not repeat it`, async () => {
      const { status, error } = await send(platform, "POST", resetPath, authorization);
      const expected = 'missing or wrong; this path requires "Basic <username:password in base64>"';
      assert.deepEqual([status, error], [401, `Authorization: ${expected}`]);
    });
  }

  it("reads a database at the path of the option, which may be that of another operation, or nowhere", async () => {
    for (const databasePath of ["/databases/{id}", "/v2/databases/{id}/details", "/v2/redis/reset-password/{id}"]) {
      const other = await startPlatform({ databasePath, databases: [name] });
      const path = databasePath.replace("{id}", name);
      assert.equal((await send(other, "GET", path, basic(other))).status, 200);
      const { headers } = await send(other, "GET", path);
      assert.equal(headers["www-authenticate"], 'Basic realm="local platform"');
      assert.equal((await send(other, "POST", `/v2/redis/reset-password/${name}`, basic(other))).status, 200);
      await other.close();
    }
    const none = await startPlatform({ databases: [name] });
    assert.equal((await send(none, "GET", databasePath.replace("{id}", name), basic(none))).status, 404);
    await none.close();
  });
});
