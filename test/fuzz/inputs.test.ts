import assert from "node:assert/strict";
import fc from "fast-check";
import { providerTexts } from "../support/host";
import { InProcessAdapter } from "./inProcessAdapter";
import { tryParse } from "./answers";
import { asTheHostReads, assertCarried, assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./fuzz";

const resource = fc.constantFrom(...(Object.keys(providerTexts) as (keyof typeof providerTexts)[]));
const names = "databaseId databases version triggers rotateEvery rotatedSince encryptFor connection access rate".split(
  " ",
);
const value = smallValue.map((json) => tryParse(json) ?? null);
const inputs = fc.dictionary(fc.constantFrom(...names, ...hostileNames), value).map(asTheHostReads);

it("fuzz: inputs of any JSON are accepted or refused without a failure, and nothing is sent", async () => {
  const platform = new InProcessAdapter();
  const checks = fc.asyncProperty(resource, inputs, inputs, async (type, olds, news) => {
    const checking = platform.adapter[type].check(olds, news);
    const { failures = [], inputs: checked } = await checking.catch((error: Error) => {
      // Only what was saved may be sent back.
      assert.match(error.message, /is an output, and cannot be set|saved output memory cannot be read/);
      return { inputs: olds, failures: [] };
    });
    for (const { property, reason } of failures) assert.ok(property === "" && reason.length < 600, reason);
    assertCarried(checked);
    assertNothingPolluted();
  });
  await fc.assert(checks, fuzz(2_000));
  assert.deepEqual(platform.sent, []);
}).timeout(timeoutFor(2_000));
