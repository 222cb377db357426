import assert from "node:assert/strict";
import fc from "fast-check";
import { LosslessNumber } from "lossless-json";
import { databaseFields } from "../../../provider/records/database";
import { readDatabaseResponse } from "../../../provider/records/databaseResponse";
import { readJson } from "../../../provider/records/json";

/** Names as a platform, or somebody who is up to no good, may send them. */
const names = fc.oneof(
  fc.constantFrom("database_id", "port", "tls", "all_members", "securityAddons", "password", "rest_token"),
  fc.constantFrom("__proto__", "constructor", "toString", "toJSON", "hasOwnProperty", "valueOf", "isLosslessNumber"),
  fc.string({ unit: "binary" }),
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(names, tie("value"), { maxKeys: 3 }),
}));

describe("records: any text at all", () => {
  it("that is JSON is read, or is no record, but nothing is thrown and nothing polluted", () => {
    fc.assert(
      fc.property(fc.dictionary(names, anything), (sent) => {
        const answer = readDatabaseResponse(JSON.stringify(sent));
        // What is returned is plain data that JSON can carry.
        if (answer) assert.deepEqual(JSON.parse(JSON.stringify(answer)), answer);
        if (answer?.otherFields) assert.equal(typeof JSON.parse(answer.otherFields), "object");
        for (const name of Object.keys(answer?.record ?? {})) assert.ok(Object.hasOwn(databaseFields, name));
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(Object.keys(Object.prototype), []);
  });

  it("that is JSON, or nearly, throws nothing", () => {
    const cut = fc.tuple(fc.json(), fc.nat(), fc.string({ unit: "binary", maxLength: 2 }));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), cut), (text) => {
        if (typeof text === "string") return void readDatabaseResponse(text);
        const [json, at, inserted] = text;
        const position = at % (json.length + 1);
        readDatabaseResponse(json.slice(0, position) + inserted + json.slice(position));
      }),
    );
  });

  it("is read the same however it is laid out", () => {
    const value = fc.oneof(anything, fc.dictionary(names, fc.oneof(anything, fc.double(), fc.maxSafeInteger())));
    fc.assert(
      fc.property(value, (sent) => {
        assert.deepEqual(readJson(JSON.stringify(sent)), readJson(JSON.stringify([sent], null, 1).slice(1, -1)));
      }),
      { numRuns: 500 },
    );
  });

  it("nested however deep loses neither the record nor the credentials", () => {
    const outcomes = new Set<string>();
    for (const [open, inside, close] of [
      ["[", "1", "]"],
      ['{"a":', "1", "}"],
      // Such an integer is read by a reader that goes deeper than the writer.
      ['{"a":', "9007199254740993", "}"],
    ] as const) {
      for (let depth = 500; depth < 12_000; depth += 250) {
        const nested = `${open.repeat(depth)}${inside}${close.repeat(depth)}`;
        const answer = readDatabaseResponse(`{"database_id":"db","password":"p","later":${nested}}`);
        assert.deepEqual([answer?.record.databaseId, answer?.credentials.password], ["db", "p"]);
        const problems = answer?.problems.filter((problem) => !problem.endsWith(": missing"));
        assert.deepEqual(problems?.length, answer?.otherFields === `{"later":${nested}}` ? 0 : 1);
        outcomes.add(problems?.[0] ?? "kept");
      }
    }
    assert.deepEqual([...outcomes].sort(), [
      "fields that Rekey does not know: nested too deep to be kept",
      "kept",
      "something in it: nested too deep, and left out",
    ]);
  });

  it("has numbers that are exact, or keeps their digits", () => {
    for (const digits of ["1e999", "0.12345678901234567890", "9".repeat(401)]) {
      const kept = readJson(digits).value;
      assert.ok(kept instanceof LosslessNumber && kept.value === digits, digits);
    }
    const numbers = { "1": 1, "-0": -0, "1.0": 1, "1e3": 1000, "0.1": 0.1 };
    for (const [digits, number] of Object.entries(numbers)) {
      assert.ok(Object.is(readJson(digits).value, number), digits);
    }
    assert.equal(readJson("9007199254740991").value, 9007199254740991);
    assert.equal(readJson("9007199254740992").value, 9007199254740992n);
    assert.equal(readJson("-9223372036854775808").value, -9223372036854775808n);
  });
});
