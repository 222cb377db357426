import { databaseTable } from "../../../provider/records/database";
import assert from "node:assert/strict";
import fc from "fast-check";
import { LosslessNumber } from "lossless-json";
import { readSecretResponse, readJson } from "../../../provider/records/response";

const names = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "toJSON", "hasOwnProperty", "valueOf", "isLosslessNumber"),
  fc.string({ unit: "binary" }),
);
const numbers = fc.oneof(fc.double(), fc.maxSafeInteger());
const anything = fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.oneof(fc.jsonValue(), numbers)));

function nested(depth: number, innermost: string): string {
  return "[".repeat(depth) + innermost + "]".repeat(depth);
}

describe("records: any text at all", () => {
  it("is read the same with any white space", () => {
    fc.assert(
      fc.property(anything, (sent) => {
        assert.deepEqual(readJson(JSON.stringify(sent)), readJson(JSON.stringify([sent], null, 1).slice(1, -1)));
      }),
      { numRuns: 500 },
    );
  });

  it("with any nesting keeps the record and the credentials", () => {
    // Integers beyond 2^53 are read and written by other code, which uses more of the stack.
    const nestings = [
      { open: "[", close: "]", leaf: "1" },
      { open: '{"a":', close: "}", leaf: "1" },
      { open: '{"a":', close: "}", leaf: "9007199254740993" },
    ];
    for (const { open, close, leaf } of nestings) {
      for (let depth = 500; depth < 250_000; depth = Math.floor(depth * 1.25)) {
        const nested = `${open.repeat(depth)}${leaf}${close.repeat(depth)}`;
        const answer = readSecretResponse(databaseTable, `{"database_id":"db","password":"p","later":${nested}}`);
        assert.equal(answer?.record.databaseId, "db");
        assert.equal(answer.credentials.password, "p");
        const kept = answer?.otherFields === `{"later":${nested}}`;
        assert.notEqual(kept, answer?.problems.join().includes("nested too deep"));
      }
    }
  });

  it("keeps a hundred levels of what is nested too deeply, whatever its strings contain", () => {
    const around = (value: string) => `{"]\\"}":"}]\\\\","deep":${value},"[{\\"":"]"}`;
    const [deep, kept] = [nested(100_000, ""), nested(99, "{}")];
    assert.deepEqual(readJson(around(deep)), { ...readJson(around(kept)), tooDeep: true });
    assert.throws(() => readJson(deep.slice(1)), SyntaxError);
    assert.throws(() => readJson(deep.slice(0, -1)), SyntaxError);
    assert.equal(readJson(nested(100, "")).tooDeep, false);
    assert.equal(readJson(nested(101, "")).tooDeep, true);
  });

  it("is read or refused at once, however deeply it is nested", () => {
    const text = nested(8_000_000, "1");
    const before = performance.now();
    assert.equal(readJson(text).tooDeep, true);
    assert.throws(() => readJson(text.slice(0, -1)), SyntaxError);
    assert.ok(performance.now() - before < 3_000, `${performance.now() - before} ms`);
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
    assert.equal(readJson("9".repeat(400)).value, BigInt("9".repeat(400)));
    assert.equal(readJson("9007199254740991").value, 9007199254740991);
    assert.equal(readJson("9007199254740992").value, 9007199254740992n);
    assert.equal(readJson("-9223372036854775808").value, -9223372036854775808n);
  });
});
