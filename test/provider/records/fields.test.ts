import assert from "node:assert/strict";
import { databaseFields } from "../../../provider/records/database";
import { camelCase, type Field, type Fields, isSameId } from "../../../provider/records/fields";
import { flowControlFields, globalParallelismFields } from "../../../provider/records/flowControl";
import tables from "../../fixtures/interface-fields.json";

interface InterfaceField {
  readonly name: string;
  readonly type: string;
  readonly values?: readonly string[];
  readonly booleans?: readonly string[];
}

const integers = ["int64", "integer", "count"];
const kinds: Readonly<Record<string, string>> = {
  string: "text",
  "string enum": "text",
  "string[]": "texts",
  boolean: "flag",
};

/** A field as the interface document describes it. */
const described = ({ name, type, values, booleans }: InterfaceField) => ({
  name: camelCase(name),
  kind: integers.includes(type) ? "integer" : (kinds[type] ?? type),
  ...(values && { values }),
  ...(booleans && { booleans }),
});
const declared = ([name, { kind, values, fields }]: [string, Field<unknown>]) => ({
  name,
  kind,
  ...(values && { values }),
  ...(fields && { booleans: Object.keys(fields).filter((inner) => fields[inner]?.kind === "flag") }),
});

describe("records: tables of fields", () => {
  const rows: Readonly<
    Record<"database" | "flowControl" | "globalParallelism", readonly [Fields, onlySomePlatforms: readonly string[]]>
  > = {
    database: [databaseFields, []],
    flowControl: [flowControlFields, ["isPaused", "isPinnedParallelism", "isPinnedRate"]],
    globalParallelism: [globalParallelismFields, ["waitListSize"]],
  };
  for (const [table, [fields, onlySome]] of Object.entries(rows)) {
    it(`are those of the interface document: ${table}`, () => {
      const found = Object.entries(fields).map(declared);
      const document: readonly InterfaceField[] = tables[table as keyof typeof rows];
      assert.deepEqual(found.slice(0, document.length), document.map(described));
      assert.deepEqual(
        found.slice(document.length).map(({ name }) => name),
        onlySome,
      );
    });
  }

  it("have 42 fields of a database", () => assert.equal(Object.keys(databaseFields).length, 42));
});

describe("records: ids", () => {
  const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
  for (const [a, b, isSame] of [
    [uuid, uuid, true],
    [uuid, uuid.toUpperCase(), true],
    [uuid, uuid.replace("96AD", "96Ad"), true],
    [uuid, uuid.replace("9", "8"), false],
    ["db", "db", true],
    ["db", "DB", false],
    [`${uuid}x`, `${uuid.toUpperCase()}x`, false],
    [uuid, `${uuid}\n`, false],
    [uuid.replaceAll("-", ""), uuid.replaceAll("-", "").toUpperCase(), false],
  ] as const) {
    it(`${JSON.stringify(a)} and ${JSON.stringify(b)} are ${isSame ? "the same" : "two"}`, () => {
      assert.equal(isSameId(a, b), isSame);
    });
  }
});
