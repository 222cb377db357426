import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalTrigger, isNoTrigger, type Trigger } from "../../../provider/rotation/trigger";
import { combineTriggers, idIsUnknown, isListedTwice, shardOf, shardsOf } from "../../../provider/rotation/fleet";

describe("rotation: the shard of a database", () => {
  /** Frozen: with another shard, a database would be reset on an upgrade. */
  const vectors: readonly (readonly [string, string])[] = [
    ["db-0", "13"],
    ["db-1", "08"],
    ["db-quickstart", "11"],
    ["6b0cdc1f-3a05-4d8e-9f57-1f0c5c4a4b52", "08"],
    ["Ünïcode 💾", "03"],
    ["__proto__", "00"],
  ];
  for (const [id, shard] of vectors) {
    it(`of ${JSON.stringify(id)} is ${shard}`, () => assert.equal(shardOf(id), shard));
  }
});

describe("rotation: the trigger of a fleet's database", () => {
  /** Frozen, as the canonical form of a trigger is. */
  const vectors: readonly (readonly [fleet: Trigger, own: Trigger, canonical: string])[] = [
    [{}, {}, "[null,[]]"],
    [{ version: null, triggers: {} }, { version: null, triggers: null }, "[null,[]]"],
    [{ version: 1 }, {}, '["1",[]]'],
    [{}, { version: 1 }, '[null,[["version","1"]]]'],
    [{ triggers: { a: 1 } }, { triggers: { a: "x" } }, '[null,[["fleet.a","1"],["own.a","x"]]]'],
    [
      { version: "v", triggers: { version: true } },
      { version: 2, triggers: { "fleet.version": 3 } },
      '["v",[["fleet.version","true"],["own.fleet.version","3"],["version","2"]]]',
    ],
  ];
  for (const [fleet, own, canonical] of vectors) {
    it(`of ${JSON.stringify([fleet, own])} is ${canonical}`, () => {
      assert.equal(canonicalTrigger(combineTriggers(fleet, own)), canonical);
    });
  }

  const trigger = fc.record({
    version: fc.option(fc.constantFrom("", "1", "2")),
    triggers: fc.dictionary(fc.constantFrom("a", "version", "own.a", "fleet.a", "__proto__"), fc.option(fc.boolean())),
  });

  it("changes with every part of it, and only then", () => {
    fc.assert(
      fc.property(trigger, trigger, trigger, trigger, (fleet, own, otherFleet, otherOwn) => {
        const same = (a: Trigger, b: Trigger) => canonicalTrigger(a) === canonicalTrigger(b);
        const parts = same(fleet, otherFleet) && same(own, otherOwn);
        assert.equal(same(combineTriggers(fleet, own), combineTriggers(otherFleet, otherOwn)), parts);
        assert.equal(isNoTrigger(combineTriggers(fleet, own)), isNoTrigger(fleet) && isNoTrigger(own));
      }),
    );
  });
});

const member = (name: string, databaseId = name) => ({ name, databaseId });

describe("rotation: the errors for the databases of a fleet", () => {
  it("name a database that is listed twice", () => {
    const twice = (...members: ReturnType<typeof member>[]) => isListedTwice("databases", members);
    assert.equal(twice(member("a"), member("b")), undefined);
    const contains = 'databases contains the database "a" twice: ';
    assert.equal(twice(member("a"), member("a")), `${contains}it is listed twice. Remove one of them.`);
    assert.equal(twice(member("a"), member("b", "a")), `${contains}it is both "a" and "b". Remove one of them.`);
  });

  it("tell what to do if an id is unknown in a preview", () => {
    assert.match(idIsUnknown("databases"), /^databases is unknown\. .* known in previews too: .* earlier `up`\.$/);
  });
});

describe("rotation: the shards of a fleet", () => {
  it("are sorted, each with its databases in the order of their ids", () => {
    const members = ["db-1", "6b0cdc1f-3a05-4d8e-9f57-1f0c5c4a4b52", "__proto__", "db-0"].map((id) => member(id));
    const [one, uuid, proto, zero] = members;
    assert.deepEqual(shardsOf(members), [
      ["00", [proto]],
      ["08", [uuid, one]],
      ["13", [zero]],
    ]);
  });

  it("are all there without databases, so that each can refuse to lose those that it has", () => {
    const names = Array.from({ length: 16 }, (_, nth) => String(nth).padStart(2, "0"));
    assert.deepEqual(
      shardsOf([]),
      names.map((name) => [name, []]),
    );
  });
});
