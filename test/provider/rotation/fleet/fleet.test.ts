import assert from "node:assert/strict";
import { type Access } from "../../../../provider/rotation/program/access";
import { passwordRotationFleet } from "../../../../provider/rotation/fleet/fleet";
import { type FleetOutputs } from "../../../../provider/rotation/fleet/fleetOutputs";
import { sealed } from "../../../../provider/rotation/memory/memory";
import { type RotationInputs } from "../../../../provider/rotation/program/program";
import { type Properties, unknownValue } from "../../../../provider/pulumi/values";
import { Team } from "../../../support/age";
import {
  asShown,
  FakeRun,
  passwordRotation,
  rejected,
  type SavedRotation,
  unconfirmed,
} from "../../../support/fakeRun";
import { assertFields } from "../../../support/results";

const { check, plan, apply, refresh } = asShown(passwordRotationFleet);
type Inputs = Parameters<typeof passwordRotationFleet.plan>[1];

/** Databases by their ids. */
const of = (...ids: string[]): Inputs["databases"] => Object.fromEntries(ids.map((id) => [id, id]));
const many = (count: number) => of(...Array.from({ length: count }, (_, nth) => `db-${nth}`));

/** A fleet over several runs. */
class Fleet {
  readonly fake = new FakeRun();
  saved: FleetOutputs | undefined;

  plan(inputs: Inputs, run = this.fake.start()) {
    return plan(this.saved, inputs, run);
  }

  async up(inputs: Inputs, run = this.fake.start()) {
    const before = this.fake.resets.length;
    const result = await apply(this.saved, inputs, run);
    this.#save(result.outputs);
    return { ...result, sent: this.fake.resets.slice(before).sort() };
  }

  async refresh() {
    const result = await refresh(this.saved ?? assert.fail(), this.fake.start());
    this.#save(result.outputs);
    return result;
  }

  /** As the engine does: as JSON, with sorted names. */
  #save(outputs: FleetOutputs) {
    this.saved = sorted(JSON.parse(JSON.stringify(outputs))) as FleetOutputs;
  }

  /** Passwords by name. */
  get passwords() {
    return Object.fromEntries(Object.entries(this.saved?.credentials ?? {}).map(([name, one]) => [name, one.password]));
  }
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

/** What a fleet remembers of each database, by id. */
function memoriesIn(memory: unknown): Record<string, object> {
  return (JSON.parse(String(memory)) as { databases: Record<string, object> }).databases;
}

/** A fleet of which each password names its database, and its reset. */
function fleetOf(): Fleet {
  const fleet = new Fleet();
  fleet.fake.answer = (id) => ({
    record: { databaseId: id, endpoint: `${id}.example.com`, port: 6379, tls: true, state: "active" },
    credentials: { password: `p-${id}-${fleet.fake.resets.filter((one) => one === id).length}` },
  });
  return fleet;
}

describe("fleet: its progress", () => {
  it("is shown about every five seconds", async () => {
    const fleet = fleetOf();
    const { answer } = fleet.fake;
    fleet.fake.answer = (id) => {
      fleet.fake.elapsedMs += 3_000;
      return id === "db-2" ? rejected() : answer(id);
    };
    fleet.fake.settings.maxConcurrency = "1";
    await fleet.up({ databases: many(5) });
    assert.deepEqual(fleet.fake.said, [
      "PasswordRotationFleet: 2 of 5 databases are done, 0 of them failed.",
      "PasswordRotationFleet: 4 of 5 databases are done, 1 of them failed.",
    ]);
  });
});

