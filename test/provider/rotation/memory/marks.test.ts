import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalTrigger, marksOf, type Trigger, triggerMark } from "../../../../provider/rotation/memory/marks";

describe("marks", () => {
  it("differ by salt, and tell credentials apart", () => {
    const one = marksOf({ salt: "a".repeat(22) }, { password: "x", restToken: "x" });
    assert.equal(one.password, one.restToken);
    assert.notEqual(one.password, marksOf({ salt: "b".repeat(22) }, { password: "x" }).password);
    assert.match(one.password ?? "", /^[\w-]{16}$/);
  });

  it("of triggers are the same if the triggers are, however they are written", () => {
    const mark = (trigger: Trigger) => triggerMark({ salt: "a" }, canonicalTrigger(trigger));
    assert.equal(mark({ version: 1, triggers: { a: true } }), mark({ version: "1", triggers: { a: "true", b: null } }));
    assert.equal(mark({ triggers: { a: 1, b: 2 } }), mark({ triggers: { b: 2, a: 1 } }));
    for (const none of [{ triggers: {} }, { version: null }, { version: undefined, triggers: null }]) {
      assert.equal(mark(none), "");
    }
    assert.notEqual(mark({ version: "undefined" }), "");
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => (mark({ version: a }) === mark({ version: b })) === (a === b)),
    );
  });
});
