import assert from "node:assert/strict";
import { asShown, passwordRotation, rejected, unconfirmed } from "../../../support/fakeRun";
import { check, Fleet, type Inputs, many, of, showing } from "./fleets";

describe("fleet: what is sent", () => {
  const of3 = of("a", "b", "c");
  const withB = (own: object) => ({ databases: { ...of3, b: { databaseId: "b", ...own } }, version: 1 });
  const rows: Readonly<Record<string, { next: Inputs; sent?: string; changing?: string }>> = {
    "nothing has changed": { next: { databases: of3, version: "1", triggers: {} }, changing: "" },
    "another order": { next: { databases: of("c", "b", "a"), version: 1 }, changing: "" },
    "other names": { next: { databases: { x: "b", y: { databaseId: "a" }, c: "c" }, version: 1 } },
    "names are swapped": { next: { databases: { a: "b", b: "a", c: "c" }, version: 1 } },
    "an own version": { next: withB({ version: 1 }), sent: "b" },
    "an own trigger": { next: withB({ triggers: { a: 1 } }), sent: "b" },
    "the fleet's version": { next: { databases: of3, version: 2 }, sent: "a b c" },
    "no version": { next: { databases: of3 }, changing: "" },
    "one more, and one less": { next: { databases: of("a", "c", "d"), version: 1 }, sent: "d" },
    "another connection": {
      next: { databases: of3, version: 1, connection: { port: 7 } },
      changing: "access,connectionUrls,memory",
    },
    "another limit": { next: { databases: of3, version: 1, maxFailures: 1 }, changing: "" },
    "another schedule": { next: { databases: of3, version: 1, rotateEvery: "30d" }, changing: "memory,nextRotationAt" },
  };
  for (const [what, { next, sent = "", changing }] of Object.entries(rows)) {
    it(`${what}: ${sent || "nothing"}`, async () => {
      const fleet = new Fleet();
      await fleet.up({ databases: of3, version: 1 });
      const planned = fleet.plan(next);
      assert.deepEqual([planned.changes, planned.changing?.toSorted().join()], [changing !== "", changing]);
      const result = await fleet.up(next);
      assert.deepEqual([result.sent.join(" "), result.failure], [sent, undefined]);
      const expected = Object.entries(next.databases).map(([name, given]) => {
        const id = typeof given === "string" ? given : given.databaseId;
        return [name, `p-${id}-${fleet.resetsOf(id)}`];
      });
      assert.deepEqual(fleet.passwords, Object.fromEntries(expected));
      assert.equal(fleet.plan(next).changes, false, "it converges");
    });
  }

  it("a database that was removed is new again, and an empty map of a fleet that has some is refused", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: of("a", "b") });
    await fleet.up({ databases: of("a") });
    assert.doesNotMatch(JSON.stringify(fleet.saved), /p-b-1/);
    assert.deepEqual((await fleet.up({ databases: of("a", "b") })).sent, ["b"]);
    for (const act of [() => fleet.plan({ databases: {} }), () => fleet.up({ databases: {} })]) {
      await assert.rejects(async () => act(), /databases is empty, but/);
    }
    assert.deepEqual((await new Fleet().up({ databases: {} })).outputs.failed, []);
  });

  it("an id in another spelling is the same database: nothing is replaced, and the saved spelling stays", async () => {
    const upper = "96AD0856-03B1-4EE7-9666-E81ABD0349E1";
    const lower = upper.toLowerCase();
    const fleet = new Fleet();
    await fleet.up({ databases: { one: upper }, version: 1 });
    const same = { databases: { one: { databaseId: lower } }, version: 1 };
    assert.equal(fleet.plan(same).changes, false);
    assert.deepEqual((await fleet.up(same)).sent, []);
    assert.equal(fleet.known.states["one"]?.databaseId, upper);
    // In a list, the id is the name, too.
    assert.deepEqual((await fleet.up({ databases: of(lower), version: 1 })).sent, []);
    assert.deepEqual(fleet.known.states[lower]?.databaseId, upper);
    assert.deepEqual((await fleet.up({ databases: of(lower), version: 2 })).sent, [upper]);
    const [twice = ""] = check({ databases: { x: upper, y: lower } });
    assert.match(twice, /^databases has the database "96ad.*" twice, as "x" and as "y"/);
    // Others than UUIDs are compared exactly.
    assert.deepEqual(check({ databases: of("db", "DB") }), []);
  });
});

