import assert from "node:assert/strict";
import fc from "fast-check";
import {
  appliedMark,
  canonicalTrigger,
  compareTrigger,
  isNoTrigger,
  isSameTrigger,
  markTrigger,
  type Trigger,
} from "../../../provider/rotation/trigger";

const salt = "000102030405060708090a0b0c0d0e0f";

/** Frozen: forms and marks that are saved in stacks. To change one is to reset every password on an upgrade. */
const vectors: readonly (readonly [Trigger, canonical: string, mac: string])[] = [
  [{}, "[null,[]]", "27dae2667b74d7172d76f022b3e61f47a5a01664d6d2cc71a304201834465b7d"],
  [{ version: 1 }, '["1",[]]', "78231308e5c050f156f1441cd6090b820517aea4ea98deda5718303504232769"],
  [{ version: "" }, '["",[]]', "925d7d11136a03356a6a80cef655e46b140e06470991bc3c297d7cd0a3e7ab13"],
  [{ version: "é\n" }, '["é\\n",[]]', "b8ac85dad27b0ec642d2d2a8bf326a1a3f7100cc1ef3ce7ee5abb4a56eb8adb0"],
  [
    { triggers: { on: true } },
    '[null,[["on","true"]]]',
    "c2813cec456f1ef5f2f24e53174a7ead333cf8c60501e4ecc936dca83157a2d4",
  ],
  [
    { version: "2026-11", triggers: { team: 7, env: "prod", none: null } },
    '["2026-11",[["env","prod"],["team","7"]]]',
    "69148fb300e879c4355cee8829d88c3dfa881c8d361e46516afc7ef254da1ccb",
  ],
];

const same: readonly { readonly what: string; readonly one: Trigger; readonly other: Trigger }[] = [
  { what: "no triggers and none in them", one: { version: 1 }, other: { version: 1, triggers: {} } },
  { what: "no triggers and null", one: { version: 1 }, other: { version: 1, triggers: null } },
  {
    what: "a trigger left out and null",
    one: { triggers: { a: 1 } },
    other: { triggers: { a: 1, b: null, c: undefined } },
  },
];

const different: readonly { readonly what: string; readonly one: Trigger; readonly other: Trigger }[] = [
  { what: "another version", one: { version: 1 }, other: { version: 2 } },
  { what: "no version and an empty one", one: {}, other: { version: "" } },
  { what: "numbers that are written apart", one: { version: "1" }, other: { version: "1.0" } },
  { what: "another name", one: { triggers: { a: 1 } }, other: { triggers: { b: 1 } } },
  { what: "values the other way round", one: { triggers: { a: 1, b: 2 } }, other: { triggers: { a: 2, b: 1 } } },
  { what: "a version and a trigger of its name", one: { version: "1" }, other: { triggers: { version: "1" } } },
  { what: "a trigger more", one: { triggers: { a: 1 } }, other: { triggers: { a: 1, b: "" } } },
];

describe("rotation: trigger", () => {
  for (const [trigger, canonical, mac] of vectors) {
    it(`is frozen for ${canonical}`, () => {
      assert.equal(canonicalTrigger(trigger), canonical);
      assert.equal(compareTrigger(`1:${salt}:${mac}`, trigger), "same");
      assert.equal(compareTrigger(`1:${salt}:${mac}`, { version: "another" }), "different");
    });
  }

  for (const { what, one, other } of same) {
    it(`is the same for ${what}`, () => {
      assert.equal(canonicalTrigger(one), canonicalTrigger(other));
      assert.equal(compareTrigger(markTrigger(one), other), "same");
    });
  }

  for (const { what, one, other } of different) {
    it(`differs for ${what}`, () => assert.equal(compareTrigger(markTrigger(one), other), "different"));
  }

  it("is empty if there is neither a version nor a trigger with a value", () => {
    const none: Trigger[] = [{}, { version: null }, { triggers: {} }, { triggers: { a: null } }];
    assert.deepEqual(none.map(isNoTrigger), [true, true, true, true]);
    const some: Trigger[] = [{ version: 0 }, { version: "" }, { triggers: { a: false } }];
    assert.deepEqual(some.map(isNoTrigger), [false, false, false]);
  });

  it("has a mark with a new salt each time, which reveals nothing of the trigger", () => {
    const [one, other] = [markTrigger({ version: "hunter2" }), markTrigger({ version: "hunter2" })];
    assert.match(one, /^1:[0-9a-f]{32}:[0-9a-f]{64}$/);
    assert.notEqual(one.split(":")[1], other.split(":")[1]);
    assert.notEqual(one.split(":")[2], other.split(":")[2]);
  });

  it("is not guessed from an unreadable mark", () => {
    const mark = markTrigger({});
    const marks = [undefined, null, "", 1, {}, mark.replace("1:", "2:"), mark.slice(0, -1), `${mark}0`, ` ${mark}`];
    for (const one of marks) assert.equal(compareTrigger(one, {}), "unreadable");
  });

  it("counts as the saved one if it is the same or was removed", () => {
    const mark = markTrigger({ version: 1 });
    assert.equal(isSameTrigger(mark, { version: "1" }), true);
    assert.equal(isSameTrigger(mark, {}), true);
    assert.equal(isSameTrigger(mark, { version: 2 }), false);
  });

  it("stays applied when it is removed; an attempted one replaces the applied one", () => {
    const [attempted, applied, none] = [markTrigger({ version: 2 }), markTrigger({ version: 1 }), markTrigger({})];
    assert.equal(compareTrigger(appliedMark([attempted, applied], { version: 3 }), { version: 3 }), "same");
    assert.equal(appliedMark([attempted, applied], {}), attempted);
    assert.equal(appliedMark([undefined, applied], {}), applied);
    assert.equal(appliedMark([none, applied], {}), applied);
    assert.equal(compareTrigger(appliedMark([none, undefined], {}), {}), "same");
  });

  it("does not depend on the order of keys or on how a number is written", () => {
    const scalar = fc.oneof(fc.integer(), fc.string(), fc.boolean());
    const triggers = fc.uniqueArray(fc.tuple(fc.string(), scalar), { selector: ([name]) => name });
    fc.assert(
      fc.property(fc.option(fc.oneof(fc.integer(), fc.string())), triggers, (version, entries) => {
        const written = { version, triggers: Object.fromEntries(entries) };
        const triggers = Object.fromEntries(entries.map(([name, value]) => [name, String(value)] as const).reverse());
        const otherwise = { version: version === null ? undefined : String(version), triggers };
        assert.equal(canonicalTrigger(written), canonicalTrigger(otherwise));
        assert.equal(compareTrigger(markTrigger(written), otherwise), "same");
      }),
    );
  });

  it("never confuses two triggers", () => {
    const text = fc.string({ unit: "binary", maxLength: 4 });
    const trigger = fc.record({ version: fc.option(text), triggers: fc.dictionary(text, text, { maxKeys: 3 }) });
    const plain = ({ version, triggers }: { version: string | null; triggers: Record<string, string> }) =>
      JSON.stringify([version, Object.entries(triggers).sort(([one], [other]) => (one < other ? -1 : 1))]);
    fc.assert(
      fc.property(trigger, trigger, (one, other) => {
        assert.equal(canonicalTrigger(one) === canonicalTrigger(other), plain(one) === plain(other));
      }),
    );
  });
});
