import assert from "node:assert/strict";
import { readDatabaseResponse } from "../../provider/records/databaseResponse";

/** Answers that random ones have shown to be read wrongly, each with what must come of it. */
const found: readonly (readonly [text: string, password: object, problem: RegExp])[] = [
  ['{"rest_token":"a","restToken":"b"}', { restToken: "b" }, /^restToken: sent twice, the last value counts$/m],
  ['{"restToken":"a","rest_token":"b","port":1}', { restToken: "b" }, /^restToken: sent twice/m],
  ['{"password":"p","tls":true,"db_type":"a","dbType":"b"}', { password: "p" }, /^dbType: sent twice/m],
];

describe("fuzz: answers that were found", () => {
  for (const [text, credentials, problem] of found) {
    it(text, () => {
      const answer = readDatabaseResponse(text);
      assert.deepEqual(answer?.credentials, credentials);
      assert.match(answer.problems.join("\n"), problem);
    });
  }

  it("the same value twice is no problem", () => {
    const answer = readDatabaseResponse('{"rest_token":"a","restToken":"a","port":1}');
    assert.deepEqual(answer?.credentials, { restToken: "a" });
    assert.doesNotMatch(answer.problems.join(), /sent twice/);
  });
});
