import assert from "node:assert/strict";
import fc from "fast-check";
import { providerTexts } from "../support/host";
import { resetSecret } from "../support/rotatedSecret";
import { isSecret, type Properties } from "../support/wire";
import { type Answer, answer, databaseId } from "./answers";
import {
  assertCarried,
  assertCredentialsKept,
  assertNothingPolluted,
  assertNothingShown,
  isUsable,
} from "./assertions";
import { InProcessAdapter } from "./inProcessAdapter";
import { fuzz, timeoutFor } from "./fuzz";

const __provider = providerTexts.PasswordRotation;
const former = { password: "former-password", restToken: "former-token" };

describe("fuzz: responses to a reset", () => {
  const platform = new InProcessAdapter();
  let run = 0;
  let formerState: Properties;
  before(async () => {
    const { outputs } = await resetSecret({ version: "former" }, former, { id: databaseId });
    formerState = outputs ?? assert.fail();
  });

  /** Returns what the engine would save: the outputs, or the properties of an init error. */
  async function ask(sent: Answer, saved: Properties | undefined): Promise<{ outs: Properties; confirmed: boolean }> {
    // A run remembers every result, and no real run asks for so many.
    if (run % 500 === 0) platform.renew();
    platform.answer = () => sent.text;
    platform.said.length = 0;
    platform.sent.length = 0;
    const inputs = { databaseId, version: String(run++), __provider };
    const { PasswordRotation } = platform.adapter;
    try {
      const call = saved ? PasswordRotation.update(databaseId, saved, inputs) : PasswordRotation.create(inputs);
      const { outs } = (await call) as { outs: Properties };
      return { outs, confirmed: outs["outcome"] === "reset" };
    } catch (error) {
      assert.ok(error instanceof Error, String(error));
      const { id, properties, reasons } = error as Error & { id: string; properties: Properties; reasons: string[] };
      assert.equal(id, databaseId, error.message);
      assert.deepEqual(reasons, [error.message]);
      platform.said.push(error.message);
      return { outs: properties, confirmed: false };
    }
  }

  const saved = fc.option(fc.constant(former), { nil: undefined });

  it("throw only errors, change no prototype, and neither lose nor show a credential", async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(answer, saved, async (sent, olds) => {
        const { outs, confirmed } = await ask(sent, olds && formerState);
        assertNothingPolluted();
        assertCarried(outs);
        assert.equal(platform.sent.length, 1);
        assert.equal(outs["__provider"], __provider);
        assertNothingShown(sent, outs, platform.said);
        if (confirmed) assertCredentialsKept(sent, outs);
        else assertFormerKept(olds, outs);
        assert.ok(confirmed || !isUsable(sent), "the reset was made, and its response was not used");
        if (confirmed) kept += sent.credentials.length;
      }),
      fuzz(3_000),
    );
    console.log(`    ${run} responses, ${kept} credentials in them kept or reported`);
  }).timeout(timeoutFor(3_000));
});

function assertFormerKept(olds: Properties | undefined, outs: Properties): void {
  assert.equal(outs["outcome"], "unknown");
  for (const [name, value] of Object.entries(olds ?? {})) {
    const output = outs[name];
    assert.ok(isSecret(output) && output.value === value, `the former ${name} is lost`);
  }
}
