import assert from "node:assert/strict";
import { LosslessNumber } from "lossless-json";
import { databaseTable } from "../../../provider/records/database";
import { readSecretResponse, tryReadJson } from "../../../provider/records/response";

const nested = (depth: number, innermost: string) => "[".repeat(depth) + innermost + "]".repeat(depth);
const valueOf = (text: string) => tryReadJson(text)?.value;

describe("records: JSON", () => {
  it("has exact numbers, or their digits", () => {
    for (const [digits, expected] of [
      ["1", 1],
      ["-0", -0],
      ["1.0", 1],
      ["1e+3", 1000],
      ["0.1", 0.1],
      ["9007199254740991", 9_007_199_254_740_991],
      ["9007199254740992", 9_007_199_254_740_992n],
      ["-9223372036854775808", -9_223_372_036_854_775_808n],
      ["9".repeat(400), BigInt("9".repeat(400))],
    ] as const) {
      assert.ok(Object.is(valueOf(digits), expected), digits);
    }
    for (const digits of ["1e999", "0.12345678901234567890", "9".repeat(401)]) {
      const kept = valueOf(digits);
      assert.ok(kept instanceof LosslessNumber && kept.value === digits, digits);
    }
  });

  it("is read to 100 levels; what is deeper is left out, and what follows it is not, whatever the strings contain", () => {
    const around = (value: string) => `{"]\\"}":"}]\\\\","deep":${value},"[{\\"":"]"}`;
    const kept = tryReadJson(around(nested(99, "{}")));
    assert.equal(kept?.tooDeep, false);
    assert.deepEqual(tryReadJson(around(nested(100_000, ""))), { ...kept, tooDeep: true });
    const inner = valueOf(nested(99, '[[1],"]}",{"x":"\\"}"},2],3'));
    assert.equal(JSON.stringify(inner), nested(99, '[{},"]}",{},2],3'));
  });

  it("that ends too early is refused, however deeply it is nested, and at once", () => {
    const text = nested(8_000_000, "1");
    const before = performance.now();
    assert.equal(tryReadJson(text)?.tooDeep, true);
    for (const cut of [text.slice(0, -1), `${"[".repeat(150)}"`, `${"[".repeat(150)}"\\`, nested(150, "").slice(1)]) {
      assert.equal(tryReadJson(cut), undefined);
    }
    assert.ok(performance.now() - before < 3_000, `${performance.now() - before} ms`);
  });

  it("with any nesting keeps the record and the credentials of a response, and reports what it leaves out", () => {
    for (const leaf of ["1", "9007199254740993"]) {
      for (const depth of [90, 98, 99, 100, 5_000, 200_000]) {
        const later = `${'{"a":'.repeat(depth)}${leaf}${"}".repeat(depth)}`;
        const response = readSecretResponse(databaseTable, `{"database_id":"db","password":"p","later":${later}}`);
        assert.deepEqual([response?.record["databaseId"], response?.credentials.password], ["db", "p"]);
        const problem = "something in the response: nested too deeply, and left out";
        const isKept = response?.otherFields === `{"later":${later}}`;
        assert.notEqual(isKept, response?.problems.includes(problem));
      }
    }
  });
});
