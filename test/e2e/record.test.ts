import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { camelCase } from "../../provider/records/fields";
import { valuesOf } from "../support/engine";
import { fixture, onEngines, rotating } from "../support/onEngines";

const table = join(__dirname, "../fixtures/interface-fields.json");
const { database: fields } = JSON.parse(readFileSync(table, "utf8")) as { database: { name: string }[] };

onEngines("The database record", (engine) => {
  it("is an output, and each of its fields another, with the value that the platform sent", async () => {
    const names = fields.map(({ name }) => camelCase(name));
    assert.equal(names.length, 42);
    const { platform, stack } = await fixture(
      engine,
      `${rotating()} exports.own = Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, rotation[name]]));`,
      { databases: [{ database_id: "db-quickstart", db_request_limit: 9223372036854775807n, state: "dreaming" }] },
    );
    const { record, own, exactIntegers, problems } = valuesOf(await stack.up());
    const sent = Object.entries(platform.database("db-quickstart").record).map(([name, value]) => [
      camelCase(name),
      typeof value === "bigint" ? Number(value) : value,
    ]);
    const expected = Object.fromEntries(sent.filter(([name]) => names.includes(String(name)))) as object;
    assert.deepEqual(Object.keys(expected).sort(), names.sort());
    assert.deepEqual({ record, own }, { record: expected, own: expected });
    assert.deepEqual(
      { exactIntegers, problems },
      { exactIntegers: { dbRequestLimit: "9223372036854775807" }, problems: [] },
    );
  });
});