describe("fleet: what is saved", () => {
  it("is saved by name, with what follows from it, and keyed by id in the memory", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: { sessions: "a", carts: { databaseId: "b", version: 1 } }, rotateEvery: "30d" });
    const { memory, access, ...outputs } = fleet.saved ?? assert.fail();
    const rotatedAt = "2026-11-21T12:00:00.000Z";
    const state = { outcome: "reset", rotatedAt };
    assert.deepEqual(outputs, {
      fleet: "fleet",
      states: { sessions: { databaseId: "a", ...state }, carts: { databaseId: "b", ...state } },
      credentials: { sessions: { password: "p-a-1" }, carts: { password: "p-b-1" } },
      connectionUrls: {
        sessions: "rediss://default:p-a-1@a.example.com:6379",
        carts: "rediss://default:p-b-1@b.example.com:6379",
      },
      encryptedCredentials: {},
      failed: [],
      lastRotated: rotatedAt,
      nextRotationAt: "2026-12-21T12:00:00.000Z",
    });
    assert.deepEqual(Object.keys(memoriesIn(memory)).sort(), ["a", "b"]);
    const { sessions } = JSON.parse(access) as Record<string, Access>;
    assertFields(sessions, { id: "a", of: "PasswordRotation", count: 1 });
    assertFields(sessions?.current, { name: "password", value: "p-a-1" });
    assert.equal(memory.includes("p-a-1"), false);
    // The engine sorts names; the texts stay the same.
    const refreshed = (await fleet.refresh()).outputs;
    assert.deepEqual([refreshed.access, refreshed.memory], [access, memory]);
  });

  it("is at most 680 bytes for each database, without where it is", async () => {
    const fleet = new Fleet();
    await fleet.up({ databases: many(1_000), version: 1, rotateEvery: "30d" });
    const bytes = Buffer.byteLength(JSON.stringify(fleet.saved)) / 1_000;
    assert.ok(bytes <= 680, `${bytes}`);
  });

  it("is refused if it is damaged, and a refresh keeps it", async () => {
    const fleet = fleetOf();
    const inputs = { databases: of("a"), version: 2 };
    await fleet.up({ databases: of("a", "b") });
    const whole = fleet.saved ?? assert.fail();
    for (const damaged of [
      { memory: whole.memory.slice(1) },
      { memory: "{}" },
      { memory: whole.memory.replace("{}", '{"c":{}}') },
      { memory: JSON.stringify(sealed({ databases: { ...memoriesIn(whole.memory), c: {} } })) },
      { access: whole.access.slice(1) },
      { access: "null" },
      ...(["states", "credentials", "encryptedCredentials"] as const).flatMap((output) => [
        { [output]: undefined },
        { [output]: null },
        { [output]: [] },
      ]),
      { states: { ...whole.states, a: null } },
    ] as Partial<FleetOutputs>[]) {
      fleet.saved = { ...whole, ...damaged };
      assert.throws(() => fleet.plan(inputs), /REKEY_STATE_UNREADABLE/);
      await assert.rejects(fleet.up(inputs), /REKEY_STATE_UNREADABLE/);
      const { outputs, warning } = await refresh(fleet.saved, fleet.fake.start());
      assert.equal(outputs, fleet.saved);
      const [output] = Object.keys(damaged);
      assert.match(warning ?? "", new RegExp(`The saved output ${output} .*the state is damaged`));
    }
    assert.equal(fleet.fake.resets.length, 2);
  });

  it("is refused if it does not name each database that it remembers: that one would be reset as a new one", async () => {
    const fleet = fleetOf();
    const inputs = { databases: of("a", "b"), version: 1 };
    await fleet.up(inputs);
    const whole = fleet.saved ?? assert.fail();
    const { a, b } = whole.states;
    for (const states of [
      {},
      { a },
      { a, b: { ...b, databaseId: "c" } },
      { a, b: { ...b, outcome: "none" } },
      { a, b: a },
    ]) {
      fleet.saved = { ...whole, states: states as never };
      assert.throws(() => fleet.plan(inputs), /output memory does not have the same databases as states.*UNREADABLE/);
      await assert.rejects(fleet.up(inputs), /REKEY_STATE_UNREADABLE/);
    }
    assert.equal(fleet.fake.resets.length, 2);
  });
});

