import assert from "node:assert/strict";
import { readJson, readSecretResponse, tryReadObject } from "../../../provider/records/response";
import { databaseTable } from "../../../provider/records/database";

const nested = (levels: number, inside: string) => '{"a":'.repeat(levels) + inside + "}".repeat(levels);

describe("records: JSON that is nested too deeply", () => {
  it("is read to 100 levels; what is deeper is left out, and what follows it is not", () => {
    assert.deepEqual(
      [99, 100].map((levels) => readJson(nested(levels, "[]")).tooDeep),
      [false, true],
    );
    const deep = nested(99, '[[1],"]}",{"x":"\\"}"},2],"after":3');
    const { value, tooDeep } = readJson(deep);
    assert.equal(tooDeep, true);
    let inner = value as Record<string, unknown>;
    for (let level = 1; level < 99; level++) inner = inner["a"] as Record<string, unknown>;
    assert.deepEqual(inner, { a: [{}, "]}", {}, 2], after: 3 });
  });

  it("is reported for a response, whose record is read", () => {
    const text = `{"database_id":"a","password":"p","other":${nested(120, "1")}}`;
    const response = readSecretResponse(databaseTable, text);
    assert.deepEqual(response?.credentials, { password: "p" });
    assert.ok(response.problems.includes("something in the response: nested too deeply, and left out"));
  });

  it("is not read if the text ends too early", () => {
    for (const text of [`${"[".repeat(150)}"`, `${"[".repeat(150)}"\\`, "[".repeat(150)]) {
      assert.equal(tryReadObject(text), undefined);
    }
  });
});

describe("records: numbers that JavaScript cannot hold", () => {
  it("stay exact up to 400 digits", () => {
    const valueOf = (digits: string) => (readJson(`{"a":${digits}}`).value as { a: unknown }).a;
    assert.equal(valueOf("12345678901234567"), 12_345_678_901_234_567n);
    assert.equal(valueOf("-9007199254740993"), -9_007_199_254_740_993n);
    assert.equal(typeof valueOf("9".repeat(400)), "bigint");
    assert.notEqual(typeof valueOf("9".repeat(401)), "bigint");
    assert.equal(valueOf("1e+3"), 1000);
    assert.equal(valueOf("0.5"), 0.5);
  });
});
