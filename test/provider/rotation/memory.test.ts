import assert from "node:assert/strict";
import fc from "fast-check";
import { StateError } from "../../../provider/platform/errors";
import { marksOf, type Memory, readMemory, writeMemory } from "../../../provider/rotation/memory";
import { triggerMark } from "../../../provider/rotation/trigger";
import { contextAt, stateAfterReset } from "../../support/savedRotation";

const { memory } = stateAfterReset({ version: 1, rotateEvery: "30d" }, { password: "secret-1" }, contextAt(new Date()));
const damaged = (change: object): string => JSON.stringify({ ...memory, ...change });

describe("memory: its saved form", () => {
  it("is read as it was written, and has no value of a credential", () => {
    const text = writeMemory(memory);
    assert.deepEqual(readMemory(text), JSON.parse(text));
    assert.doesNotMatch(text, /secret-1/);
  });

  const rotatedAt = memory.rotatedAt.slice(0, 10);
  const damages: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    "another type": { memory },
    "text that is cut off": writeMemory(memory).slice(0, -5),
    "a list": "[]",
    "a time that is cut off": damaged({ rotatedAt }),
    "a time of a key that is cut off": damaged({ made: [{ at: rotatedAt }] }),
    "a time of the last roll that is none": damaged({ rolledAt: "yesterday" }),
    "no marks of what is current": damaged({ current: undefined }),
    "a mark that is not text": damaged({ former: [1] }),
    "a credential that does not exist": damaged({ best: "pin" }),
    "a pending reset without a count": damaged({ pending: { trigger: "", reason: "trigger", at: memory.rotatedAt } }),
    "a salt that is too short": damaged({ salt: "abc" }),
    "an interval that cannot be read": damaged({ declared: { rotateEvery: "soon" } }),
    "a form of saving that does not exist": damaged({ declared: { saveCredentials: true } }),
    "a field of a newer version": damaged({ later: true }),
  };
  for (const [what, text] of Object.entries(damages)) {
    it(`refuses ${what}`, () => assert.throws(() => readMemory(text), StateError));
  }

  it("refuses whatever lost a field, instead of deciding from the rest", () => {
    const needed: readonly (keyof Memory)[] = [
      "salt",
      "current",
      "former",
      "replaced",
      "rotatedAt",
      "made",
      "declared",
    ];
    for (const name of needed) assert.throws(() => readMemory(damaged({ [name]: undefined })), StateError, name);
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
    assert.equal(mark({ triggers: {} }), "");
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => (mark({ version: a }) === mark({ version: b })) === (a === b)),
    );
  });
});
