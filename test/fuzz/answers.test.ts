import assert from "node:assert/strict";
import fc from "fast-check";
import { isSecret, type Properties } from "../support/wire";
import { type Answer, answer, databaseId } from "./answers";
import {
  assertCarried,
  assertCredentialsKept,
  assertNothingPolluted,
  assertNothingShown,
  isUsable,
} from "./assertions";
import { InProcessFace } from "./face";
import { fuzz, patience } from "./settings";

const __provider = 'exports.handler=()=>require("pulumi-rekey/provider").passwordRotation';
const former: Properties = { password: "former-password", restToken: "former-token" };

describe("fuzz: answers to a reset", () => {
  const platform = new InProcessFace();
  let run = 0;
  before(() => platform.start());
  after(() => platform.stop());

  /** What the engine would save: the outputs, or an init error's properties. */
  async function ask(sent: Answer, saved: Properties | undefined): Promise<{ outs: Properties; confirmed: boolean }> {
    // The run remembers every result; and so much is not asked in one.
    if (run % 500 === 0) platform.renew();
    platform.answer = () => sent.text;
    platform.said = [];
    platform.sent.length = 0;
    const inputs = { databaseId, version: String(run++), __provider };
    const { passwordRotation } = platform.face;
    try {
      const call = saved ? passwordRotation.update(databaseId, saved, inputs) : passwordRotation.create(inputs);
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

  it("none throws what is no error, changes a prototype, or loses or shows a credential", async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(answer, saved, async (sent, olds) => {
        const appliedTrigger = `1:${"0".repeat(32)}:${"0".repeat(64)}`;
        const state = olds && { ...olds, databaseId, outcome: "reset", appliedTrigger, rotationCount: 1 };
        const { outs, confirmed } = await ask(sent, state);
        assertNothingPolluted();
        assertCarried(outs);
        assert.equal(platform.sent.length, 1);
        assert.equal(outs["__provider"], __provider);
        assertNothingShown(sent, outs, platform.said);
        if (confirmed) assertCredentialsKept(sent, outs);
        else assertFormerKept(olds, outs);
        assert.ok(confirmed || !isUsable(sent), "the reset was made, and its answer was not used");
        if (confirmed) kept += sent.credentials.length;
      }),
      fuzz(3_000),
    );
    console.log(`    ${run} answers, ${kept} credentials in them kept or reported`);
  }).timeout(patience(3_000));
});

function assertFormerKept(olds: Properties | undefined, outs: Properties): void {
  assert.equal(outs["outcome"], "unknown");
  for (const [name, value] of Object.entries(olds ?? {})) {
    const output = outs[name];
    assert.ok(isSecret(output) && output.value === value, `the former ${name} is lost`);
  }
}
