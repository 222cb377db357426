import assert from "node:assert/strict";
import fc from "fast-check";
import { readDatabaseResponse } from "../../../provider/records/databaseResponse";
import { unknownValue } from "../../../provider/records/markers";
import { databaseText } from "../../support/databaseText";

const names = { password: "password", rest_token: "restToken", read_only_rest_token: "readOnlyRestToken" } as const;
type WireName = keyof typeof names;

describe("records: credentials in a reset's answer", () => {
  for (const [wireName, name] of Object.entries(names)) {
    it(`${name} is taken out of ${wireName}, and not kept elsewhere`, () => {
      const answer = readDatabaseResponse(databaseText({ [wireName]: "canary" }));
      assert.deepEqual(answer?.credentials, { [name]: "canary" });
      assert.equal(answer.otherFields, undefined);
      assert.ok(!JSON.stringify(answer.record).includes("canary"));
    });

    it(`${name} is undefined where it is missing, null or empty, and nothing is wrong`, () => {
      for (const value of [undefined, null, ""]) {
        const answer = readDatabaseResponse(databaseText({ [wireName]: value }));
        assert.deepEqual([answer?.credentials, answer?.problems, answer?.otherFields], [{}, [], undefined]);
      }
    });

    it(`${name} is a problem where it is no text, or one that Pulumi would alter; its value is not told`, () => {
      for (const value of [1234567, ["canary"], { a: "canary" }, true, "canary\ud800", "canary\ufffd", unknownValue]) {
        const answer = readDatabaseResponse(databaseText({ [wireName]: value }));
        assert.deepEqual(answer?.credentials, {});
        assert.equal(answer.problems.length, 1);
        assert.match(answer.problems.join(), new RegExp(`^${name}: (expected a string|holds characters)`));
        assert.doesNotMatch(JSON.stringify(answer), /canary|1234567/);
      }
    });
  }

  it("is enough of an answer by itself: the password has been reset", () => {
    const answer = readDatabaseResponse('{"password":"p"}');
    assert.deepEqual(answer?.credentials, { password: "p" });
    assert.deepEqual(answer.record, {});
    assert.equal(answer.problems.length, 42);
  });

  it("is returned byte for byte, whatever else there is", () => {
    const value = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\ufffd"));
    const sent = fc.dictionary(fc.constantFrom<WireName>("password", "rest_token", "read_only_rest_token"), value);
    const others = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(sent, others, (credentials, rest) => {
        const answer = readDatabaseResponse(databaseText({ ...rest, ...credentials }));
        const given = Object.entries(answer?.credentials ?? {});
        const expected = Object.entries(credentials).map(([name, text]) => [names[name as WireName], text]);
        assert.deepEqual(new Map(given), new Map(expected as [string, string][]));
      }),
    );
  });
});
