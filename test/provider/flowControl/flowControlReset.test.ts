import assert from "node:assert/strict";
import {
  apply,
  decidingInputs,
  diff,
  needsReset,
  secretFlowControlResetOutputs,
} from "../../../provider/flowControl/flowControlReset";
import { compareTrigger, markTrigger, type Trigger } from "../../../provider/rotation/trigger";
import { FakeRun, notSent, unconfirmed } from "../../support/fakeRun";

const v1 = { flowControlKey: "orders", version: 1 };
const v2 = { ...v1, version: 2 };
const zeros = { waitListSize: 0, parallelismCount: 0 };
const state = (rateCount: number) => ({ flowControlKey: "orders", exists: true, ...zeros, rateCount });

describe("lifecycle: FlowControlReset", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  it("creates with one reset, and saves the state of the key before and after it", async () => {
    const { outputs } = await apply(undefined, v1, fake.start());
    const { appliedTrigger, ...plain } = outputs;
    const resetAt = "2026-11-21T12:00:00.000Z";
    assert.deepEqual(plain, { flowControlKey: "orders", before: state(0), after: state(1), resetAt, resetCount: 1 });
    assert.equal(compareTrigger(appliedTrigger, v1), "same");
    assert.deepEqual(fake.resets, ["orders"]);
  });

  it("keeps the saved state, without a request, if nothing changed", async () => {
    const { outputs: saved } = await apply(undefined, v1, fake.start());
    for (const inputs of [v1, { ...v1, version: "1", triggers: {} }, { flowControlKey: "orders" }]) {
      assert.deepEqual(diff(saved, inputs), { changes: false });
      assert.deepEqual(await apply(saved, inputs, fake.start()), { outputs: saved });
    }
    assert.deepEqual([fake.resets.length, fake.reads.length], [1, 2]);
  });

  it("resets for another trigger, and is replaced by another key", async () => {
    const { outputs: saved } = await apply(undefined, v1, fake.start());
    assert.deepEqual(diff(saved, v2), { changes: true });
    const { outputs } = await apply(saved, v2, fake.start());
    assert.deepEqual([outputs.resetCount, outputs.before?.rateCount, outputs.after?.rateCount], [2, 1, 2]);
    assert.deepEqual(diff(outputs, v2), { changes: false });
    assert.deepEqual(diff(saved, { ...v1, flowControlKey: "emails" }), { changes: true, replaces: ["flowControlKey"] });
  });

  it("resets even if the key cannot be read", async () => {
    fake.readKey = () => notSent();
    const { outputs } = await apply(undefined, v1, fake.start());
    assert.ok(!("before" in outputs) && !("after" in outputs));
    assert.deepEqual([outputs.resetCount, fake.resets], [1, ["orders"]]);
  });

  it("fails if the reset fails, and saves nothing: a second reset does no harm", async () => {
    for (const error of [notSent(), unconfirmed()]) {
      fake.resetKey = () => error;
      await assert.rejects(apply(undefined, v1, fake.start()), error);
    }
  });

  it("has these deciding inputs and secret outputs", () => {
    assert.deepEqual([...decidingInputs].sort(), ["flowControlKey", "triggers", "version"]);
    assert.deepEqual([...secretFlowControlResetOutputs], ["appliedTrigger"]);
  });

  const saved = (trigger: Trigger) => ({ appliedTrigger: markTrigger(trigger) });
  const unreadable = { appliedTrigger: "9:new" };
  const rows: readonly { title: string; state: { appliedTrigger: string }; desired: Trigger; expected: boolean }[] = [
    { title: "another version", state: saved({ version: 1 }), desired: { version: 2 }, expected: true },
    { title: "another trigger", state: saved({ triggers: { a: 1 } }), desired: { triggers: { a: 2 } }, expected: true },
    { title: "a first version", state: saved({}), desired: { version: 1 }, expected: true },
    { title: "an unreadable mark", state: unreadable, desired: { version: 1 }, expected: true },
    { title: "no mark", state: {} as typeof unreadable, desired: { version: 1 }, expected: true },
    { title: "a version that was removed", state: saved({ version: 1 }), desired: {}, expected: false },
    { title: "an unreadable mark and no trigger", state: unreadable, desired: {}, expected: false },
  ];
  for (const { title, state, desired, expected } of rows) {
    it(`${expected ? "needs a" : "needs no"} reset for ${title}`, () =>
      assert.equal(needsReset(state, desired), expected));
  }
});
