import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, bearer, databasePath, resetPath, send } from "./client";

type Scheme = "Basic" | "Bearer" | "Bearer of the index";

/** Every operation, by how clients authenticate and which methods it allows. */
const table: readonly (readonly [scheme: Scheme, allow: string, paths: readonly string[]])[] = [
  [
    "Basic",
    "GET, HEAD",
    [
      "/v2/redis/database/{id}",
      "/v2/redis/databases",
      "/v2/vector/index",
      "/v2/vector/index/{id}",
      "/v2/search",
      "/v2/search/{id}",
      "/v2/qstash/users",
      "/v2/qstash/user/{id}",
    ],
  ],
  [
    "Basic",
    "POST",
    [
      "/v2/keyvalue/reset-password/{id}",
      "/v2/redis/reset-password/{id}",
      "/v2/vector/index/{id}/reset-password",
      "/v2/search/{id}/reset-password",
      "/v2/qstash/rotate-token/{id}",
      "/local/faults",
    ],
  ],
  [
    "Bearer",
    "GET, HEAD",
    ["/v2/keys", "/v2/flowControl", "/v2/flowControl/{flowControlKey}", "/v2/globalParallelism", "/v2/events"],
  ],
  [
    "Bearer",
    "POST",
    [
      "/v2/keys/rotate",
      ...["reset", "resetRate", "pause", "resume", "pin", "unpin"].map(
        (action) => `/v2/flowControl/{flowControlKey}/${action}`,
      ),
      ...["publish", "enqueue/{queue}", "schedules"].map((path) => `/v2/${path}/http://127.0.0.1:1/`),
      "/v2/batch",
    ],
  ],
  ["Bearer of the index", "GET, HEAD, POST", ["/indexes/vector/{id}/info", "/indexes/search/{id}/info"]],
];
const operations = table.flatMap(([scheme, allow, paths]) => paths.map((operation) => ({ scheme, allow, operation })));

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

  for (const { operation, allow, scheme } of operations) {
    const path = operation.replace(/\{\w+\}/, name);
    const credentials = (): string => {
      if (scheme === "Basic") return basic(platform);
      if (scheme === "Bearer") return bearer(platform);
      const indexes = path.includes("vector") ? platform.vectorIndexes : platform.searchIndexes;
      return bearer({ queueToken: indexes.get(name)!.token });
    };

    it(`${operation} requires ${scheme} authentication`, async () => {
      const method = allow.split(", ")[0]!;
      const others = [basic(platform), bearer(platform)].filter((authorization) => authorization !== credentials());
      for (const authorization of [undefined, ...others, `${credentials()}x`]) {
        const { status, headers } = await send(platform, method, path, authorization);
        const expected = `${scheme.split(" ")[0]} realm="local platform"`;
        assert.deepEqual([status, headers["www-authenticate"]], [401, expected], authorization);
      }
      assert.ok(platform.requests.every(({ authorized, status }) => !authorized && status === 401));
      assert.equal(platform.resetCount, 0);
    });

    it(`${operation} allows ${allow}`, async () => {
      const response = await send(platform, "DELETE", path, credentials());
      assert.deepEqual([response.status, response.headers["allow"]], [405, allow]);
      const isRead = allow.includes("HEAD");
      const { status, text } = await send(platform, isRead ? "HEAD" : "POST", path, credentials());
      assert.notEqual(status, 405);
      if (isRead) assert.deepEqual([status, text], [200, ""]);
    });

    const [, parameter = ""] = /\{(\w+)\}/.exec(operation) ?? [];
    if (parameter === "") continue;
    it(`${operation} refuses a malformed ${parameter}, which the error names`, async () => {
      for (const malformed of ["%", "%zz", "a%2", "%ff", "%C3%28"]) {
        const method = allow.split(", ")[0]!;
        const target = operation.replace(/\{\w+\}/, malformed);
        const { status, error } = await send(platform, method, target, credentials());
        assert.deepEqual([status, error.startsWith(`${parameter}: its percent-encoding`)], [400, true], error);
      }
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

  it("has the path of reading a database that the option names, also one of other operations, or none", async () => {
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
