import assert from "node:assert/strict";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { isElsewhere } from "../../../provider/rotation/saved";
import { Run } from "../../../provider/run";
import { FakeRun } from "../../support/fakeRun";

describe("rotation: the mark of an account", () => {
  const cases = [
    { saved: "1:a", current: "1:b", isOther: true },
    { saved: "1:a", current: "1:a", isOther: false },
    { saved: "1:a", current: undefined, isOther: false },
    { saved: undefined, current: "1:b", isOther: false },
    { saved: "2:a", current: "1:b", isOther: false },
    { saved: 7, current: "1:b", isOther: false },
  ];
  for (const { saved, current, isOther } of cases) {
    it(`${String(saved)} is ${isOther ? "" : "not known to be "}another account than ${String(current)}`, () => {
      const fake = new FakeRun();
      fake.account = current;
      assert.equal(isElsewhere(databasePassword, { account: saved as string }, fake.start()), isOther);
    });
  }

  it("of a run is not read for a state without one", () => {
    const run = new Run({ ...new FakeRun().start().options, account: () => assert.fail("read") });
    assert.equal(isElsewhere(databasePassword, undefined, run), false);
  });
});
