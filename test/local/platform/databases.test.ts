import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { basic, resetPassword, send } from "./client";

describe("local platform: databases", () => {
  let platform: Platform;
  afterEach(() => platform.close());

  it("replaces the password and answers the record without it", async () => {
    platform = await startPlatform();
    const before = platform.database("db-quickstart");
    const answer = await resetPassword(platform);
    const after = platform.database("db-quickstart");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.deepEqual(answer.body, after.record);
    assert.notEqual(after.password, before.password);
    assert.deepEqual([before.generation, before.resets, after.generation, after.resets], [1, 0, 2, 1]);
    for (const secret of [after.password, after.restToken, after.readOnlyRestToken]) {
      assert.ok(!answer.text.includes(secret));
    }
  });

  it("resets one database and no other", async () => {
    platform = await startPlatform({ databases: ["one", "two"] });
    const other = platform.database("two");
    await resetPassword(platform, "one");
    await resetPassword(platform, "one");
    assert.deepEqual(platform.database("two"), other);
    assert.equal(platform.database("one").generation, 3);
    assert.equal(platform.resetCount, 2);
  });

  it("has the path of public platforms too", async () => {
    platform = await startPlatform();
    const path = "/v2/redis/reset-password/db-quickstart";
    const answer = await send(platform, "POST", path, basic(platform));
    assert.equal(answer.status, 200);
    assert.equal(platform.resetCount, 1);
  });

  it("answers the credentials where it is asked to, in the older public shape", async () => {
    platform = await startPlatform({ credentialsInResponse: "always" });
    const answer = await resetPassword(platform);
    const { record, password, restToken, readOnlyRestToken } = platform.database("db-quickstart");
    const credentials = { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
    assert.deepEqual(answer.body, { ...record, ...credentials });
    assert.equal(new Set(Object.values(credentials)).size, 3);
  });

  it("puts given fields over the sample, unknown, mistyped and missing ones too", async () => {
    const given = { database_id: "odd", state: "hibernating", port: "6380", tls: undefined, future: { a: [1] } };
    platform = await startPlatform({ databases: [given] });
    const body = (await resetPassword(platform, "odd")).body as Record<string, unknown>;
    assert.deepEqual([body.state, body.port, body.future], ["hibernating", "6380", { a: [1] }]);
    assert.ok(!("tls" in body));
    assert.equal(body.database_name, "odd");
  });

  it("sends integers beyond 2^53 digit for digit", async () => {
    platform = await startPlatform({ databases: [{ database_id: "big", db_request_limit: 9223372036854775807n }] });
    assert.match((await resetPassword(platform, "big")).text, /"db_request_limit":9223372036854775807,/);
  });

  it("answers 404 that names the parameter and the id of an unknown database", async () => {
    platform = await startPlatform();
    const answer = await resetPassword(platform, "db-quickstar");
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.body, { error: 'id: database "db-quickstar" does not exist' });
    assert.equal(platform.resetCount, 0);
    assert.throws(() => platform.database("db-quickstar"), /database "db-quickstar" does not exist/);
  });

  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
    it(`resets nothing by ${method}`, async () => {
      platform = await startPlatform();
      const answer = await send(platform, method, "/v2/keyvalue/reset-password/db-quickstart", basic(platform));
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.allow, "POST");
      assert.equal(platform.resetCount, 0);
    });
  }

  it("is back at the data of the start after reset(), with new passwords", async () => {
    platform = await startPlatform({ databases: [{ database_id: "one", port: 1 }] });
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
