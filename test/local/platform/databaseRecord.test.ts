import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import fields from "../../fixtures/interface-fields.json";
import { queue, resetPassword } from "./client";

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

  it("gives each database an endpoint of its own", () => {
    const endpoints = [...platform.databases.values()].map(({ record }) => record.endpoint);
    assert.equal(new Set(endpoints).size, endpoints.length);
  });
});
