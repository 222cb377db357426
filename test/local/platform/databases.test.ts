import assert from "node:assert/strict";
import { type Database, type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { assertFields } from "../../support/results";
import { basic, databasePath, readDatabase, resetPassword, resetPath, send } from "./client";

const credentialsOf = ({ password, restToken, readOnlyRestToken }: Database) => {
  return { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken };
};

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
    assertFields(before, { generation: 1, resets: 0 });
    assertFields(after, { generation: 2, resets: 1 });
    assert.deepEqual(platform.database("db-sessions"), other);
    for (const secret of [after.password, after.restToken, after.readOnlyRestToken]) assert.ok(!text.includes(secret));
  });

  it("has the path of public platforms too", async () => {
    await start();
    const { status } = await send(platform, "POST", "/v2/redis/reset-password/db-quickstart", basic(platform));
    assert.deepEqual({ status, resets: platform.resetCount }, { status: 200, resets: 1 });
  });

  it("has three different credentials", async () => {
    await start();
    assert.equal(new Set(Object.values(credentialsOf(platform.database("db-quickstart")))).size, 3);
  });

  for (const { credentials, inResponse, inRead } of [
    { credentials: "always", inResponse: true, inRead: true },
    { credentials: "read", inResponse: false, inRead: true },
    { credentials: "once", inResponse: true, inRead: false },
    { credentials: "never", inResponse: false, inRead: false },
  ] as const) {
    it(`with credentials: "${credentials}", sends them ${inResponse ? "" : "not "}in the response to a reset`, async () => {
      await start({ credentials, databasePath });
      const { body } = await resetPassword(platform);
      const database = platform.database("db-quickstart");
      assert.deepEqual(body, { ...database.record, ...(inResponse && credentialsOf(database)) });
    });

    it(`with credentials: "${credentials}", sends them ${inRead ? "" : "not "}in the read`, async () => {
      await start({ credentials, databasePath });
      await resetPassword(platform);
      const { status, body } = await readDatabase(platform);
      const database = platform.database("db-quickstart");
      const expected = { ...database.record, ...(inRead && credentialsOf(database)) };
      assert.deepEqual({ status, body }, { status: 200, body: expected });
    });

    it(`with credentials: "${credentials}", sends them ${inRead ? "" : "not "}in the list`, async () => {
      await start({ credentials });
      await resetPassword(platform);
      const { status, body } = await send(platform, "GET", "/v2/redis/databases", basic(platform));
      const expected = [...platform.databases.values()].map((database) => {
        return { ...database.record, ...(inRead && credentialsOf(database)) };
      });
      assert.deepEqual({ status, body }, { status: 200, body: expected });
      assert.equal(expected.length, 2);
    });
  }

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
    assert.equal(after.record.port, 1);
    assertFields(after, { resets: 0, generation: 1 });
    assert.notEqual(after.password, before.password);
    assert.equal(platform.resetCount, 0);
    assert.deepEqual(platform.requests, []);
    assert.equal((await resetPassword(platform, "one")).status, 200);
  });

  it("reads a database without its credentials if they are to be hidden", async () => {
    await start({ credentials: "always", databasePath });
    const { status, body } = await readDatabase(platform, "db-quickstart", "?credentials=hide");
    assert.deepEqual({ status, body }, { status: 200, body: platform.database("db-quickstart").record });
  });

  it("changes nothing by a read", async () => {
    await start({ credentials: "read", databasePath });
    const before = platform.database("db-quickstart");
    await readDatabase(platform);
    assert.deepEqual(platform.database("db-quickstart"), before);
  });

  it("reads a database whose id has to be encoded", async () => {
    await start({ databases: ["a/b ü"], databasePath });
    const { body } = await readDatabase(platform, "a/b ü");
    assert.deepEqual(body, platform.database("a/b ü").record);
  });

  it("cannot read a database without the option", async () => {
    await start({ credentials: "read" });
    const { status, error } = await readDatabase(platform);
    assert.deepEqual({ status, error }, { status: 404, error: "path: the platform has no such operation" });
  });

  it("responds with 404 to the read of an unknown database, and names the parameter and the id", async () => {
    await start({ databasePath });
    const { status, error } = await readDatabase(platform, "db-quickstar");
    assert.equal(status, 404);
    assert.match(error, /^id: .*"db-quickstar"/);
  });

  for (const databasePath of ["/databases/{id}", "/v2/databases/{id}/details", "/v2/redis/reset-password/{id}"]) {
    const path = databasePath.replace("{id}", "db-quickstart");

    it(`reads with Basic authentication at ${databasePath}`, async () => {
      await start({ databasePath });
      assert.equal((await send(platform, "GET", path, basic(platform))).status, 200);
      const { status, headers } = await send(platform, "GET", path);
      assert.equal(status, 401);
      assert.equal(headers["www-authenticate"], 'Basic realm="local platform"');
    });

    it(`still resets passwords with a read at ${databasePath}`, async () => {
      await start({ databasePath });
      for (const target of [resetPath, resetPath.replace("keyvalue", "redis")]) {
        assert.equal((await send(platform, "POST", target, basic(platform))).status, 200);
      }
    });
  }

  it("changes the credentials of one database outside of the interface", async () => {
    await start({ credentials: "read", databasePath });
    const before = platform.database("db-quickstart");
    const other = platform.database("db-sessions");
    await platform.changePassword("db-quickstart");
    const after = platform.database("db-quickstart");
    assert.equal(new Set([before, after].flatMap((database) => Object.values(credentialsOf(database)))).size, 6);
    assert.deepEqual((await readDatabase(platform)).body, { ...after.record, ...credentialsOf(after) });
    assert.deepEqual(platform.database("db-sessions"), other);
  });

  it("does not count a change outside of the interface as a reset", async () => {
    await start();
    await platform.changePassword("db-quickstart");
    const { resets, lastResetAt, generation } = platform.database("db-quickstart");
    assert.deepEqual({ resets, lastResetAt, generation }, { resets: 0, lastResetAt: undefined, generation: 2 });
    assert.deepEqual(platform.requests, []);
  });

  it("changes fields of a record outside of the interface, until reset()", async () => {
    await start({ databasePath });
    const { record, ...before } = platform.database("db-quickstart");
    platform.changeRecord("db-quickstart", { type: "pro", future: { a: [1] }, budget: undefined });
    const { budget, ...others } = record;
    const changed = { ...others, type: "pro", future: { a: [1] } };
    assert.deepEqual((await readDatabase(platform)).body, changed);
    assert.deepEqual((await resetPassword(platform)).body, changed);
    await platform.reset();
    assert.deepEqual(platform.database("db-quickstart").record, { ...record, budget });
    assert.notEqual(platform.database("db-quickstart").password, before.password);
  });

  it("keeps the credentials if a record is changed", async () => {
    await start();
    const before = platform.database("db-quickstart");
    platform.changeRecord("db-quickstart", { type: "pro" });
    assert.deepEqual(platform.database("db-quickstart"), { ...before, record: { ...before.record, type: "pro" } });
  });

  it("cannot change a database that does not exist", async () => {
    await start();
    const expected = /database "none" does not exist/;
    await assert.rejects(platform.changePassword("none"), expected);
    assert.throws(() => platform.changeRecord("none", { type: "pro" }), expected);
  });
});
