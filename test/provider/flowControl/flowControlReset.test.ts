import assert from "node:assert/strict";
import {
  flowControlReset,
  type FlowControlResetInputs,
  type FlowControlResetOutputs,
} from "../../../provider/flowControl/flowControlReset";
import { asShown, FakeRun, notSent, unconfirmed } from "../../support/fakeRun";
import { unknown } from "../../support/wire";

const { apply, plan } = asShown(flowControlReset);
const key = { flowControlKey: "orders" };
const v1 = { ...key, version: 1 };
const v2 = { ...key, version: 2 };

describe("FlowControlReset: the plan", () => {
  let saved: FlowControlResetOutputs;
  before(async () => (saved = (await apply(undefined, v1, new FakeRun().start())).outputs));

  const counters = 'the counters of flow-control key "orders"';
  const changed = `Resets ${counters}, because version or triggers have changed.`;
  const isNew =
    'Resets the counters of flow-control key "orders", because the resource is new. To keep them, set `initialReset: false`. If it was only renamed, use the option `aliases`.';
  const notYet = (names: string) => `May reset ${counters}: ${names} not known yet.`;
  const [none, unreadable] = [{ appliedTrigger: "" }, { appliedTrigger: "9.new" }];
  type Row = readonly [inputs: FlowControlResetInputs, says: string | undefined | false, more?: object];
  /** What is said of the counters; undefined if nothing is said of a change, false if there is none. */
  const rows: Readonly<Record<string, Row>> = {
    "the same version": [v1, false],
    "the same version, written differently": [{ ...key, version: "1", triggers: {} }, false],
    "a version that was removed": [key, false],
    "initialReset, later": [{ ...v1, initialReset: true }, false],
    "another version": [v2, changed],
    "another trigger": [{ ...v1, triggers: { a: 1 } }, changed],
    "a mark that cannot be read: one more reset does no harm": [v1, changed, unreadable],
    "no mark": [v1, changed, none],
    "no mark, and no trigger": [key, false, none],
    "a version that is not known yet": [{ ...key, version: unknown }, notYet("version is")],
  };
  for (const [what, [inputs, says, more]] of Object.entries(rows)) {
    it(`is for ${what}: ${says === false ? "nothing" : says}`, () => {
      const { changes, notice } = plan({ ...saved, ...more }, inputs);
      assert.deepEqual([changes, notice], [says !== false, says || undefined]);
    });
  }

  const newRows: Readonly<Record<string, Row>> = {
    "a trigger or none": [key, isNew],
    "initialReset: false": [{ ...v1, initialReset: false }, undefined],
    "initialReset: false, and a version that is not known yet": [
      { ...key, version: unknown, initialReset: false },
      undefined,
    ],
    "a version that is not known yet": [{ ...key, version: unknown }, isNew],
    "initialReset that is not known yet": [{ ...v1, initialReset: unknown as never }, notYet("initialReset is")],
  };
  for (const [what, [inputs, says]] of Object.entries(newRows)) {
    it(`of a new resource is for ${what}: ${says}`, () => {
      assert.deepEqual(plan(undefined, inputs), { changes: true, ...(says && { notice: says }) });
    });
  }
});

describe("FlowControlReset", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  it("resets once for each trigger, and saves the state of the key before and after it", async () => {
    const state = (rateCount: number) => ({ ...key, exists: true, waitListSize: 0, parallelismCount: 0, rateCount });
    const first = (await apply(undefined, v1, fake.start())).outputs;
    const { appliedTrigger: _mark, ...plain } = first;
    const resetAt = "2026-11-21T12:00:00.000Z";
    assert.deepEqual(plain, { ...key, before: state(0), after: state(1), resetAt, resetCount: 1 });
    assert.deepEqual(await apply(first, { ...key, version: "1" }, fake.start()), { outputs: first });
    const { outputs } = await apply(first, v2, fake.start());
    assert.deepEqual([outputs.resetCount, outputs.before?.rateCount, outputs.after?.rateCount], [2, 1, 2]);
    assert.deepEqual([fake.resets, fake.reads.length], [["orders", "orders"], 4]);
  });

  it("with initialReset: false sends nothing until its trigger changes", async () => {
    const { outputs, notice } = await apply(undefined, { ...v1, initialReset: false }, fake.start());
    assert.deepEqual([outputs.resetCount, outputs.resetAt, notice], [0, undefined, undefined]);
    assert.equal(plan(outputs, v1).changes, false);
    assert.deepEqual([fake.resets, fake.reads], [[], []]);
    assert.equal((await apply(outputs, v2, fake.start())).outputs.resetCount, 1);
    // A trigger that it gets later is another one.
    const { outputs: none } = await apply(undefined, { ...key, initialReset: false }, fake.start());
    assert.equal(plan(none, v1).changes, true);
  });

  it("resets even if the key cannot be read, and says whether a read has just shown it", async () => {
    const given: boolean[] = [];
    fake.resetKey = (isKnown) => (given.push(isKnown), "reset");
    for (const read of [() => ({}), () => ({ exists: false }), () => notSent()]) {
      fake.readKey = read;
      const { outputs } = await apply(undefined, v1, fake.start());
      assert.equal(outputs.before !== undefined && outputs.after !== undefined, given.length < 3);
    }
    assert.deepEqual(given, [true, false, false]);
  });

  it("reports the action that was sent", async () => {
    fake.resetKey = () => "resetRate";
    const { notice } = await apply(undefined, v1, fake.start());
    assert.equal(notice, 'Flow-control key "orders" was reset by `resetRate`.');
  });

  it("fails if the reset fails, and saves nothing: a second reset does no harm", async () => {
    for (const failing of [notSent, unconfirmed]) {
      fake.resetKey = failing;
      await assert.rejects(apply(undefined, v1, fake.start()), /it broke/);
    }
  });
});
