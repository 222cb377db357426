import assert from "node:assert/strict";
import { passwordRotationFleet } from "../../../provider/rotation/fleet";
import { type FleetOutputs } from "../../../provider/rotation/fleetOutputs";
import { type Memory } from "../../../provider/rotation/memory";
import { type Desired } from "../../../provider/rotation/plan";
import { type Properties, unknownValue } from "../../../provider/records/properties";
import { Team } from "../../support/age";
import { asShown, FakeRun, passwordRotation, rejected, type SavedRotation, unconfirmed } from "../../support/fakeRun";
import { assertFields } from "../../support/results";

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
    // As the engine saves it: as JSON, with sorted names.
    this.saved = sorted(JSON.parse(JSON.stringify(result.outputs))) as FleetOutputs;
    return { ...result, sent: this.fake.resets.slice(before).sort() };
  }

  async refresh() {
    const result = await refresh(this.saved ?? assert.fail(), this.fake.start());
    this.saved = result.outputs;
    return result;
  }

  /** Credentials by the databases' ids, which the responses have in them. */
  get passwords() {
    return Object.entries(this.saved?.credentials ?? {}).map(([name, { password }]) => `${name} ${password}`);
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

/** A fleet of which each password names its database, and its reset. */
function fleetOf(): Fleet {
  const fleet = new Fleet();
  fleet.fake.answer = (id) => ({
    record: { databaseId: id, endpoint: `${id}.example.com`, port: 6379, tls: true, state: "active" },
    credentials: { password: `p-${id}-${fleet.fake.resets.filter((one) => one === id).length}` },
  });
  return fleet;
}

/** Rejects the resets of these databases. */
function failing(fleet: Fleet, ...ids: string[]): void {
  const { answer } = fleet.fake;
  fleet.fake.answer = (id) => (ids.includes(id) ? rejected() : answer(id));
}

describe("fleet: what is saved", () => {
  it("is saved by name, with what follows from it, and keyed by id in the memory", async () => {
    const fleet = fleetOf();
    const databases = { sessions: "a", carts: { databaseId: "b", version: 1 } };
    await fleet.up({ databases, rotateEvery: "30d" });
    const { memory, access, ...outputs } = fleet.saved ?? assert.fail();
    assert.deepEqual(outputs, {
      fleet: "fleet",
      states: {
        sessions: state("a"),
        carts: state("b"),
      },
      credentials: { sessions: { password: "p-a-1" }, carts: { password: "p-b-1" } },
      connectionUrls: {
        sessions: "rediss://default:p-a-1@a.example.com:6379",
        carts: "rediss://default:p-b-1@b.example.com:6379",
      },
      records: {
        sessions: { record: { endpoint: "a.example.com", port: 6379, tls: true } },
        carts: { record: { endpoint: "b.example.com", port: 6379, tls: true } },
      },
      encryptedCredentials: {},
      failed: [],
      lastRotated: "2026-11-21T12:00:00.000Z",
      nextRotationAt: "2026-12-21T12:00:00.000Z",
    });
    assert.deepEqual(Object.keys(JSON.parse(memory) as object), ["a", "b"]);
    const { sessions } = JSON.parse(access) as Record<string, object>;
    assertFields(sessions, { id: "a", of: "database", count: 1, current: { name: "password", value: "p-a-1" } });
    assert.equal(memory.includes("p-a-1"), false);
    // The engine sorts names; the texts stay the same.
    assert.deepEqual((await fleet.refresh()).outputs, { memory, access, ...outputs });
  });

  it("has whole records only if the program asks for them, from the next reset on", async () => {
    const fleet = fleetOf();
    const databases = of("a");
    await fleet.up({ databases, version: 1 });
    await fleet.up({ databases, version: 2, includeRecords: true });
    assert.deepEqual(fleet.saved?.records["a"]?.record["state"], "active");
    assert.deepEqual(await fleet.up({ databases, version: 2 }).then(({ sent }) => sent), []);
    assert.equal(fleet.saved?.records["a"]?.record["state"], undefined);
    assert.equal(fleet.plan({ databases, version: 2 }).changes, false);
  });
});

function textsOf({ notice, warning }: { readonly notice?: string; readonly warning?: string }): string[] {
  return [notice, warning].filter((text) => text !== undefined);
}

function state(databaseId: string) {
  return {
    databaseId,
    outcome: "reset",
    rotatedAt: "2026-11-21T12:00:00.000Z",
    rotationCount: 1,
    rotationReason: "created",
  };
}

describe("fleet: a fleet of one", () => {
  /** The platform's responses to a reset and a read. */
  type Responses = Pick<FakeRun, "answer" | "readDatabase">;
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

  it("saves and says in each run what a single rotation does", async () => {
    const { recipient } = await Team.create();
    const [encryptFor, rotateEvery] = [[recipient], "1d"];
    const steps: readonly (Responses & { readonly desired?: Desired; readonly days?: number })[] = [
      { desired: { initialRotation: false }, answer: lost, readDatabase: shows("p0") },
      { desired: { version: 1 }, answer: shows("p1"), readDatabase: hides },
      { answer: lost, readDatabase: shows("p1") },
      { desired: { version: 2 }, answer: lost, readDatabase: shows("p1") },
      { answer: lost, readDatabase: shows("p2") },
      { desired: { version: 2, encryptFor }, answer: lost, readDatabase: lost },
      { desired: { version: 2, encryptFor, saveCredentials: false }, answer: lost, readDatabase: lost },
      { answer: lost, readDatabase: shows("p3") },
      { desired: { version: 2, saveCredentials: false }, answer: lost, readDatabase: hides },
      { desired: { version: 2 }, answer: lost, readDatabase: shows("p3") },
      { desired: { version: 2, rotateEvery }, answer: lost, readDatabase: lost },
      { desired: { version: 2, rotateEvery }, days: 3, answer: shows("p4"), readDatabase: shows("p3") },
      { desired: { version: 2, rotateEvery, connection: { host: "b" } }, answer: lost, readDatabase: lost },
      { desired: { version: 3, rotateEvery }, answer: () => rejected(), readDatabase: shows("p5") },
      { desired: {}, answer: lost, readDatabase: shows("p4") },
    ];
    const single = asShown(passwordRotation);
    const [fake, fleet] = [new FakeRun(), new Fleet()];
    let saved: SavedRotation | undefined;
    for (const [index, { desired, days = 0, ...responses }] of steps.entries()) {
      for (const each of [fake, fleet.fake]) {
        Object.assign(each, responses, { canRead: true, time: new Date(Date.UTC(2026, 10, 21 + days)) });
      }
      const [inputs, all] = [
        { databaseId: "a", ...desired },
        { databases: of("a"), includeRecords: true, ...desired },
      ];
      if (desired) {
        const { changes, notice, warning } = single.plan(saved, inputs, fake.start());
        const planned = fleet.plan(all);
        assert.deepEqual([planned.changes, planned.notice, planned.warning], [changes, notice, warning]);
      }
      const change = desired
        ? single.apply(saved, inputs, fake.start())
        : single.refresh(saved ?? assert.fail(), fake.start());
      const one = await change.catch(({ message }: Error) => ({ outputs: saved, message }));
      saved = one.outputs;
      const { notice, warning } = await (desired ? fleet.up(all) : fleet.refresh());
      const expected = { ...viewOf(saved as unknown as Properties), error: one.message };
      assert.deepEqual(viewOf(inFleet(fleet.saved ?? assert.fail())), JSON.parse(JSON.stringify(expected)), `${index}`);
      const { notice: said, warning: warned } = one as { notice?: string; warning?: string };
      assert.deepEqual([notice, warning], [said, warned], `${index}`);
    }
    assert.deepEqual(fleet.fake.resets, fake.resets);
  });

  /** The outputs of the database, as a single rotation has them. */
  function inFleet({ states, credentials, records, connectionUrls, encryptedCredentials, ...fleet }: FleetOutputs) {
    const memories = JSON.parse(fleet.memory) as Properties;
    return {
      ...states["a"],
      ...credentials["a"],
      ...records["a"],
      connectionUrl: connectionUrls["a"],
      encryptedCredentials: encryptedCredentials["a"],
      nextRotationAt: fleet.nextRotationAt,
      access: JSON.stringify((JSON.parse(fleet.access) as Properties)["a"]),
      memory: JSON.stringify(memories["a"]),
    };
  }

  /** What is compared of outputs: neither random values, nor what a fleet does not have. */
  function viewOf({ restUrl: _none, encryptedCredentials, problems, memory, access, ...outputs }: Properties): object {
    const problem = Array.isArray(problems) && problems.length > 0 ? problems : undefined;
    const isEncrypted = encryptedCredentials !== undefined;
    const { current } = JSON.parse(String(access)) as { current?: object | undefined };
    const at = current && { ...current, mark: undefined, salt: undefined };
    const view = { ...outputs, problem, isEncrypted, at, memory: labelled(JSON.parse(String(memory)) as Memory) };
    return JSON.parse(JSON.stringify(view)) as object;
  }

  /** A memory without its random salt: each mark is the number of its first appearance. */
  function labelled(memory: Memory): unknown {
    const marks: string[] = [];
    const { salt: _random, ...rest } = memory;
    return JSON.parse(JSON.stringify(rest), (_, value: unknown) => {
      if (typeof value !== "string" || !/^[\w-]{16}$/.test(value)) return value;
      if (!marks.includes(value)) marks.push(value);
      return marks.indexOf(value);
    });
  }
});

describe("fleet: what is sent", () => {
  const of3 = of("a", "b", "c");
  const rows: readonly { readonly what: string; readonly next: Inputs; readonly sent: string[]; same?: true }[] = [
    { what: "nothing has changed", next: { databases: of3, version: "1", triggers: {} }, sent: [], same: true },
    { what: "another order", next: { databases: of("c", "b", "a"), version: 1 }, sent: [], same: true },
    { what: "other names", next: { databases: { x: "b", y: { databaseId: "a" }, c: "c" }, version: 1 }, sent: [] },
    { what: "names are swapped", next: { databases: { a: "b", b: "a", c: "c" }, version: 1 }, sent: [] },
    {
      what: "an own version",
      next: { databases: { ...of3, b: { databaseId: "b", version: 1 } }, version: 1 },
      sent: ["b"],
    },
    { what: "the fleet's version", next: { databases: of3, version: 2 }, sent: ["a", "b", "c"] },
    { what: "no version", next: { databases: of3 }, sent: [], same: true },
    { what: "one more, and one less", next: { databases: of("a", "c", "d"), version: 1 }, sent: ["d"] },
    { what: "another connection", next: { databases: of3, version: 1, connection: { port: 7 } }, sent: [] },
    { what: "limits", next: { databases: of3, version: 1, concurrency: 1, maxFailures: 1 }, sent: [], same: true },
  ];
  for (const { what, next, sent, same } of rows) {
    it(`${what}: ${sent.join() || "nothing"}`, async () => {
      const fleet = fleetOf();
      await fleet.up({ databases: of3, version: 1 });
      assert.equal(fleet.plan(next).changes, same !== true);
      const result = await fleet.up(next);
      assert.deepEqual([result.sent, result.failure], [sent, undefined]);
      assert.deepEqual(Object.keys(fleet.saved?.states ?? {}).sort(), Object.keys(next.databases).sort());
      assert.equal(fleet.plan(next).changes, false, "it converges");
      const { a = "", b = "" } = Object.fromEntries(
        Object.entries(fleet.saved?.states ?? {}).map(([name, one]) => [one.databaseId, name]),
      );
      if (sent.length < 3 && b) assert.match(fleet.passwords.join(), new RegExp(`${a} p-a-1.*|${b} p-b-`));
    });
  }

  it("a database that was removed is new again, and an empty map of a fleet that has some is refused", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("a", "b") });
    await fleet.up({ databases: of("a") });
    assert.doesNotMatch(JSON.stringify(fleet.saved), /p-b-1/);
    assert.deepEqual((await fleet.up({ databases: of("a", "b") })).sent, ["b"]);
    for (const act of [() => fleet.plan({ databases: {} }), () => fleet.up({ databases: {} })]) {
      await assert.rejects(async () => act(), /databases is empty, but .* REKEY_INPUT_INVALID|databases is empty/);
    }
    assert.deepEqual((await fleetOf().up({ databases: {} })).outputs.failed, []);
  });

  it("within `concurrency`", async () => {
    const fleet = fleetOf();
    let [open, most] = [0, 0];
    const run = fleet.fake.start();
    const operations = run.platform.operations({} as never);
    const reset = operations.reset.bind(operations);
    operations.reset = async (id) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return reset(id);
    };
    await fleet.up({ databases: many(20), concurrency: 3 }, run);
    assert.deepEqual([most, fleet.fake.resets.length], [3, 20]);
  });
});

