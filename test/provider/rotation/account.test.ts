import assert from "node:assert/strict";
import { isOtherAccount } from "../../../provider/rotation/planRotation";
import { markAccount } from "../../../provider/run";

describe("rotation: the mark of an account", () => {
  it("has this form, in each version", () => {
    assert.equal(markAccount("https://api.example.com", "you@example.com"), "1:otDzN2Mg");
  });

  it("differs by address and by user name", () => {
    const marks = [
      markAccount("https://api.example.com", "you"),
      markAccount("https://api.example.com", "me"),
      markAccount("https://api.example.org", "you"),
    ];
    assert.equal(new Set(marks).size, marks.length);
  });

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
      assert.equal(
        isOtherAccount(saved, () => current),
        isOther,
      );
    });
  }

  it("of a run is not read for a state without one", () => {
    assert.equal(
      isOtherAccount(undefined, () => assert.fail("read")),
      false,
    );
  });
});