describe("fleet: a fleet of one", () => {
  const record = { databaseId: "a", endpoint: "a.example.com", port: 1, tls: true };
  const shows = (password: string) => () => ({
    record,
    credentials: { password, restToken: `token-${password}` },
    exactIntegers: { port: "1" },
    otherFields: `{"of":"${password}"}`,
    problems: [`${password} is odd`],
  });
  const lost = () => unconfirmed();
  const hides = () => ({ record, credentials: {} });
  /** The inputs, undefined for a refresh, and the platform's responses to a reset and a read. */
  type Step = readonly [RotationInputs | undefined, FakeRun["answer"], FakeRun["readDatabase"], days?: number];

  it("saves and says in each run what a single rotation does", async () => {
    const { recipient } = await Team.create();
    const [encryptFor, rotateEvery] = [[recipient], "1d"];
    const steps: readonly Step[] = [
      [{ initialRotation: false }, lost, shows("p0")],
      [{ version: 1 }, shows("p1"), hides],
      [undefined, lost, shows("p1")],
      [{ version: 2 }, lost, shows("p1")],
      [undefined, lost, shows("p2")],
      [{ version: 2, encryptFor }, lost, lost],
      [{ version: 2, encryptFor, saveCredentials: false }, lost, lost],
      [undefined, lost, shows("p3")],
      [{ version: 2, saveCredentials: false }, lost, hides],
      [{ version: 2 }, lost, shows("p3")],
      [{ version: 2, rotateEvery }, lost, lost],
      [{ version: 2, rotateEvery }, shows("p4"), shows("p3"), 3],
      [{ version: 2, rotateEvery, connection: { host: "b" } }, lost, lost],
      [{ version: 3, rotateEvery }, () => rejected(), shows("p5")],
      [{}, lost, shows("p4")],
    ];
    const single = asShown(passwordRotation);
    const [fake, fleet] = [new FakeRun(), new Fleet()];
    let saved: SavedRotation | undefined;
    for (const [index, [desired, answer, readDatabase, days = 0]] of steps.entries()) {
      const time = new Date(Date.UTC(2026, 10, 21 + days));
      for (const each of [fake, fleet.fake]) Object.assign(each, { answer, readDatabase, canRead: true, time });
      const inputs = { databaseId: "a", ...desired };
      const all = { databases: of("a"), ...desired };
      if (desired && !fleet.saved?.failed.length) {
        const { changes, notice, warning } = single.plan(saved, inputs, fake.start());
        const planned = fleet.plan(all);
        assert.deepEqual([planned.changes, planned.notice, planned.warning], [changes, notice, warning], `${index}`);
      }
      const change = desired
        ? single.apply(saved, inputs, fake.start())
        : single.refresh(saved ?? assert.fail(), fake.start());
      const one = await change.catch(({ message }: Error) => ({ outputs: saved, message }));
      saved = one.outputs;
      const { notice, warning } = await (desired ? fleet.up(all) : fleet.refresh());
      const { notice: said, warning: warned } = one as { notice?: string; warning?: string };
      assert.deepEqual([notice, warning], [said, warned], `${index}`);
      assert.deepEqual(viewOf(inFleet(fleet.saved ?? assert.fail())), viewOf({ ...saved }), `${index}`);
      if (desired) assert.equal(fleet.saved?.states["a"]?.error, one.message, `${index}`);
    }
    assert.deepEqual(fleet.fake.resets, fake.resets);
  });

  /** The outputs of the database, as a single rotation has them. */
  function inFleet({ states, credentials, connectionUrls, encryptedCredentials, ...fleet }: FleetOutputs) {
    const access = JSON.parse(fleet.access) as Record<string, Properties>;
    return {
      ...states["a"],
      rotationCount: access["a"]?.["count"],
      ...credentials["a"],
      error: undefined,
      connectionUrl: connectionUrls["a"],
      encryptedCredentials: encryptedCredentials["a"],
      nextRotationAt: fleet.nextRotationAt,
      access: JSON.stringify(access["a"]),
      memory: JSON.stringify(sealed({ ...memoriesIn(fleet.memory)["a"], kindFacts: {} })),
    };
  }

  /** What is compared of outputs: without random values, and what a fleet does not have. */
  function viewOf(all: Properties): unknown {
    const { restUrl, rotationReason, record, exactIntegers, encryptedCredentials, problems = [], ...outputs } = all;
    const memory = JSON.stringify(sorted(JSON.parse(String(outputs["memory"]))));
    const known = { ...outputs, memory, problems, isEncrypted: encryptedCredentials !== undefined };
    return JSON.parse(JSON.stringify(known).replace(/\\"[\w-]{16}\\"/g, "random"));
  }
});