describe("fleet: failures", () => {
  it("of some are saved with each, the others are saved, and the next `up` processes only these", async () => {
    const fleet = fleetOf();
    failing(fleet, "b");
    const databases = { one: "a", two: "b", three: "c" };
    const first = await fleet.up({ databases, version: 1 });
    assert.deepEqual([first.isPartial, first.outputs.failed], [true, ["two"]]);
    assert.match(
      first.message ?? "",
      /^1 of 3 databases failed:\n {2}two: Could not do it: it broke .* Unchanged\. Fix it\. \[REKEY_REJECTED\]\nAll others are saved\..*\[REKEY_FLEET_INCOMPLETE\]$/s,
    );
    assert.deepEqual(fleet.passwords.sort(), ["one p-a-1", "three p-c-1"]);
    const { outcome, error } = fleet.saved?.states["two"] ?? {};
    assert.equal(outcome, "pending");
    assert.match(error ?? "", /REKEY_REJECTED/);
    assert.equal(fleet.plan({ databases, version: 1 }).changes, true);
    fleet.fake.answer = (id) => ({ credentials: { password: `p-${id}-2` } });
    const second = await fleet.up({ databases, version: 1 });
    assert.deepEqual([second.sent, second.failure, second.outputs.failed], [["b"], undefined, []]);
    assert.equal(fleet.saved?.states["two"]?.error, undefined);
  });

  it("stop the fleet after maxFailures, but nothing that sends no reset; refusals do not count", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("z") });
    failing(fleet, ...Object.keys(many(10)));
    const databases = { ...many(10), z: "z" };
    const result = await fleet.up({ databases, concurrency: 1, maxFailures: 2, rotateEvery: "30d" });
    assert.equal(result.sent.length, 2);
    assert.match(
      result.message ?? "",
      /^2 of 11 databases failed:(\n {2}db-\d: .*){2}\n {2}8 were not attempted, because/,
    );
    assert.equal(result.outputs.failed.length, 10);
    assert.equal(result.outputs.nextRotationAt, "2026-12-21T12:00:00.000Z");
    const next = await fleet.up({ databases });
    assert.deepEqual([next.sent.length, next.sent.includes("z")], [10, false]);
    const limited = fleetOf();
    limited.fake.maxResets = 3;
    const refused = await limited.up({ databases: many(5), concurrency: 1, maxFailures: 1 });
    assert.deepEqual([refused.sent.length, refused.outputs.failed.length], [3, 2]);
    assert.doesNotMatch(refused.message ?? "", /maxFailures\)/);
  });

  it("name at most twenty, and count the others", async () => {
    const fleet = fleetOf();
    fleet.fake.answer = () => rejected();
    const { message = "" } = await fleet.up({ databases: many(30) });
    assert.equal(message.match(/REKEY_REJECTED/g)?.length, 20);
    assert.match(message, /\n {2}and 10 more: see the output `failed`\n/);
  });

  it("of a bug in one do not lose the others", async () => {
    const fleet = fleetOf();
    const { answer } = fleet.fake;
    fleet.fake.answer = (id) => (id === "b" ? new TypeError("canary") : answer(id));
    const result = await fleet.up({ databases: of("a", "b", "c") });
    assert.deepEqual(fleet.passwords.sort(), ["a p-a-1", "c p-c-1"]);
    assert.match(result.message ?? "", /b: Could not reset the password of database "b": pulumi-rekey failed/);
    assert.doesNotMatch(result.message ?? "", /canary/);
  });

  it("of the saved state: a damaged one is refused, and a refresh keeps it", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: of("a", "b") });
    const whole = fleet.saved ?? assert.fail();
    const damaged = [
      { ...whole, memory: whole.memory.slice(1) },
      { ...whole, memory: "{}" },
      { ...whole, memory: whole.memory.replace(/("rotatedAt":"2026-11-21)[^"]*/, "$1") },
      { ...whole, states: undefined } as unknown as FleetOutputs,
    ];
    for (const saved of damaged) {
      fleet.saved = saved;
      assert.throws(() => fleet.plan({ databases: of("a", "b"), version: 2 }), /REKEY_STATE_UNREADABLE/);
      await assert.rejects(fleet.up({ databases: of("a", "b"), version: 2 }), /REKEY_STATE_UNREADABLE/);
      const kept = await fleet.refresh();
      assert.deepEqual([kept.outputs, /the state is damaged/.test(kept.warning ?? "")], [saved, true]);
    }
    assert.equal(fleet.fake.resets.length, 2);
  });
});

