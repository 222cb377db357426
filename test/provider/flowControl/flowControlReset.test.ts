import assert from "node:assert/strict";
import {
  flowControlReset,
  needsReset,
  secretFlowControlResetOutputs,
} from "../../../provider/flowControl/flowControlReset";
import { compareTrigger, markTrigger, type Trigger } from "../../../provider/rotation/trigger";
import { asShown, FakeRun, notSent, unconfirmed } from "../../support/fakeRun";

const { apply, diff } = asShown(flowControlReset);
const v1 = { flowControlKey: "orders", version: 1 };
const v2 = { ...v1, version: 2 };
const zeros = { waitListSize: 0, parallelismCount: 0 };
const state = (rateCount: number) => ({ flowControlKey: "orders", exists: true, ...zeros, rateCount });

describe("flow control: FlowControlReset", () => {
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
    assert.deepEqual({ resets: fake.resets.length, reads: fake.reads.length }, { resets: 1, reads: 2 });
  });

  it("resets for another trigger, and is replaced by another key", async () => {
    const { outputs: saved } = await apply(undefined, v1, fake.start());
    assert.deepEqual(diff(saved, v2), { changes: true });
    const { outputs } = await apply(saved, v2, fake.start());
    const { resetCount, before, after } = outputs;
    const counts = { resetCount, before: before?.rateCount, after: after?.rateCount };
    assert.deepEqual(counts, { resetCount: 2, before: 1, after: 2 });
    assert.deepEqual(diff(outputs, v2), { changes: false });
    assert.deepEqual(diff(saved, { ...v1, flowControlKey: "emails" }), { changes: true, replaces: ["flowControlKey"] });
  });

  it("resets even if the key cannot be read", async () => {
    fake.readKey = () => notSent();
    const { outputs } = await apply(undefined, v1, fake.start());
    assert.ok(!("before" in outputs) && !("after" in outputs));
    assert.deepEqual({ resetCount: outputs.resetCount, resets: fake.resets }, { resetCount: 1, resets: ["orders"] });
  });

  it("reports the action that was sent, and the counters that it clears", async () => {
    const both = "`reset`, which clears the parallelism counter and the rate counter";
    const rows = { reset: both, resetRate: "`resetRate`, which clears only the rate counter" };
    for (const [action, expected] of Object.entries({ ...rows, x: "`x`, the value of rekey:flowControlResetAction" })) {
      fake.resetKey = () => action;
      const { notice } = await apply(undefined, v1, fake.start());
      assert.equal(notice, `Flow-control key "orders" was reset by ${expected}.`);
    }
  });

  it("passes to the platform's client whether a read has just shown the key", async () => {
    const given: boolean[] = [];
    fake.resetKey = (isKnown) => (given.push(isKnown), "reset");
    const reads = [() => ({}), () => ({ exists: false }), () => notSent()];
    for (const read of reads) {
      fake.readKey = read;
      await apply(undefined, v1, fake.start());
    }
    assert.deepEqual(given, [true, false, false]);
  });

  it("reports that nothing was released if the parallelism is the limit that is reached", async () => {
    const full = { waitListSize: 7, parallelismCount: 3, parallelismMax: 3 };
    const rows: Readonly<Record<string, { after: object; action?: string; isNoticed: boolean }>> = {
      "the same as before": { after: full, isNoticed: true },
      "a reset that clears the parallelism": { after: full, action: "reset", isNoticed: false },
      "dispatched, and full again": { after: { ...full, waitListSize: 4 }, isNoticed: false },
      free: { after: { ...full, parallelismCount: 0 }, isNoticed: false },
      "no limit of parallelism": { after: { ...full, parallelismMax: undefined }, isNoticed: false },
      "nothing waits": { after: { ...full, waitListSize: 0 }, isNoticed: false },
    };
    for (const [what, { after, action = "resetRate", isNoticed }] of Object.entries(rows)) {
      fake = new FakeRun();
      fake.resetKey = () => action;
      fake.readKey = (resets) => (resets === 0 ? full : after);
      const { notice = "" } = await apply(undefined, v1, fake.start());
      const expected =
        /^Flow-control key "orders" was .* 7 messages still wait, because 3 of at most 3 run\. Wait until/;
      assert.equal(expected.test(notice), isNoticed, what);
    }
  });

  it("fails if the reset fails, and saves nothing: a second reset does no harm", async () => {
    for (const error of [notSent(), unconfirmed()]) {
      fake.resetKey = () => error;
      await assert.rejects(apply(undefined, v1, fake.start()), error);
    }
  });

  it("has these deciding inputs and secret outputs", () => {
    assert.deepEqual([...flowControlReset.decidingInputs].sort(), ["flowControlKey", "triggers", "version"]);
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
