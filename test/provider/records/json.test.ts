import assert from "node:assert/strict";
import { LosslessNumber } from "lossless-json";
import { databaseTable } from "../../../provider/records/database";
import { nestedCredentials, readSecretResponse, tryReadJson, tryReadObject } from "../../../provider/records/response";

const nested = (depth: number, innermost: string) => '{"a":'.repeat(depth) + innermost + "}".repeat(depth);

describe("records: JSON", () => {
  it("has exact numbers, or their digits", () => {
    for (const [digits, expected] of [
      ["1", 1],
      ["-0", -0],
      ["1.0", 1],
      ["1e+3", 1000],
      ["0.1", 0.1],
      ["9007199254740991", 9_007_199_254_740_991],
    ] as const) {
      assert.ok(Object.is(tryReadJson(digits), expected), digits);
    }
    const large = ["9007199254740992", "-9223372036854775808", "9".repeat(1_000_000)];
    for (const digits of ["1e999", "0.12345678901234567890", ...large]) {
      const kept = tryReadJson(digits);
      assert.ok(kept instanceof LosslessNumber && kept.value === digits, digits);
      assert.equal(tryReadObject(digits), undefined);
    }
  });

  it("with any nesting keeps the record and the credentials of a response, and reports what it leaves out", () => {
    const problem = "something in the response: nested too deeply, and left out";
    for (const depth of [1_000, 5_000, 60_000]) {
      // At 5,000 levels, it depends on the machine's stack whether there is an exact reader.
      for (const leaf of depth === 5_000 ? ["1"] : ["1", "9007199254740993"]) {
        const sent = `{"password":"p","later":${nested(depth, leaf)},"database_id":"db"}`;
        const response = readSecretResponse(databaseTable, sent) ?? assert.fail();
        const { record, credentials, otherFields, problems } = response;
        assert.deepEqual([record, credentials], [{ databaseId: "db" }, { password: "p" }]);
        assert.deepEqual(problems, otherFields === undefined ? [problem] : []);
        assert.ok(otherFields === undefined || otherFields === `{"later":${nested(depth, leaf)}}`);
        if (depth !== 5_000) assert.equal(otherFields !== undefined, depth < 5_000, `${depth} levels`);
      }
    }
    const inKnownField = `{"port":${nested(60_000, "1")},"password":"p"}`;
    const { credentials, problems } = readSecretResponse(databaseTable, inKnownField) ?? assert.fail();
    assert.deepEqual([credentials, problems], [{ password: "p" }, ["port: expected an integer"]]);
  });

  it("that ends too early is refused at once, however deeply it is nested, and of any other all credentials are found", () => {
    // The processor's time: that of the clock depends on what else the machine does.
    const before = process.cpuUsage();
    const whole = nested(170_000, '{"token":"x"}');
    assert.deepEqual(nestedCredentials(tryReadJson(whole)), ["x"]);
    for (const cut of [whole.slice(0, -1), `${"[".repeat(1_000_000)}"`, `${"[".repeat(150)}"\\`, whole.slice(1)]) {
      assert.equal(tryReadJson(cut), undefined);
    }
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 20_000_000, `${user + system} µs`);
  });
});