describe("fleet: what is sent", () => {
  const of3 = of("a", "b", "c");
  const rows: Readonly<Record<string, readonly [next: Inputs, sent: string, same?: "same"]>> = {
    "nothing has changed": [{ databases: of3, version: "1", triggers: {} }, "", "same"],
    "another order": [{ databases: of("c", "b", "a"), version: 1 }, "", "same"],
    "other names": [{ databases: { x: "b", y: { databaseId: "a" }, c: "c" }, version: 1 }, ""],
    "names are swapped": [{ databases: { a: "b", b: "a", c: "c" }, version: 1 }, ""],
    "an own version": [{ databases: { ...of3, b: { databaseId: "b", version: 1 } }, version: 1 }, "b"],
    "an own trigger": [{ databases: { ...of3, b: { databaseId: "b", triggers: { a: 1 } } }, version: 1 }, "b"],
    "the fleet's version": [{ databases: of3, version: 2 }, "a b c"],
    "no version": [{ databases: of3 }, "", "same"],
    "one more, and one less": [{ databases: of("a", "c", "d"), version: 1 }, "d"],
    "another connection": [{ databases: of3, version: 1, connection: { port: 7 } }, ""],
    "another limit": [{ databases: of3, version: 1, maxFailures: 1 }, "", "same"],
  };
  for (const [what, [next, sent, same]] of Object.entries(rows)) {
    it(`${what}: ${sent || "nothing"}`, async () => {
      const fleet = fleetOf();
      await fleet.up({ databases: of3, version: 1 });
      assert.equal(fleet.plan(next).changes, same === undefined);
      const result = await fleet.up(next);
      assert.deepEqual([result.sent.join(" "), result.failure], [sent, undefined]);
      const expected = Object.entries(next.databases).map(([name, given]) => {
        const id = typeof given === "string" ? given : given.databaseId;
        return [name, `p-${id}-${fleet.fake.resets.filter((one) => one === id).length}`];
      });
      assert.deepEqual(fleet.passwords, Object.fromEntries(expected));
      assert.equal(fleet.plan(next).changes, false, "it converges");
    });
  }

  it("a database that was removed is new again, and an empty map of a fleet that has some is refused", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("a", "b") });
    await fleet.up({ databases: of("a") });
    assert.doesNotMatch(JSON.stringify(fleet.saved), /p-b-1/);
    assert.deepEqual((await fleet.up({ databases: of("a", "b") })).sent, ["b"]);
    for (const act of [() => fleet.plan({ databases: {} }), () => fleet.up({ databases: {} })]) {
      await assert.rejects(async () => act(), /databases is empty, but/);
    }
    assert.deepEqual((await fleetOf().up({ databases: {} })).outputs.failed, []);
  });
});

