import assert from "node:assert/strict";
import { apply, decidingInputs, diff, secretOutputs } from "../../../provider/lifecycle/flowControlReset";
import { compareTrigger } from "../../../provider/rotation/trigger";
import { FakeRun, notSent, unconfirmed } from "../../support/fakeRun";

const v1 = { flowControlKey: "orders", version: 1 };
const v2 = { ...v1, version: 2 };
const state = (rateCount: number) => ({
  flowControlKey: "orders",
  exists: true,
  waitListSize: 0,
  parallelismCount: 0,
  rateCount,
});

describe("lifecycle: FlowControlReset", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  it("creates with one reset, and shows the key before and after it", async () => {
    const { outputs } = await apply(undefined, v1, fake.start());
    const { appliedTrigger, ...plain } = outputs;
    const resetAt = "2026-11-21T12:00:00.000Z";
    assert.deepEqual(plain, { flowControlKey: "orders", before: state(0), after: state(1), resetAt, resetCount: 1 });
    assert.equal(compareTrigger(appliedTrigger, v1), "same");
    assert.deepEqual(fake.resets, ["orders"]);
  });

  it("keeps what was saved, unread, and is no change", async () => {
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

  it("resets though the key cannot be read", async () => {
    fake.readKey = () => notSent();
    const { outputs } = await apply(undefined, v1, fake.start());
    assert.ok(!("before" in outputs) && !("after" in outputs));
    assert.deepEqual([outputs.resetCount, fake.resets], [1, ["orders"]]);
  });

  it("fails with the reset, and has saved nothing: once more does no harm", async () => {
    for (const error of [notSent(), unconfirmed()]) {
      fake.resetKey = () => error;
      await assert.rejects(apply(undefined, v1, fake.start()), error);
    }
  });

  it("decides by these inputs, and keeps the mark secret", () => {
    assert.deepEqual([...decidingInputs].sort(), ["flowControlKey", "triggers", "version"]);
    assert.deepEqual([...secretOutputs], ["appliedTrigger"]);
  });
});
