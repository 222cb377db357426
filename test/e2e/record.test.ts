import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { camelCase } from "../../provider/records/fields";
import { onEngines, scene } from "../support/onEngines";

const fixture = join(__dirname, "../fixtures/interface-fields.json");
const { database: fields } = JSON.parse(readFileSync(fixture, "utf8")) as { database: { name: string }[] };

onEngines("The database record", (engine) => {
  it("stands in record, and each field as an output of its own, with the value the platform sent", async () => {
    const names = fields.map(({ name }) => camelCase(name));
    assert.equal(names.length, 42);
    const { platform, stack } = await scene(
      engine,
      `const { PasswordRotation } = require("pulumi-rekey");
       const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart" });
       exports.record = rotation.record;
       exports.own = Object.fromEntries(${JSON.stringify(names)}.map((name) => [name, rotation[name]]));
       exports.digits = rotation.exactIntegers;
       exports.problems = rotation.problems;`,
      { databases: [{ database_id: "db-quickstart", db_request_limit: 9223372036854775807n, state: "dreaming" }] },
    );
    const { outputs, printed } = await stack.up();
    const record = outputs["record"]?.value as Record<string, unknown>;
    const own = outputs["own"]?.value as Record<string, unknown>;
    const sent = platform.database("db-quickstart").record as Record<string, unknown>;
    for (const { name } of fields) {
      const value = sent[name];
      const expected = typeof value === "bigint" ? Number(value) : value;
      assert.deepEqual(record[camelCase(name)], expected, `record.${name}\n${printed}`);
      assert.deepEqual(own[camelCase(name)], expected, `output ${name}`);
    }
    assert.deepEqual(outputs["digits"]?.value, { dbRequestLimit: "9223372036854775807" });
    assert.deepEqual(outputs["problems"]?.value, []);
  });

  it("is saved as far as it could be read, because the reset has happened", async () => {
    const { platform, stack } = await scene(
      engine,
      `const { PasswordRotation } = require("pulumi-rekey");
       const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart" });
       exports.outcome = rotation.outcome;
       exports.problems = rotation.problems;
       exports.tls = rotation.tls;
       exports.port = rotation.port;`,
      { databases: [{ database_id: "db-quickstart", port: "many", tls: undefined, planet: "earth" }] },
    );
    const { outputs, printed } = await stack.up();
    assert.equal(outputs["outcome"]?.value, "reset");
    assert.deepEqual(outputs["problems"]?.value, ["tls: missing", "port: expected an integer"]);
    assert.match(printed, /was reset, but the platform's answer was partly unreadable/);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    assert.equal(platform.resetCount, 1);
  });
});
