import assert from "node:assert/strict";
import { databaseFields } from "../../../provider/records/database";
import { camelCase, type Field, type Kind } from "../../../provider/records/fields";
import { flowControlFields, globalParallelismFields } from "../../../provider/records/flowControl";
import tables from "../../fixtures/interface-fields.json";

interface InterfaceField {
  readonly name: string;
  readonly type: string;
  readonly values?: readonly string[];
  readonly booleans?: readonly string[];
}

const kinds: Readonly<Record<string, Kind>> = {
  string: "text",
  "string enum": "text",
  "string[]": "texts",
  boolean: "flag",
  int64: "integer",
  integer: "integer",
  count: "integer",
  object: "object",
};

/** Fields that only some platforms send. */
const extra = { flowControl: ["isPaused", "isPinnedParallelism", "isPinnedRate"], globalParallelism: ["waitListSize"] };

const databaseTable: readonly InterfaceField[] = tables.database;
const fieldsByName: Readonly<Record<string, Field<unknown>>> = databaseFields;

describe("records: tables of fields, compared with the interface document", () => {
  it("has 42 database fields, in the document's order, and no other", () => {
    assert.equal(databaseTable.length, 42);
    assert.deepEqual(
      Object.keys(databaseFields),
      databaseTable.map(({ name }) => camelCase(name)),
    );
  });

  for (const { name, type, values, booleans } of databaseTable) {
    it(`${name} is a ${type}`, () => {
      const field = fieldsByName[camelCase(name)];
      assert.equal(field?.kind, kinds[type]);
      assert.deepEqual(field?.values, values);
      assert.deepEqual(field?.fields && Object.keys(field.fields), booleans);
      for (const inner of Object.values(field?.fields ?? {})) assert.equal(inner.kind, "flag");
    });
  }

  for (const [table, fields] of [
    ["flowControl", flowControlFields],
    ["globalParallelism", globalParallelismFields],
  ] as const) {
    it(`has the fields of ${table}, and those that only some platforms send`, () => {
      const names = tables[table].map(({ name }) => name);
      assert.deepEqual(Object.keys(fields), [...names, ...extra[table]]);
      const kindOf: Readonly<Record<string, Field<unknown>>> = fields;
      for (const { name, type } of tables[table]) assert.equal(kindOf[name]?.kind, kinds[type], name);
    });
  }
});
