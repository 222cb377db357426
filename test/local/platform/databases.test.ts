import assert from "node:assert/strict";
import { type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import fields from "../../fixtures/interface-fields.json";
import { basic, queue, resetPassword, resetPath, send } from "./client";

describe("local platform: databases", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
  afterEach(() => platform.close());

  it("replaces the password and responds with the record, without secrets", async () => {
    await start();
    const before = platform.database("db-quickstart");
    const { status, headers, body, text } = await resetPassword(platform);
    const after = platform.database("db-quickstart");
    assert.deepEqual({ status, body }, { status: 200, body: after.record });
    assert.equal(headers["content-type"], "application/json");
    assert.notEqual(after.password, before.password);
    assert.deepEqual([before.generation, before.resets, after.generation, after.resets], [1, 0, 2, 1]);
    for (const secret of [after.password, after.restToken, after.readOnlyRestToken]) assert.ok(!text.includes(secret));
  });

  it("resets one database and no other", async () => {
    await start({ databases: ["one", "two"] });
    const other = platform.database("two");
    await resetPassword(platform, "one");
    await resetPassword(platform, "one");
    assert.deepEqual(platform.database("two"), other);
    assert.equal(platform.database("one").generation, 3);
    assert.equal(platform.resetCount, 2);
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

  it("sends integers beyond 2^53 digit for digit", async () => {
    await start({ databases: [{ database_id: "big", db_request_limit: 9223372036854775807n }] });
    assert.match((await resetPassword(platform, "big")).text, /"db_request_limit":9223372036854775807,/);
  });

  it("responds with 404 to an unknown database, and names the parameter and the id", async () => {
    await start();
    const { status, error } = await resetPassword(platform, "db-quickstar");
    assert.equal(status, 404);
    assert.match(error, /^id: .*"db-quickstar"/);
    assert.equal(platform.resetCount, 0);
    assert.throws(() => platform.database("db-quickstar"), /database "db-quickstar" does not exist/);
  });

  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
    it(`resets nothing by ${method}`, async () => {
      await start();
      const { status, headers } = await send(platform, method, resetPath, basic(platform));
      assert.deepEqual({ status, allow: headers.allow }, { status: 405, allow: "POST" });
      assert.equal(platform.resetCount, 0);
    });
  }

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

interface Field {
  readonly name: string;
  readonly type: string;
  readonly values?: readonly string[];
  readonly booleans?: readonly string[];
}
type Properties = Record<string, unknown>;

const every = (values: unknown, type: string) =>
  Object.values(values as object).every((value) => typeof value === type);
// A number in JavaScript is exact up to 2^53 only; an int64 may be larger.
const isInteger = Number.isSafeInteger;

/** Whether a value has the type that the interface document gives to its field. */
const checks: Readonly<Record<string, (value: unknown, field: Field) => boolean>> = {
  string: (value) => typeof value === "string",
  "string enum": (value, { values = [] }) => values.includes(value as string),
  int64: isInteger,
  integer: isInteger,
  count: isInteger,
  boolean: (value) => typeof value === "boolean",
  "string[]": (value) => Array.isArray(value) && every(value, "string"),
  object(value, { booleans = [] }) {
    assert.deepEqual(Object.keys(value as object).sort(), [...booleans].sort());
    return every(value, "boolean");
  },
};

function assertFits(record: Properties, field: Field): void {
  const value = record[field.name];
  assert.ok(checks[field.type]?.(value, field), `${field.name}: ${JSON.stringify(value)} as ${field.type}`);
}

describe("local platform: records, as the interface document describes them", () => {
  let platform: Platform;
  let record: Properties;
  before(async () => {
    platform = await startPlatform();
    record = (await resetPassword(platform)).body as Properties;
  });
  after(() => platform.close());

  it("has each field of section 2.1 and no other", () => {
    assert.equal(fields.database.length, 42);
    assert.deepEqual(Object.keys(record).sort(), fields.database.map(({ name }) => name).sort());
  });

  for (const field of fields.database as Field[]) {
    it(`sends ${field.name} as ${field.type}`, () => assertFits(record, field));
  }

  for (const { path, expected } of [
    { path: "/flowControl/orders", expected: fields.flowControl },
    { path: "/globalParallelism", expected: fields.globalParallelism },
  ]) {
    it(`has each field of ${path} (sections 2.2 and 2.3), and no other`, async () => {
      const sent = (await queue(platform, "GET", path)).body as Properties;
      const names = expected.map(({ name }) => name);
      assert.deepEqual(Object.keys(sent), names);
      expected.forEach((field) => assertFits(sent, field));
    });
  }
});
