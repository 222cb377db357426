import assert from "node:assert/strict";
import { flowControlKeyFrom } from "../../../provider/records/flowControl";

describe("records: state of a flow-control key", () => {
  const zeros = { waitListSize: 0, parallelismCount: 0, rateCount: 0 };

  it("has counters of 0 where the platform leaves them out, and no limit that was not set", () => {
    assert.deepEqual(flowControlKeyFrom("k", {}), { ...zeros, flowControlKey: "k", exists: true });
    assert.deepEqual(flowControlKeyFrom("k", { waitListSize: 2, rateMax: 5 }), {
      ...zeros,
      waitListSize: 2,
      rateMax: 5,
      flowControlKey: "k",
      exists: true,
    });
  });

  it("does not exist where nothing was read", () => {
    assert.deepEqual(flowControlKeyFrom("k", undefined), { ...zeros, flowControlKey: "k", exists: false });
  });
});
