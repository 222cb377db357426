import assert from "node:assert/strict";
import { type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { basic, resetPassword, send } from "./client";

describe("local platform: databases", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
  afterEach(() => platform.close());

  it("replaces the password of one database and responds with its record, without secrets", async () => {
    await start();
    const before = platform.database("db-quickstart");
    const other = platform.database("db-sessions");
    const { status, headers, body, text } = await resetPassword(platform);
    const after = platform.database("db-quickstart");
    assert.deepEqual({ status, body }, { status: 200, body: after.record });
    assert.equal(headers["content-type"], "application/json");
    assert.notEqual(after.password, before.password);
    assert.deepEqual([before.generation, before.resets, after.generation, after.resets], [1, 0, 2, 1]);
    assert.deepEqual(platform.database("db-sessions"), other);
    for (const secret of [after.password, after.restToken, after.readOnlyRestToken]) assert.ok(!text.includes(secret));
  });

  it("has the path of public platforms too", async () => {
    await start();
    const { status } = await send(platform, "POST", "/v2/redis/reset-password/db-quickstart", basic(platform));
    assert.deepEqual({ status, resets: platform.resetCount }, { status: 200, resets: 1 });
  });

  it("sends the credentials if it is asked to, in the older public shape", async () => {
    await start({ credentialsInResponse: "always" });
    const { body } = await resetPassword(platform);
    const { record, password, restToken, readOnlyRestToken } = platform.database("db-quickstart");
    const credentials = { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
    assert.deepEqual(body, { ...record, ...credentials });
    assert.equal(new Set(Object.values(credentials)).size, 3);
  });

  it("puts given fields over the sample, unknown, mistyped and missing ones too", async () => {
    const given = { database_id: "odd", state: "hibernating", port: "6380", tls: undefined, future: { a: [1] } };
    await start({ databases: [given] });
    const body = (await resetPassword(platform, "odd")).body as Record<string, unknown>;
    assert.deepEqual({ ...given, ...body }, { ...body, ...given });
    assert.ok(!("tls" in body));
    assert.equal(body.database_name, "odd");
  });

  it("responds with 404 to an unknown database, and names the parameter and the id", async () => {
    await start();
    const { status, error } = await resetPassword(platform, "db-quickstar");
    assert.equal(status, 404);
    assert.match(error, /^id: .*"db-quickstar"/);
    assert.equal(platform.resetCount, 0);
    assert.throws(() => platform.database("db-quickstar"), /database "db-quickstar" does not exist/);
  });

  it("returns to its first data after reset(), with new passwords", async () => {
    await start({ databases: [{ database_id: "one", port: 1 }] });
    await resetPassword(platform, "one");
    const before = platform.database("one");
    await platform.reset();
    const after = platform.database("one");
    assert.deepEqual([after.record.port, after.resets, after.generation], [1, 0, 1]);
    assert.notEqual(after.password, before.password);
    assert.equal(platform.resetCount, 0);
    assert.deepEqual(platform.requests, []);
    assert.equal((await resetPassword(platform, "one")).status, 200);
  });
});
