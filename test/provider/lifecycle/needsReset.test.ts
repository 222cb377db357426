import assert from "node:assert/strict";
import { needsReset } from "../../../provider/lifecycle/flowControlReset";
import { markTrigger, type Trigger } from "../../../provider/rotation/trigger";

const saved = (trigger: Trigger) => ({ appliedTrigger: markTrigger(trigger) });
const unreadable = { appliedTrigger: "9:new" };

const rows: readonly { title: string; state: { appliedTrigger: string }; desired: Trigger; expected: boolean }[] = [
  { title: "another version", state: saved({ version: 1 }), desired: { version: 2 }, expected: true },
  { title: "another trigger", state: saved({ triggers: { a: 1 } }), desired: { triggers: { a: 2 } }, expected: true },
  { title: "a first version", state: saved({}), desired: { version: 1 }, expected: true },
  { title: "an unreadable mark", state: unreadable, desired: { version: 1 }, expected: true },
  { title: "no mark", state: {} as typeof unreadable, desired: { version: 1 }, expected: true },
  {
    title: "the same version, written differently",
    state: saved({ version: 1 }),
    desired: { version: "1", triggers: {} },
    expected: false,
  },
  { title: "the trigger taken away", state: saved({ version: 1 }), desired: {}, expected: false },
  { title: "an unreadable mark and no trigger", state: unreadable, desired: {}, expected: false },
];

describe("lifecycle: whether a flow-control reset is needed", () => {
  for (const { title, state, desired, expected } of rows) {
    it(`${expected ? "resets" : "keeps"} for ${title}`, () => assert.equal(needsReset(state, desired), expected));
  }
});
