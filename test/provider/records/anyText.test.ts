import assert from "node:assert/strict";
import fc from "fast-check";
import { LosslessNumber } from "lossless-json";
import { databaseFields } from "../../../provider/records/database";
import { readDatabaseResponse } from "../../../provider/records/databaseResponse";
import { readJson } from "../../../provider/records/json";

/** Names that a platform or an attacker may send. */
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
  it("that is JSON throws nothing and changes no prototype", () => {
    fc.assert(
      fc.property(fc.dictionary(names, anything), (sent) => {
        const answer = readDatabaseResponse(JSON.stringify(sent));
        // The result is plain data that JSON can express.
        if (answer) assert.deepEqual(JSON.parse(JSON.stringify(answer)), answer);
        if (answer?.otherFields) assert.equal(typeof JSON.parse(answer.otherFields), "object");
        for (const name of Object.keys(answer?.record ?? {})) assert.ok(Object.hasOwn(databaseFields, name));
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(Object.keys(Object.prototype), []);
  });

  it("that is almost JSON throws nothing", () => {
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

  it("is read the same with any white space", () => {
    const value = fc.oneof(anything, fc.dictionary(names, fc.oneof(anything, fc.double(), fc.maxSafeInteger())));
    fc.assert(
      fc.property(value, (sent) => {
        assert.deepEqual(readJson(JSON.stringify(sent)), readJson(JSON.stringify([sent], null, 1).slice(1, -1)));
      }),
      { numRuns: 500 },
    );
  });

  it("with any nesting keeps the record and the credentials", () => {
    for (const [open, close] of Object.entries({ "[": "]", '{"a":': "}" })) {
      for (let depth = 500; depth < 12_000; depth += 250) {
        const nested = `${open.repeat(depth)}1${close.repeat(depth)}`;
        const answer = readDatabaseResponse(`{"database_id":"db","password":"p","later":${nested}}`);
        assert.deepEqual([answer?.record.databaseId, answer?.credentials.password], ["db", "p"]);
        const kept = answer?.otherFields === `{"later":${nested}}`;
        assert.notEqual(kept, answer?.problems.join().includes("nested too deep"));
      }
    }
  });

  it("has exact numbers, or their digits", () => {
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