describe("fleet: failures", () => {
  it("of some are saved with each, the others are saved, and the next `up` processes only these", async () => {
    const fleet = fleetOf();
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
    const { two, four } = fleet.saved?.states ?? {};
    assert.deepEqual([two?.outcome, four?.outcome], ["none", "unknown"]);
    assert.match(two?.error ?? "", /REKEY_REJECTED/);
    assert.equal(fleet.plan(inputs).changes, true);
    fleet.fake.answer = answer;
    const second = await fleet.up(inputs);
    assert.deepEqual([second.sent, second.failure, second.outputs.failed], [["b", "d"], undefined, []]);
    assert.equal(fleet.saved?.states["two"]?.error, undefined);
  });

  it("stay until the next `up`, which sends nothing if a refresh has settled them", async () => {
    const fleet = fleetOf();
    const inputs = { databases: of("a") };
    const shows = (password: string) => () => ({ credentials: { password } });
    Object.assign(fleet.fake, { canRead: true, answer: () => unconfirmed(), readDatabase: shows("old") });
    assert.deepEqual((await fleet.up(inputs)).outputs.failed, ["a"]);
    fleet.fake.readDatabase = shows("new");
    const { outputs } = await fleet.refresh();
    assert.deepEqual([outputs.failed, outputs.states["a"]?.outcome], [["a"], "reset"]);
    assert.equal(fleet.plan(inputs).changes, true);
    const next = await fleet.up(inputs);
    assert.deepEqual([next.sent, next.failure, next.outputs.failed], [[], undefined, []]);
  });

  it("stop the fleet after maxFailures, but nothing that sends no reset; refusals do not count", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("z") });
    fleet.fake.answer = (id) => {
      try {
        return rejected();
      } catch (error) {
        throw Object.assign(error as Error, { message: `${id}: ${(error as Error).message}` });
      }
    };
    const databases = { ...many(40), z: "z" };
    fleet.fake.settings.maxConcurrency = "1";
    const result = await fleet.up({ databases, maxFailures: 25, rotateEvery: "30d" });
    assert.equal(result.sent.length, 25);
    assert.match(
      result.message ?? "",
      /^25 of 41 databases failed:(\n {2}(db-\d+): \2: [^\n]*REJECTED\]){20}\n {2}and 20 more, which failed or were not attempted: see/,
    );
    assert.equal(result.outputs.failed.length, 40);
    assert.equal(result.outputs.nextRotationAt, "2026-12-21T12:00:00.000Z");
    const next = await fleet.up({ databases });
    assert.deepEqual([next.sent.length, next.sent.includes("z")], [40, false]);
    // Before a read, it is not known which of these are reset.
    const limited = fleetOf();
    Object.assign(limited.fake, { canRead: true, readDatabase: () => ({ credentials: { password: "old" } }) });
    Object.assign(limited.fake.settings, { maxResetsPerRun: "3", maxConcurrency: "1" });
    const leaked = { initialRotation: false, rotatedSince: "2026-11-21" };
    const refused = await limited.up({ databases: many(5), maxFailures: 1, ...leaked });
    assert.deepEqual([refused.sent.length, refused.message?.match(/REKEY_RESET_LIMIT/g)?.length], [3, 2]);
  });

  it("that are the same for many databases are one line", async () => {
    const fleet = fleetOf();
    fleet.fake.answer = () => rejected();
    const { message = "" } = await fleet.up({ databases: many(9) });
    const [first, line, ...more] = message.split("\n");
    assert.equal(first, "9 of 9 databases failed:");
    assert.match(line ?? "", /^ {2}db-0, db-1, db-2, db-3, db-4 and 4 more: Could not do it: it broke .*REJECTED\]$/);
    assert.match(more.join(), /^All others are saved\./);
  });

  it("that are unexpected, of one database, lose no other one, and nothing that its reset has delivered", async () => {
    const fleet = fleetOf();
    const { answer } = fleet.fake;
    const inputs = { databases: of("a", "b", "c"), version: 1 };
    // In a URL, it would be an error.
    fleet.fake.answer = (id) => (id === "b" ? { ...answer(id), credentials: { password: "\ud800" } } : answer(id));
    const { failure, outputs } = await fleet.up(inputs);
    assert.deepEqual([failure?.code, outputs.failed], ["REKEY_FLEET_INCOMPLETE", ["b"]]);
    assert.match(
      outputs.states["b"]?.error ?? "",
      /may have been changed, and what is known .* saved\..*REKEY_INTERNAL/,
    );
    assert.deepEqual(fleet.passwords, { a: "p-a-1", b: "\ud800", c: "p-c-1" });
    // One before its reset is found in the same place as any other one.
    fleet.fake.answer = answer;
    fleet.fake.canRead = true;
    fleet.fake.readDatabase = (id) => {
      if (id === "a") throw new TypeError("canary");
      return {};
    };
    const next = await fleet.up({ ...inputs, version: 2 });
    assert.deepEqual([next.outputs.failed, next.sent], [["a"], ["b", "c"]]);
    assert.doesNotMatch(JSON.stringify(next), /canary/);
    assert.deepEqual(fleet.passwords, { a: "p-a-1", b: "p-b-2", c: "p-c-2" });
    assert.deepEqual((await fleet.up({ ...inputs, version: 2 })).outputs.failed, ["a"]);
  });
});