describe("fleet: what is said", () => {
  it("of a new fleet: how many databases it resets, up to five names, and how to keep them", () => {
    const { notice, changes } = fleetOf().plan({ databases: many(1_000) });
    assert.equal(changes, true);
    assert.equal(
      notice,
      'Password of each of 1000 databases ("db-0", "db-1", "db-2", "db-3", "db-4" and 995 more): will be reset, because the resource is new. To keep it, set `initialRotation: false`. If it was only renamed, use the option `aliases`. So far 1000 in this run.',
    );
    assert.equal(fleetOf().plan({ databases: many(3), initialRotation: false }).notice, undefined);
  });

  it("one line for each reason, although their times differ, with those that are the latest first", async () => {
    const fleet = fleetOf();
    for (const [index, id] of ["a", "b", "c"].entries()) {
      fleet.fake.time = new Date(`2026-11-0${index + 1}T12:00:00.000Z`);
      await fleet.up({ databases: of(..."abc".slice(0, index + 1)), rotateEvery: "30d" });
      assert.equal(fleet.fake.resets.at(-1), id);
    }
    assert.equal(fleet.saved?.nextRotationAt, "2026-12-01T12:00:00.000Z");
    assert.equal(fleet.saved?.lastRotated, "2026-11-03T12:00:00.000Z");
    fleet.fake.time = new Date("2027-01-01T12:00:00.000Z");
    const databases = { ...of("c", "b", "a"), d: "d" };
    const { notice = "" } = fleet.plan({ databases, rotateEvery: "30d" });
    const lines = notice.split("\n");
    assert.equal(lines.length, 2, notice);
    assert.match(
      lines[0] ?? "",
      /^Password of database "d": will be reset, because it is new in the fleet\. .* So far 1 in/,
    );
    assert.match(
      lines[1] ?? "",
      /^Password of each of 3 databases \("a", "b", "c"\): will be reset, because it is due by rotateEvery, and was last reset or adopted at 2026-11-01T12:00:00\.000Z\. The details are those of "a"\. So far 4 in this run\.$/,
    );
  });

  it("of unknown ids and versions: may", async () => {
    const fleet = fleetOf();
    const databases = { ...of("a"), later: unknownValue };
    await fleet.up({ databases: of("a", "b"), version: 1 });
    const rows: readonly { readonly inputs: Inputs; readonly says: RegExp }[] = [
      {
        inputs: { databases, version: 1 },
        says: /^Password of database "later": may be reset: databaseId is not known yet\.$/,
      },
      {
        inputs: { databases: { ...of("b"), a: { databaseId: "a", version: unknownValue } }, version: 1 },
        says: /^Password of database "a": may be reset: version is not known yet\.$/,
      },
      {
        inputs: { databases: of("a", "b"), triggers: unknownValue as never },
        says: /^Password of each of 2 databases \("a", "b"\): may be reset: triggers is not known yet\.$/,
      },
      {
        inputs: { databases: unknownValue as never, version: 1 },
        says: /^Passwords of the databases: may be reset: databases is not known yet\.$/,
      },
    ];
    for (const { inputs, says } of rows) {
      assert.deepEqual(check(inputs), []);
      const planned = fleet.plan(inputs);
      assert.match(planned.notice ?? "", says);
      assert.deepEqual([planned.changes, planned.changing], [true, undefined]);
    }
    assert.match(
      plan(undefined, { databases }).notice ?? "",
      /2 databases \("a", "later"\): will be reset, .* So far 2/,
    );
  });

  it("of findings: one line for each kind", async () => {
    const fleet = fleetOf();
    await fleet.up({ databases: many(7) });
    fleet.fake.canRead = true;
    fleet.fake.readDatabase = (id) => (id === "db-3" ? unconfirmed() : { credentials: { password: `other-${id}` } });
    const { notice, warning } = await fleet.refresh();
    assert.match(
      notice ?? "",
      /^Password of each of 6 databases \("db-0", .* and 1 more\): was changed outside of Rekey \(password\)\. What was read is saved\.$/,
    );
    assert.match(warning ?? "", /^Password of database "db-3": was not read: Could not do it/);
    assert.equal(fleet.saved?.credentials["db-0"]?.password, "other-db-0");
    fleet.fake.readDatabase = (id) => ({ credentials: { password: id === "db-3" ? "p-db-3-1" : `other-${id}` } });
    assert.deepEqual(textsOf(await fleet.refresh()), []);
  });

  it("which outputs may change, and no others", async () => {
    const fleet = fleetOf();
    const databases = of("a", "b");
    await fleet.up({ databases, version: 1 });
    const changing = (inputs: Inputs) => fleet.plan(inputs).changing?.toSorted();
    assert.deepEqual(changing({ databases, version: 1, rotateEvery: "30d" }), ["memory", "nextRotationAt"]);
    assert.deepEqual(changing({ databases, version: 1, connection: { port: 7 } }), [
      "access",
      "connectionUrls",
      "memory",
    ]);
    assert.deepEqual(changing({ databases, version: 1, saveCredentials: false }), [
      "access",
      "connectionUrls",
      "credentials",
      "encryptedCredentials",
      "memory",
    ]);
    assert.equal(changing({ databases, version: 2 }), undefined);
    assert.equal(changing({ databases: of("a"), version: 1 }), undefined);
  });
});

