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

// The limits of an int64; a number in JavaScript is exact up to 2^53 only.
const isInt64 = (value: unknown) => Number.isSafeInteger(value);

/** Whether a value is what the document says of its field. */
function fits(value: unknown, { type, values, booleans }: Field): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "string enum":
      return typeof value === "string" && values !== undefined && values.includes(value);
    case "int64":
    case "integer":
    case "count":
      return isInt64(value);
    case "boolean":
      return typeof value === "boolean";
    case "string[]":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "object":
      assert.deepEqual(Object.keys(value as object).sort(), [...(booleans ?? [])].sort());
      return Object.values(value as object).every((member) => typeof member === "boolean");
    default:
      throw new Error(`the fixture has a type that no test knows: ${type}`);
  }
}

describe("local platform: records, held to the interface document", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform()));
  after(() => platform.close());

  it("has each field of section 2.1 and no other", async () => {
    const record = (await resetPassword(platform)).body as Record<string, unknown>;
    assert.equal(fields.database.length, 42);
    assert.deepEqual(Object.keys(record).sort(), fields.database.map(({ name }) => name).sort());
  });

  for (const field of fields.database as Field[]) {
    it(`sends ${field.name} as ${field.type}`, async () => {
      const record = (await resetPassword(platform)).body as Record<string, unknown>;
      assert.ok(fits(record[field.name], field), `${field.name}: ${JSON.stringify(record[field.name])}`);
    });
  }

  it("has each field of sections 2.2 and 2.3, and no other", async () => {
    const record = (await queue(platform, "GET", "/flowControl/orders")).body as Record<string, unknown>;
    assert.deepEqual(
      Object.keys(record),
      fields.flowControl.map(({ name }) => name),
    );
    assert.deepEqual(
      fields.flowControl.filter((field) => !fits(record[field.name], field)),
      [],
    );

    const global = (await queue(platform, "GET", "/globalParallelism")).body as Record<string, unknown>;
    assert.deepEqual(
      Object.keys(global),
      fields.globalParallelism.map(({ name }) => name),
    );
    assert.deepEqual(
      fields.globalParallelism.filter((field) => !fits(global[field.name], field)),
      [],
    );
  });

  it("gives each database an endpoint of its own", () => {
    const endpoints = [...platform.databases.values()].map(({ record }) => record.endpoint);
    assert.equal(new Set(endpoints).size, endpoints.length);
  });
});