describe("fleet: rekey:maxResetsPerRun", () => {
  const limited = (limit: number): Fleet => {
    const fleet = fleetOf();
    fleet.fake.settings.maxResetsPerRun = String(limit);
    return fleet;
  };
  const single = asShown(passwordRotation);

  it("stops all resets that are certain if they are more than it leaves, and a preview says so", async () => {
    const fleet = limited(25);
    await fleet.up({ databases: many(20), version: 1 });
    const run = fleet.fake.start();
    for (const databaseId of ["x", "y", "z"]) single.plan(undefined, { databaseId }, run);
    const changed = { databases: many(20), version: 2 };
    assert.match(
      fleet.plan(changed, run).notice ?? "",
      /^Resets the password of each of 20 .* So far 23 of 25 in this run/,
    );
    fleet.fake.settings.maxResetsPerRun = "8";
    const tight = fleet.fake.start();
    for (const databaseId of ["x", "y", "z"]) {
      single.plan(undefined, { databaseId }, tight);
      await single.apply(undefined, { databaseId }, tight);
    }
    const names = '("db-0", "db-1", "db-2", "db-3", "db-4" and 15 more)';
    const why = "20 resets are planned, but rekey:maxResetsPerRun allows only 5 more";
    const { warning, notice } = fleet.plan(changed, tight);
    const reason = "because version or triggers have changed.";
    assert.equal(
      warning,
      `Would reset the password of each of 20 databases ${names}, ${reason} ${why}: none will be sent.`,
    );
    assert.equal(notice, undefined);
    // What is not sent is not counted.
    assert.match(single.plan(undefined, { databaseId: "w" }, tight).notice ?? "", /So far 4 of 8/);
    const { sent, message = "", outputs } = await fleet.up(changed, tight);
    assert.deepEqual([sent, outputs.failed.length], [[], 20]);
    assert.match(
      message,
      new RegExp(`^20 of 20 databases failed:\n  db-0, .* and 15 more: No reset was sent, .*: ${why}\\.`),
    );
    assert.deepEqual(message.match(/\[\w+\]/g), ["[REKEY_RESET_LIMIT]", "[REKEY_FLEET_INCOMPLETE]"]);
    assert.equal(fleet.passwords["db-0"], "p-db-0-1");
    // The limit still has what was not sent.
    await single.apply(undefined, { databaseId: "w" }, tight);
    fleet.fake.settings.maxResetsPerRun = "20";
    assert.equal((await fleet.up(changed)).sent.length, 20);
  });

  it("is kept for the resets of a fleet while others are sent", async () => {
    const fleet = limited(3);
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
    const fleet = limited(2);
    const lost = fleetOf();
    Object.assign(lost.fake, {
      canRead: true,
      answer: () => unconfirmed(),
      readDatabase: () => ({ credentials: { password: "old" } }),
    });
    const inputs = { databases: of("a", "b", "c") };
    await lost.up(inputs);
    fleet.saved = lost.saved;
    Object.assign(fleet.fake, {
      canRead: true,
      readDatabase: (id: string) => ({ credentials: { password: id === "a" ? "new" : "old" } }),
    });
    const more = { databases: of("a", "b", "c", "d", "e", "f") };
    const { warning = "" } = fleet.plan(more);
    assert.match(
      warning,
      /Would reset .*\("d", "e", "f"\), because it is new in the fleet\. .* 3 resets are planned, but .* allows only 2 more: none will be sent\./,
    );
    assert.match(
      warning,
      /Resets .*\("a", "b", "c"\), because the platform did not confirm .* 3 resets are planned, and rekey:maxResetsPerRun allows 2/,
    );
    const { sent, outputs } = await fleet.up(more);
    assert.deepEqual(
      [sent, outputs.failed],
      [
        ["b", "c"],
        ["d", "e", "f"],
      ],
    );
  });
});

