import assert from "node:assert/strict";
import fc from "fast-check";
import { StateError } from "../../../provider/platform/errors";
import { adopt } from "../../../provider/rotation/adoption";
import { signingKeys } from "../../../provider/platform/secretKind";
import { marksOf, triggerMark } from "../../../provider/rotation/marks";
import { emptyMemory, progressOf, readMemory, writeMemory } from "../../../provider/rotation/memory";
import { contextAt, stateAfterReset } from "../../support/savedRotation";

const { memory } = stateAfterReset({ version: 1, rotateEvery: "30d" }, { password: "secret-1" }, contextAt(new Date()));
const text = writeMemory(memory);

describe("memory: its saved form", () => {
  it("is read unchanged, and has no value of a credential", () => {
    assert.equal(writeMemory(readMemory(text)), text);
    assert.doesNotMatch(text, /secret-1/);
  });

  const others = { nothing: undefined, "another type": { memory }, "a list": "[]", "no seal": JSON.stringify(memory) };
  for (const [what, given] of Object.entries(others)) {
    it(`refuses ${what}`, () =>
      assert.throws(() => readMemory(given), /Use the version of pulumi-rekey that wrote it/));
  }

  it("refuses any damage, instead of deciding from the rest: what is cut off, missing, changed or added", () => {
    const parts = Object.entries(JSON.parse(text) as object);
    const index = fc.nat({ max: text.length - 1 });
    fc.assert(fc.property(index, (at) => void assert.throws(() => readMemory(text.slice(0, at)), StateError)));
    for (const [name] of parts) {
      const rest = Object.fromEntries(parts.filter(([other]) => other !== name));
      for (const damaged of [rest, { ...rest, [name]: "" }, { ...rest, [name]: [1] }]) {
        assert.throws(() => readMemory(JSON.stringify(damaged)), StateError, name);
      }
    }
    const added = JSON.stringify({ ...Object.fromEntries(parts), later: true });
    assert.throws(() => readMemory(added), StateError);
    assert.throws(() => readMemory(text.replace(/"scheduledFrom":"\d{4}/, '"scheduledFrom":"2000')), StateError);
  });
});

describe("memory: of a secret of which nothing is known", () => {
  it("has an age for each of its keys", () => {
    const ofKeys = contextAt(new Date(), { kind: signingKeys });
    const made = [contextAt(new Date()), ofKeys].map((context) => emptyMemory(context).made);
    assert.deepEqual(made, [[{}], [{}, {}]]);
    assert.deepEqual(emptyMemory(ofKeys).maybeFormer, []);
  });

  it("is adopted with the trigger of the program, and with what is shown", () => {
    const context = contextAt(new Date());
    const { state, findings } = adopt({ version: 1 }, undefined, context);
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["adopted"],
    );
    assert.equal(state.memory.applied, triggerMark(state.memory, { version: 1 }));
    assert.deepEqual(progressOf(state), { outcome: "adopted", adoptedAt: context.now.toISOString() });
  });
});

describe("memory: marks", () => {
  it("differ by salt, and tell credentials apart", () => {
    const one = marksOf({ salt: "a".repeat(22) }, { password: "x", restToken: "x" });
    assert.equal(one.password, one.restToken);
    assert.notEqual(one.password, marksOf({ salt: "b".repeat(22) }, { password: "x" }).password);
    assert.match(one.password ?? "", /^[\w-]{16}$/);
  });

  it("of triggers are the same if the triggers are, however they are written", () => {
    const mark = (trigger: object) => triggerMark(memory, trigger);
    assert.equal(mark({ version: 1, triggers: { a: true } }), mark({ version: "1", triggers: { a: "true", b: null } }));
    assert.equal(mark({ triggers: { a: 1, b: 2 } }), mark({ triggers: { b: 2, a: 1 } }));
    assert.equal(mark({ triggers: {} }), "");
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => (mark({ version: a }) === mark({ version: b })) === (a === b)),
    );
  });
});
