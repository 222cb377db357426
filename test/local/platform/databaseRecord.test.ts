import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import fields from "../../fixtures/interface-fields.json";
import { databasePath } from "../../support/resources";
import { readDatabase } from "./client";

describe("Local platform: the record of a database", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ databasePath })));
  after(() => platform.close());

  it("has every field of section 2.1, of the specified type", async () => {
    const record = (await readDatabase(platform)).body as Record<string, unknown>;
    assert.deepEqual(Object.keys(record).sort(), fields.database.map(({ name }) => name).sort());
    for (const { name, type, values } of fields.database as { name: string; type: string; values?: string[] }[]) {
      const value = record[name];
      if (values !== undefined) assert.ok(values.includes(String(value)), name);
      if (type.startsWith("int")) assert.ok(Number.isSafeInteger(value), name);
      else if (type === "string[]") assert.ok(Array.isArray(value), name);
      else assert.equal(typeof value, type.replace(" enum", ""), name);
    }
  });
});