describe("fleet: an id in another spelling", () => {
  const upper = "96AD0856-03B1-4EE7-9666-E81ABD0349E1";
  const lower = upper.toLowerCase();

  it("is the same database: nothing is sent or replaced, and the saved spelling stays", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: { one: upper }, version: 1 });
    const same = { databases: { one: { databaseId: lower } }, version: 1 };
    assert.equal(fleet.plan(same).changes, false);
    assert.deepEqual((await fleet.up(same)).sent, []);
    assert.equal(fleet.saved?.states["one"]?.databaseId, upper);
    // In a list, the id is the name, too.
    assert.deepEqual((await fleet.up({ databases: of(lower), version: 1 })).sent, []);
    assert.deepEqual(fleet.saved?.states[lower]?.databaseId, upper);
    assert.deepEqual((await fleet.up({ databases: of(lower), version: 2 })).sent, [upper]);
    assert.deepEqual(Object.keys(memoriesIn(fleet.saved?.memory)), [upper]);
  });

  it("is refused in addition to the first one", () => {
    const [twice = ""] = check({ databases: { x: upper, y: lower } });
    assert.match(twice, /^databases has the database "96ad.*" twice, as "x" and as "y"/);
    // Others than UUIDs are compared exactly.
    assert.deepEqual(check({ databases: of("db", "DB") }), []);
  });
});

describe("fleet: what is said", () => {
  it("of a new fleet: how many databases it resets, up to five names, how to keep them, and whether it is renamed", async () => {
    const fleet = fleetOf();
    const databases = many(12);
    const each = 'assword of each of 12 databases ("db-0", "db-1", "db-2", "db-3", "db-4" and 7 more)';
    assert.equal(
      fleet.plan({ databases }).notice,
      `Resets the p${each}, because the resource is new. To keep it, set \`initialRotation: false\`. If it was only renamed, use the option \`aliases\`. So far 12 in this run.`,
    );
    const adopted = `The p${each} is adopted, not reset. To reset it, set a new version.`;
    assert.equal(fleet.plan({ databases, initialRotation: false }).notice, adopted);
    await fleet.up({ databases });
    const run = fleet.fake.start();
    await refresh(fleet.saved ?? assert.fail(), run);
    const { warning } = plan(undefined, { databases }, run);
    assert.equal(
      warning,
      `The p${each} is already in the state. If you renamed the resource, use the option \`aliases\`.`,
    );
  });

  it("one line for each reason, although their times differ", async () => {
    const fleet = fleetOf();
    for (const [index, ids] of [["a"], ["a", "b"], ["a", "b", "c"]].entries()) {
      fleet.fake.time = new Date(`2026-11-0${index + 1}T12:00:00.000Z`);
      await fleet.up({ databases: of(...ids), rotateEvery: "30d" });
    }
    assertFields(fleet.saved, { nextRotationAt: "2026-12-01T12:00:00.000Z", lastRotated: "2026-11-03T12:00:00.000Z" });
    fleet.fake.time = new Date("2027-01-01T12:00:00.000Z");
    const { notice = "" } = fleet.plan({ databases: of("b", "a", "c", "d"), rotateEvery: "30d" });
    const [late = "", added = "", ...more] = notice.split("\n");
    assert.match(
      late,
      /^Resets the password of each of 3 databases \("b", "a", "c"\), because it is due by rotateEvery: it was last reset or adopted at 2026-11-02T12:00:00\.000Z\. These details are for "b"\. So far 3 in this run\.$/,
    );
    assert.match(added, /^Resets the password of database "d", because it is new in the fleet\. .* So far 4 in this/);
    assert.deepEqual(more, []);
  });

  const databases = { ...of("a"), later: unknownValue };
  const unknownRows: readonly (readonly [Inputs, says: RegExp])[] = [
    [{ databases, version: 1 }, /^The password of database "later" may be reset \(not known yet: databaseId\)\.$/],
    [
      { databases: { ...of("b"), a: { databaseId: "a", version: unknownValue } }, version: 1 },
      /^The password of database "a" may be reset \(not known yet: version\)\.$/,
    ],
    [
      { databases: of("a", "b"), triggers: unknownValue as never },
      /^The password of each of 2 databases \("a", "b"\) may be reset \(not known yet: triggers\)\.$/,
    ],
    [
      { databases: unknownValue as never },
      /^The passwords of the databases may be reset \(not known yet: databases\)\.$/,
    ],
  ];
  it("of unknown ids and versions: may", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("a", "b"), version: 1 });
    for (const [inputs, says] of unknownRows) {
      assert.deepEqual(check(inputs), []);
      const { notice = "", changes, changing } = fleet.plan(inputs);
      assert.match(notice, says);
      assert.deepEqual([changes, changing], [true, undefined]);
    }
    const { notice = "" } = plan(undefined, { databases });
    assert.match(notice, /2 databases \("a", "later"\), because .* So far 2/);
  });

  it("of findings: one line for each kind", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: many(7) });
    fleet.fake.canRead = true;
    fleet.fake.readDatabase = (id) => (/[35]/.test(id) ? unconfirmed() : { credentials: { password: `other-${id}` } });
    const { notice = "", warning = "" } = await fleet.refresh();
    assert.match(
      notice,
      /^The password of each of 5 databases \("db-0", "db-1", "db-2", "db-4", "db-6"\) was changed outside of Rekey \(password\)\. The saved state has been updated\.$/,
    );
    assert.match(warning, /^The password of each of 2 databases \("db-3", "db-5"\) was not read: Could not do it/);
    assert.equal(fleet.passwords["db-0"], "other-db-0");
  });

  it("which outputs may change, and no others", async () => {
    const fleet = fleetOf();
    const same = { databases: of("a", "b"), version: 1 };
    await fleet.up(same);
    for (const [more, changing] of [
      [{ rotateEvery: "30d" }, "memory,nextRotationAt"],
      [{ connection: { port: 7 } }, "access,connectionUrls,memory"],
      [{ saveCredentials: false }, ""],
      [{ version: 2 }, undefined],
      [{ databases: of("a") }, undefined],
    ] as const) {
      assert.equal(
        fleet
          .plan({ ...same, ...more })
          .changing?.toSorted()
          .join(),
        changing,
      );
    }
  });
});