describe("fleet: what is refused", () => {
  const canary = "canary-password";
  const rows: readonly { readonly databases: unknown; readonly says: RegExp }[] = [
    { databases: undefined, says: /^databases is required\./ },
    { databases: "a", says: /^databases must be a map of names to ids or databases, not a string\./ },
    { databases: ["a"], says: /^databases must be a map/ },
    { databases: { x: 7 }, says: /^databases\["x"\] must be the id of a database, or an object with its databaseId\./ },
    { databases: { x: {} }, says: /^databases\["x"\]\.databaseId is required\./ },
    { databases: { x: null }, says: /^databases\["x"\] must be the id/ },
    { databases: { x: { databaseId: "a", versoin: 1 } }, says: /^databases\["x"\]\.versoin is not an input/ },
    { databases: { x: { databaseId: "a", version: 1.5 } }, says: /^databases\["x"\]\.version must not be a fraction/ },
    {
      databases: { x: "a", y: { databaseId: "a" } },
      says: /^databases has the database "a" twice, as "x" and as "y": remove/,
    },
    { databases: { x: `redis://:${canary}@host` }, says: /^databases\["x"\] must be an id, for Upstash a UUID/ },
    // As the SDK passes on a list.
    { databases: { [`${canary}@host`]: `${canary}@host` }, says: /^databases must be an id, for Upstash a UUID/ },
  ];
  for (const { databases, says } of rows) {
    it(JSON.stringify({ databases })?.replaceAll(canary, "…"), () => {
      const messages = check({ databases } as Inputs);
      assert.match(messages.join("\n"), says);
      assert.doesNotMatch(messages.join("\n"), new RegExp(canary));
    });
  }

  it("an input that is wrong for a rotation, and a database that another resource has", () => {
    const databases = of("a");
    assert.match(check({ databases, rotateEvery: "soon" }).join(), /^rotateEvery must be a duration/);
    assert.match(check({ databases, connection: { hots: 1 } as never }).join(), /^connection has no "hots"/);
    assert.match(check({ databases, saveCredentials: false }).join(), /^saveCredentials must not be false without/);
    assert.match(check({ databases, concurrency: 0 }).join(), /^concurrency must be a whole number, at least 1/);
    const claims = passwordRotationFleet.claims?.({ databases: { ...databases, b: unknownValue } });
    assert.deepEqual(
      claims?.map(({ subject, code }) => [subject, code]),
      [['database "a"', "REKEY_DUPLICATE_DATABASE"]],
    );
  });
});
