import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalTrigger, isNoTrigger, type Trigger } from "../../../provider/rotation/trigger";
import {
  combineTriggers,
  databasesOf,
  failedOf,
  failureOf,
  type FleetDatabaseState,
  idIsUnknown,
  isListedTwice,
  lastRotatedOf,
  type NamedState,
  nameStates,
  oldestOf,
  recordsOf,
  secretsFrom,
  shardOf,
  shardsOf,
  urlsOf,
} from "../../../provider/rotation/fleet";

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
const state = (databaseId: string, more: Partial<FleetDatabaseState> = {}): FleetDatabaseState => ({
  databaseId,
  outcome: "reset",
  rotationCount: 1,
  ...more,
});
const named = (...states: FleetDatabaseState[]): NamedState[] => states.map((one) => [one.databaseId, one]);

describe("rotation: the outputs of a fleet", () => {
  it("name the databases; one without a state is pending", () => {
    const [one, problems] = [state("a"), ["tls: expected true or false", "port: expected a number"]];
    const states = nameStates([member("cache", "a"), member("b")], [one]);
    assert.deepEqual(states, [
      ["cache", one],
      ["b", { databaseId: "b", outcome: "pending", rotationCount: 0 }],
    ]);
    const { b, ...others } = databasesOf(
      named(state("a", { problem: "it failed", problems }), state("b", { problems })),
    );
    assert.equal(others["a"]?.problem, "it failed");
    assert.equal(b?.problem, "tls: expected true or false; port: expected a number");
  });

  it("contain the records that are saved", () => {
    const record = { endpoint: "h" };
    const records = recordsOf(named(state("a", { record, exactIntegers: { port: "1" } }), state("b")));
    assert.deepEqual(records, { a: { record, exactIntegers: { port: "1" } } });
  });

  it("contain the URLs of the databases with a known and confirmed password", () => {
    const record = { endpoint: "db.example.com", port: 6400, tls: true };
    const reset = { rotatedAt: "2026-01-01", rotationCount: 2, outcome: "reset" } as const;
    const databases = {
      c: { databaseId: "db-1", ...reset },
      b: { databaseId: "db-2", ...reset, outcome: "unknown" as const },
      a: { databaseId: "db-3", ...reset },
    };
    const credentials = { c: { password: "p" }, b: { password: "old" } };
    const fleet = { databases, credentials, records: { c: { record } } };
    const urls = urlsOf(fleet, ({ databaseId, record: its }, password) => password && `${databaseId} ${its?.port}`);
    assert.deepEqual(urls, { c: "db-1 6400", b: "db-2 undefined" });
    assert.deepEqual(
      urlsOf({ databases, credentials: {} }, () => "url"),
      { c: "url", b: "url", a: "url" },
    );
  });

  it("contain no secrets before there is a shard", () => {
    assert.deepEqual(secretsFrom(undefined), []);
    assert.deepEqual(secretsFrom('[{"databaseId":"a"}]'), [{ databaseId: "a" }]);
  });

  it("list what failed", () => {
    assert.deepEqual(failedOf(named(state("a"), state("b", { problem: "it failed" }))), ["b"]);
  });

  it("have the time of the last reset, and of the oldest reset or adoption", () => {
    const none = named(state("d"));
    const states = named(
      state("a", { rotatedAt: "2026-02" }),
      state("b", { rotatedAt: "2026-03", adoptedAt: "2025-01" }),
      state("c", { adoptedAt: "2026-01" }),
    );
    assert.deepEqual({ last: lastRotatedOf(states), oldest: oldestOf(states) }, { last: "2026-03", oldest: "2026-01" });
    assert.deepEqual({ last: lastRotatedOf(none), oldest: oldestOf(none) }, { last: undefined, oldest: undefined });
  });
});

describe("rotation: the errors of a fleet", () => {
  const failed = (count: number) =>
    Array.from({ length: count }, (_, index) => state(`db-${index}`, { problem: `it\nfailed ${index}` }));
  const head = (count: number, of: number) => `PasswordRotationFleet "caches": ${count} of ${of} databases failed:\n`;
  const tail =
    "\nAll others are saved. Run `up` again: it only processes databases that failed, are unknown or were not attempted. [REKEY_FLEET_INCOMPLETE]";
  const notTried = state("z", { problem: "not attempted", notTried: true });
  const skipped = (count: number) =>
    `  ${count} were not attempted, because too many others had failed (maxFailures): their passwords are unchanged`;

  it("name what failed, one line for each", () => {
    assert.equal(failureOf("caches", named(state("a"))), undefined);
    const lines = "  db-0: it failed 0\n  db-1: it failed 1";
    assert.equal(failureOf("caches", named(state("a"), ...failed(2))), head(2, 3) + lines + tail);
  });

  it("name twenty databases, and count the others", () => {
    const error = (count: number) => failureOf("caches", named(...failed(count))) ?? "";
    assert.equal(error(20).split("\n").length, 22);
    assert.ok(!error(20).includes(" more"));
    assert.ok(error(23).endsWith(`  db-19: it failed 19\n  and 3 more: see the output \`failed\`${tail}`), error(23));
  });

  it("count what was not attempted", () => {
    assert.equal(
      failureOf("caches", named(...failed(1), notTried)),
      `${head(1, 2)}  db-0: it failed 0\n${skipped(1)}${tail}`,
    );
    assert.equal(failureOf("caches", named(notTried)), `${head(0, 1)}${skipped(1)}${tail}`);
  });

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
});
