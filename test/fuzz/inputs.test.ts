import assert from "node:assert/strict";
import fc from "fast-check";
import { asTheHostReads, assertCarried, assertNothingPolluted } from "./assertions";
import { tryParse } from "./answers";
import { InProcessAdapter } from "./adapter";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./settings";
import { isUnknown } from "../../provider/records/properties";
import { rotatedOutputs } from "../support/savedRotation";

const names = [
  ...["version", "triggers", "rotateEvery", "rotatedSince", "initialRotation", "initialReset"],
  ...["saveCredentials", "encryptFor", "connection"],
];
const rare = ["databaseId", "flowControlKey", "__provider", ...hostileNames];
const text = fc.oneof(
  fc.constantFrom("db", ".", "..", " ", "a/b", "P30D", "30d", "P0D", "-P1D", "P1000000Y", "0d", "9".repeat(400) + "d"),
  fc.constantFrom(
    "P1Y2M3W4DT5H6M7.8S",
    "p1d",
    "P",
    "PT",
    "1d1h",
    "1e3d",
    "P1.5M",
    "PT1e9H",
    "999999999w",
    "P99999999Y",
  ),
  fc.string({ unit: "binary", maxLength: 10 }),
);
const json = smallValue.map((text) => tryParse(text) ?? null);
const value = fc.oneof(json, text, fc.dictionary(fc.oneof(fc.constantFrom(...hostileNames), text), json));
const name = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom(...rare) },
);
const scalar = fc.oneof(fc.string(), fc.integer(), fc.constantFrom("30d", true), fc.dictionary(text, fc.string()));
const inputs = fc
  .array(fc.tuple(name, fc.oneof(value, scalar)), { maxLength: 3 })
  .map((entries) => asTheHostReads(Object.fromEntries([["databaseId", "db"], ...entries])));

const savedOf = {
  passwordRotation: rotatedOutputs("db", "former", { password: "p" }),
  flowControlReset: { flowControlKey: "db", resetCount: 1, appliedTrigger: "salt.mark" },
};

describe("fuzz: inputs", () => {
  const platform = new InProcessAdapter();

  for (const resource of ["passwordRotation", "flowControlReset"] as const) {
    it(`of a ${resource} are accepted, or refused by name, and nothing is sent`, async () => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(inputs, inputs, async (olds, news) => {
          if (resource === "flowControlReset") {
            news["flowControlKey"] ??= news["databaseId"];
            delete news["databaseId"];
          }
          const { failures = [], inputs: checked } = await platform.adapter[resource].check(olds, news);
          assertCarried(checked ?? {});
          for (const { property, reason } of failures) {
            assert.equal(property, "", "the engine prints the value of a property that is named");
            const names = [...Object.keys(news), "databaseId", "flowControlKey"];
            assert.ok(names.some((name) => reason.startsWith(`${name} `)) && reason.length < 600, reason);
          }
          refused += failures.length > 0 ? 1 : 0;
          assert.equal(platform.sent.length, 0);
          assertNothingPolluted();
        }),
        fuzz(2_000),
      );
      console.log(`    ${refused} were refused`);
    }).timeout(timeoutFor(2_000));

    it(`of a ${resource} that check accepts break neither diff nor create`, async () => {
      const id = resource === "passwordRotation" ? "databaseId" : "flowControlKey";
      platform.answer = () => `{"database_id":"other"}`;
      await fc.assert(
        fc.asyncProperty(inputs, async (given) => {
          const { [resource]: provider } = platform.adapter;
          const { databaseId, flowControlKey, ...others } = given;
          const news = { ...others, [id]: "db" };
          const { failures = [] } = await provider.check({}, news);
          if (failures.length > 0) return;
          const { changes } = await provider.diff("db", savedOf[resource], news);
          assert.equal(typeof changes, "boolean");
          // Nothing is created while an input is unknown; check accepts unknown ones.
          if (isUnknown(news)) return;
          const made = await provider.create(news).catch((error: unknown) => {
            assert.ok(error instanceof Error && !/failed unexpectedly|undefined/.test(error.message), String(error));
            return { outs: (error as { properties?: object }).properties ?? {} };
          });
          assertCarried(made.outs as Record<string, unknown>);
        }),
        fuzz(1_000),
      );
      platform.sent.length = 0;
    }).timeout(timeoutFor(1_000));
  }
});