describe("fleet: failures", () => {
  it("of some are saved with each, the others are saved, and the next `up` processes only these", async () => {
    const fleet = new Fleet();
    const { answer } = fleet.fake;
    fleet.fake.answer = (id) => {
      if (id === "d") throw new TypeError("canary");
      return id === "b" ? rejected() : answer(id);
    };
    const inputs = { databases: { one: "a", two: "b", three: "c", four: "d" }, version: 1 };
    const run = fleet.fake.start();
    run.platform.secrets.add(["it broke"]);
    const { message = "", ...first } = await fleet.up(inputs, run);
    assert.deepEqual([first.isPartial, first.outputs.failed], [true, ["four", "two"]]);
    assert.match(
      message,
      /^2 of 4 databases failed:\n {2}four: Could not reset the password of database "d": pulumi-rekey failed.*\n {2}two: Could not do it: … .* Unchanged\. Fix it\. \[REKEY_REJECTED\]\nAll others are saved\..*\[REKEY_FLEET_INCOMPLETE\]$/s,
    );
    assert.doesNotMatch(JSON.stringify(fleet.saved), /canary|it broke/);
    assert.deepEqual(fleet.passwords, { one: "p-a-1", three: "p-c-1" });
    const { two, four } = fleet.known.states;
    assert.deepEqual([two?.outcome, four?.outcome], ["none", "unknown"]);
    assert.match(two?.error ?? "", /REKEY_REJECTED/);
    assert.equal(fleet.plan(inputs).changes, true);
    fleet.fake.answer = answer;
    const second = await fleet.up(inputs);
    assert.deepEqual([second.sent, second.failure, second.outputs.failed], [["b", "d"], undefined, []]);
    assert.equal(fleet.known.states["two"]?.error, undefined);
  });

  it("stay until the next `up`, which sends nothing if a refresh has settled them", async () => {
    const fleet = new Fleet();
    const inputs = { databases: of("a") };
    Object.assign(fleet.fake, { canRead: true, answer: () => unconfirmed(), readDatabase: showing("old") });
    assert.deepEqual((await fleet.up(inputs)).outputs.failed, ["a"]);
    fleet.fake.readDatabase = showing("new");
    const { outputs } = await fleet.refresh();
    assert.deepEqual([outputs.failed, outputs.states["a"]?.outcome], [["a"], "reset"]);
    assert.equal(fleet.plan(inputs).changes, true);
    const next = await fleet.up(inputs);
    assert.deepEqual([next.sent, next.failure, next.outputs.failed], [[], undefined, []]);
  });

  it("stop the fleet after maxFailures, but nothing that sends no reset; refusals do not count", async () => {
    const fleet = new Fleet({ maxConcurrency: "1" });
    await fleet.up({ databases: of("z") });
    fleet.fake.answer = (id) => {
      try {
        return rejected();
      } catch (error) {
        throw Object.assign(error as Error, { message: `${id}: ${(error as Error).message}` });
      }
    };
    const databases = { ...many(40), z: "z" };
    const result = await fleet.up({ databases, maxFailures: 25, rotateEvery: "30d" });
    assert.match(
      result.message ?? "",
      /^25 of 41 databases failed:(\n {2}(db-\d+): \2: [^\n]*REJECTED\]){20}\n {2}and 20 more, which failed or were not attempted: see/,
    );
    assert.deepEqual([result.sent.length, result.outputs.failed.length], [25, 40]);
    assert.equal(result.outputs.nextRotationAt, "2026-12-21T12:00:00.000Z");
    const next = await fleet.up({ databases });
    assert.deepEqual([next.sent.length, next.sent.includes("z")], [40, false]);
    // Before a read, it is not known which of these are reset.
    const limited = new Fleet({ maxResetsPerRun: "3", maxConcurrency: "1" });
    Object.assign(limited.fake, { canRead: true, readDatabase: showing("old") });
    const leaked = { initialRotation: false, rotatedSince: "2026-11-21" };
    const refused = await limited.up({ databases: many(5), maxFailures: 1, ...leaked });
    assert.deepEqual([refused.sent.length, refused.message?.match(/REKEY_RESET_LIMIT/g)?.length], [3, 2]);
  });

  it("that are the same for many databases are one line", async () => {
    const fleet = new Fleet();
    fleet.fake.answer = () => rejected();
    const { message = "" } = await fleet.up({ databases: many(9) });
    assert.match(
      message,
      /^9 of 9 databases failed:\n {2}db-0, db-1, db-2, db-3, db-4 and 4 more: Could not do it: it broke [^\n]*\nAll others are/,
    );
  });

  it("that are unexpected, of one database, lose no other one, and nothing that its reset has delivered", async () => {
    const fleet = new Fleet();
    const { answer } = fleet.fake;
    const inputs = { databases: of("a", "b", "c"), version: 1 };
    // In a URL, it would be an error.
    fleet.fake.answer = (id) => (id === "b" ? { ...answer(id), credentials: { password: "\ud800" } } : answer(id));
    const { failure, outputs } = await fleet.up(inputs);
    assert.deepEqual([failure?.code, outputs.failed], ["REKEY_FLEET_INCOMPLETE", ["b"]]);
    const says = /may have been changed, and what is known .* saved\..*REKEY_INTERNAL/;
    assert.match(outputs.states["b"]?.error ?? "", says);
    assert.deepEqual(fleet.passwords, { a: "p-a-1", b: "\ud800", c: "p-c-1" });
    // One before its reset is found in the same place as any other one.
    Object.assign(fleet.fake, { answer, canRead: true });
    fleet.fake.readDatabase = (id) => {
      if (id === "a") throw new TypeError("canary");
      return {};
    };
    const next = await fleet.up({ ...inputs, version: 2 });
    assert.deepEqual([next.outputs.failed, next.sent], [["a"], ["b", "c"]]);
    assert.doesNotMatch(JSON.stringify(next), /canary/);
    assert.deepEqual(fleet.passwords, { a: "p-a-1", b: "p-b-2", c: "p-c-2" });
  });

  it("are counted in its progress, which is shown about every five seconds", async () => {
    const fleet = new Fleet({ maxConcurrency: "1" });
    const { answer } = fleet.fake;
    fleet.fake.answer = (id) => {
      fleet.fake.elapsedMs += 3_000;
      return id === "db-2" ? rejected() : answer(id);
    };
    await fleet.up({ databases: many(5) });
    assert.deepEqual(fleet.fake.said, [
      "PasswordRotationFleet: 2 of 5 databases are done, 0 of them failed.",
      "PasswordRotationFleet: 4 of 5 databases are done, 1 of them failed.",
    ]);
  });
});

