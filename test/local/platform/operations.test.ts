import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import fields from "../../fixtures/interface-fields.json";
import { databasePath } from "../../support/resources";
import { basic, bearer, readDatabase, send } from "./client";

/** Every operation: how clients authenticate, its method, and its path. */
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
  Basic   POST      /v2/qstash/next-token/{id}
  Basic   POST      /v2/qstash/roll-token/{id}
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
  Bearer  GET       /indexes/vector/{id}/info
  Bearer  GET       /indexes/search/{id}/info`
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

  for (const [scheme, method, operation] of operations) {
    it(`${operation} requires ${scheme} authentication`, async () => {
      const path = operation.replace(/\{\w+\}/, name);
      const index = path.includes("vector") ? platform.vectorIndexes.get(name) : platform.searchIndexes.get(name);
      const ofIndex = path.startsWith("/indexes") && bearer({ queueToken: index!.token });
      const own = ofIndex || (scheme === "Basic" ? basic(platform) : bearer(platform));
      const others = [basic(platform), bearer(platform)].filter((authorization) => authorization !== own);
      for (const authorization of [undefined, ...others, `${own}x`]) {
        const { status, headers } = await send(platform, method, path, authorization);
        const expected = `${scheme} realm="local platform"`;
        assert.deepEqual([status, headers["www-authenticate"]], [401, expected], authorization);
      }
      assert.ok(platform.requests.every(({ authorized, status }) => !authorized && status === 401));
      assert.equal(platform.resetCount, 0);
      assert.notEqual((await send(platform, method, path, own)).status, 401);
    });
  }

  it("that reads a database shows every field of section 2.1, of the specified type", async () => {
    const record = (await readDatabase(platform, name)).body as Record<string, unknown>;
    assert.deepEqual(Object.keys(record).sort(), fields.database.map(({ name }) => name).sort());
    for (const { name, type, values } of fields.database as { name: string; type: string; values?: string[] }[]) {
      const value = record[name];
      if (values !== undefined) assert.ok(values.includes(String(value)), name);
      if (type.startsWith("int")) assert.ok(Number.isSafeInteger(value), name);
      else if (type === "string[]") assert.ok(Array.isArray(value), name);
      else assert.equal(typeof value, type.replace(" enum", ""), name);
    }
  });

  it("does not exist at other paths, or with another method", async () => {
    const { status, error } = await send(platform, "GET", "/v2/nope", bearer(platform));
    assert.deepEqual({ status, error }, { status: 404, error: "path: the platform has no such operation" });
    const refused = await send(platform, "DELETE", "/v2/flowControl", bearer(platform));
    assert.deepEqual([refused.status, refused.headers["allow"]], [405, "GET, HEAD"]);
  });

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
