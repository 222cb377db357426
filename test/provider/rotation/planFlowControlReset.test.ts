import assert from "node:assert/strict";
import { planFlowControlReset } from "../../../provider/rotation/planFlowControlReset";
import { markTrigger, type Trigger } from "../../../provider/rotation/trigger";

const saved = (trigger: Trigger) => ({ appliedTrigger: markTrigger(trigger) });

const rows: readonly (readonly [string, Parameters<typeof planFlowControlReset>, "reset" | "keep"])[] = [
  ["new", [undefined, {}], "reset"],
  ["new with a version", [undefined, { version: 1 }], "reset"],
  ["the same version, written otherwise", [saved({ version: 1 }), { version: "1", triggers: {} }], "keep"],
  ["another version", [saved({ version: 1 }), { version: 2 }], "reset"],
  ["another trigger", [saved({ triggers: { a: 1 } }), { triggers: { a: 2 } }], "reset"],
  ["a first version", [saved({}), { version: 1 }], "reset"],
  ["the trigger taken away", [saved({ version: 1 }), {}], "keep"],
  ["an unreadable mark", [{ appliedTrigger: "9:new" }, { version: 1 }], "reset"],
  ["no mark", [{}, { version: 1 }], "reset"],
  ["an unreadable mark and no trigger", [{ appliedTrigger: "9:new" }, {}], "keep"],
];

describe("rotation: plan of a flow-control reset", () => {
  for (const [what, [state, wanted], expected] of rows) {
    it(`${expected}s for ${what}`, () => assert.deepEqual(planFlowControlReset(state, wanted), { do: expected }));
  }
});