describe("fleet: rekey:maxResetsPerRun", () => {
  const single = asShown(passwordRotation);

  it("stops all resets that are certain if they are more than it leaves, and a preview says so", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: many(20), version: 1 });
    fleet.fake.settings.maxResetsPerRun = "8";
    const run = fleet.fake.start();
    for (const databaseId of ["x", "y", "z"]) {
      single.plan(undefined, { databaseId }, run);
      await single.apply(undefined, { databaseId }, run);
    }
    const changed = { databases: many(20), version: 2 };
    const why = "20 resets are planned, but rekey:maxResetsPerRun allows only 5 more";
    assert.ok((fleet.plan(changed, run).warning ?? "").endsWith(` have changed. ${why}: none will be sent.`));
    assert.match(single.plan(undefined, { databaseId: "w" }, run).notice ?? "", /So far 4 of 8/);
    const { sent, message = "", outputs } = await fleet.up(changed, run);
    assert.deepEqual([sent, outputs.failed.length, fleet.passwords["db-0"]], [[], 20, "p-db-0-1"]);
    assert.deepEqual(message.match(/\[\w+\]/g), ["[REKEY_RESET_LIMIT]", "[REKEY_FLEET_INCOMPLETE]"]);
    assert.match(message, new RegExp(`db-0, .* and 15 more: No reset was sent, .*: ${why}\\.`));
    await single.apply(undefined, { databaseId: "w" }, run);
    fleet.fake.settings.maxResetsPerRun = "23";
    const wide = fleet.fake.start();
    for (const databaseId of ["x", "y", "z"]) single.plan(undefined, { databaseId }, wide);
    assert.match(
      fleet.plan(changed, wide).notice ?? "",
      /^Resets the password of each of 20 .* So far 23 of 23 in this/,
    );
    assert.equal((await fleet.up(changed)).sent.length, 20);
  });

  it("is kept for the resets of a fleet while others are sent", async () => {
    const fleet = new Fleet({ maxResetsPerRun: "3" });
    const run = fleet.fake.start();
    const { answer } = fleet.fake;
    let other: Promise<unknown> = Promise.resolve();
    fleet.fake.answer = (id) => {
      if (id === "db-0") other = single.apply(undefined, { databaseId: "other" }, run).catch((error: unknown) => error);
      return id === "db-2" ? rejected() : answer(id);
    };
    const { outputs } = await fleet.up({ databases: many(3) }, run);
    assert.deepEqual(outputs.failed, ["db-2"]);
    assert.match(String(await other), /REKEY_RESET_LIMIT/);
    // One that was not sent is free again, also for the fleet itself if the engine repeats the call.
    fleet.fake.answer = answer;
    fleet.saved = undefined;
    assert.deepEqual((await fleet.up({ databases: many(3) }, run)).outputs.failed, []);
    await assert.rejects(single.apply(undefined, { databaseId: "last" }, run), /REKEY_RESET_LIMIT/);
  });

  it("counts one by one what only a read decides, and stops what is certain", async () => {
    const fleet = new Fleet();
    Object.assign(fleet.fake, { canRead: true, answer: () => unconfirmed(), readDatabase: showing("old") });
    await fleet.up({ databases: of("a", "b", "c") });
    const limited = new Fleet({ maxResetsPerRun: "2" });
    limited.saved = fleet.saved;
    const readDatabase = (id: string) => showing(id === "a" ? "new" : "old")();
    Object.assign(limited.fake, { canRead: true, readDatabase });
    const more = { databases: of("a", "b", "c", "d", "e", "f") };
    const { warning = "" } = limited.plan(more);
    for (const says of [
      /Would reset .*\("d", "e", "f"\), because it is new in the fleet\. .* 3 resets are .* allows only 2 more: none will/,
      /Resets .*\("a", "b", "c"\), because the platform did not confirm .* 3 resets are planned, and .* allows 2/,
    ]) {
      assert.match(warning, says);
    }
    const { sent, outputs } = await limited.up(more);
    assert.deepEqual({ sent, failed: outputs.failed }, { sent: ["b", "c"], failed: ["d", "e", "f"] });
  });
});