describe("fleet: what is refused", () => {
  it("inputs that cannot be used", () => {
    const canary = "canary-password";
    for (const [inputs, says] of [
      [{}, /^databases is required\./],
      [{ databases: ["a"] }, /^databases must be a map of names to ids or databases, not a list\./],
      [{ databases: { x: 7 } }, /^databases\["x"\] must be a string, not a number\./],
      [{ databases: { x: {} } }, /^databases\["x"\]\.databaseId is required\./],
      [{ databases: { x: null } }, /^databases\["x"\] is required\./],
      ...["__proto__", "toString", "constructor"].map((name): readonly [object, RegExp] => [
        { databases: Object.fromEntries([[name, "a"]]) },
        new RegExp(`^databases must not have the name "${name}", which .*: choose another one\\. No request was made`),
      ]),
      [{ databases: { x: { databaseId: "a", versoin: 1 } } }, /^databases\["x"\]\.versoin is not an argument/],
      [{ databases: { x: "a", y: { databaseId: "a" } } }, /^databases has the database "a" twice, as "x" and as "y"/],
      [{ databases: { x: `redis://:${canary}@host` } }, /^databases\["x"\] must be an id, for Upstash a UUID/],
      // As the SDK passes on a list.
      [{ databases: { [`${canary}@host`]: `${canary}@host` } }, /^databases must be an id, for Upstash a UUID/],
      // As a single rotation.
      [
        { databases: of("a"), connection: { hots: 1 } },
        /^connection is invalid: its hots is not an argument \(did you mean host\?\)/,
      ],
      [{ databases: of("a"), saveCredentials: false }, /^saveCredentials must not be false without/],
      [{ databases: of("a"), maxFailures: 0 }, /^maxFailures must be a whole number, at least 1/],
    ] as const) {
      const messages = check(inputs as Inputs).join("\n");
      assert.match(messages, says);
      assert.doesNotMatch(messages, new RegExp(canary));
    }
  });
});
