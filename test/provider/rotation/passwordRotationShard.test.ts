import assert from "node:assert/strict";
import fc from "fast-check";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { type PasswordRotationShardInputs } from "../../../provider/rotation/shardPlan";
import { decodeShard, type PasswordRotationShardOutputs } from "../../../provider/rotation/shardState";
import { asShown, FakeRun, notSent, passwordRotation, rejected, unconfirmed } from "../../support/fakeRun";
import { combineTriggers, type FleetDatabaseSecrets, type FleetDatabaseState } from "../../../provider/rotation/fleet";
import { type PasswordRotationOutputs } from "../../../provider/rotation/outputs";

const { apply, check, diff, refresh } = asShown(passwordRotationShard);

const fleet = "urn:pulumi:dev::program::rekey:index:PasswordRotationFleet::caches";

/** Inputs for databases that are named by one letter each. */
function inputsFor(ids: string, more: Partial<PasswordRotationShardInputs> = {}): PasswordRotationShardInputs {
  return { shard: "07", fleet, databases: [...ids].map((databaseId) => ({ databaseId })), ...more };
}

/** The outcome of each database, and how often it was reset. */
const summary = ({ rotations }: PasswordRotationShardOutputs) =>
  Object.fromEntries(
    rotations.map(({ databaseId, outcome, rotationCount }) => [databaseId, `${outcome} ${rotationCount}`]),
  );
const problemsOf = ({ rotations }: PasswordRotationShardOutputs) =>
  Object.fromEntries(rotations.flatMap(({ databaseId, problem }) => (problem ? [[databaseId, problem]] : [])));
const notTriedOf = ({ rotations }: PasswordRotationShardOutputs) =>
  rotations.flatMap(({ databaseId, notTried }) => (notTried ? [databaseId] : [])).join("");

const keeps = "`initialRotation: false` keeps their passwords.";

describe("rotation: PasswordRotationShard", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (inputs: PasswordRotationShardInputs, saved?: PasswordRotationShardOutputs, run = fake.start()) =>
    (await apply(saved, inputs, run)).outputs;
  const diffOf = (saved: PasswordRotationShardOutputs, inputs: PasswordRotationShardInputs) =>
    diff(saved, inputs, fake.start());
  const succeed: FakeRun["answer"] = () => ({ record: { port: 1 } });

  it("resets each database, and saves the results, secrets apart from the rest", async () => {
    const outputs = await up(inputsFor("ab", { version: 1 }));
    const rotation = { outcome: "reset", rotatedAt: "2026-11-21T12:00:00.000Z", rotationCount: 1 };
    assert.equal(outputs.shard, "07");
    assert.deepEqual(
      outputs.rotations,
      ["a", "b"].map((databaseId) => ({ databaseId, ...rotation })),
    );
    const secrets = JSON.parse(outputs.secrets) as FleetDatabaseSecrets[];
    const passwords = Object.fromEntries(secrets.map(({ databaseId, password }) => [databaseId, password]));
    assert.deepEqual(passwords, { a: "password-1", b: "password-2" });
    for (const { appliedTrigger } of secrets) assert.match(appliedTrigger ?? "", /^1:/);
  });

  it("saves records only on request, from the next reset on", async () => {
    const inputs = inputsFor("a", { version: 1 });
    const without = await up(inputs);
    assert.equal(without.rotations[0]?.record, undefined);
    const more = { ...inputs, includeRecords: true };
    assert.deepEqual(diffOf(without, more), { changes: false });
    assert.deepEqual((await up({ ...more, version: 2 }, without)).rotations[0]?.record, { databaseId: "a", port: 2 });
  });

  it("is not changed by its limits", async () => {
    const inputs = inputsFor("ab", { version: 1 });
    const saved = await up(inputs);
    for (const limits of [{ concurrency: 1 }, { maxFailures: 1 }]) {
      assert.deepEqual(diffOf(saved, { ...inputs, ...limits }), { changes: false });
      assert.deepEqual(await up({ ...inputs, ...limits }, saved), saved);
    }
    assert.equal(fake.resets.length, 2);
  });

  it("rotates, adds and removes single databases, and names them", async () => {
    const saved = await up(inputsFor("ab", { version: 1 }));
    const databases = [{ databaseId: "b", version: 7 }, { databaseId: "c" }];
    const desired = inputsFor("", { version: 1, databases });
    const { changes, notice } = diffOf(saved, desired);
    const of = 'PasswordRotationFleet "caches"';
    assert.equal(changes, true);
    assert.deepEqual(notice?.split("\n"), [
      `${of} resets 1 because of a changed version or trigger: "b".`,
      `${of} resets 1 for the first time: "c". ${keeps}`,
    ]);
    const next = await up(desired, saved);
    assert.deepEqual(fake.resets, ["a", "b", "b", "c"]);
    assert.deepEqual([...decodeShard(next).keys()], ["b", "c"]);
    assert.equal(diffOf(next, desired).changes, false);
    assert.equal(diffOf(saved, inputsFor("b", { version: 1 })).changes, true, "removing is an update");
  });

  it("saves a failure with the state before it, and retries only what failed", async () => {
    const first = await up(inputsFor("abcd", { version: 1 }));
    fake.answer = (id) => ({ a: rejected(), b: notSent(), c: unconfirmed() })[id] ?? { record: { port: 1 } };
    const desired = inputsFor("abcd", { version: 2 });
    const { outputs, notice } = await apply(first, desired, fake.start());
    assert.equal(notice, undefined);
    assert.deepEqual(Object.keys(problemsOf(outputs)), ["a", "b", "c"]);
    assert.match(problemsOf(outputs)["a"] ?? "", /Unchanged/);
    assert.deepEqual(summary(outputs), { a: "reset 1", b: "reset 1", c: "unknown 1", d: "reset 2" });
    assert.equal(decodeShard(outputs).get("a")?.password, decodeShard(first).get("a")?.password);
    assert.equal(diffOf(outputs, desired).changes, true);
    fake.answer = succeed;
    const sent = fake.resets.length;
    const repaired = await up(desired, outputs);
    assert.deepEqual([fake.resets.slice(sent), problemsOf(repaired)], [["a", "b", "c"], {}]);
    assert.equal(diffOf(repaired, desired).changes, false);
  });

  it("no longer reports a database as not tried once it was tried", async () => {
    fake.answer = rejected;
    const limits = { maxFailures: 1, concurrency: 1 };
    const stopped = await up(inputsFor("ab", limits));
    assert.equal(notTriedOf(stopped), "b");
    const tried = await up(inputsFor("ab", { concurrency: 1 }), stopped);
    assert.equal(notTriedOf(tried), "");
    assert.doesNotMatch(problemsOf(tried)["b"] ?? "", /Not attempted/);
    fake.answer = succeed;
    const [rotation] = (await up(inputsFor("b"), tried)).rotations;
    assert.deepEqual([rotation?.outcome, rotation?.problem, rotation?.notTried], ["reset", undefined, undefined]);
  });

  it("saves what could not be read of a response, but no empty list", async () => {
    fake.answer = (id) => ({ record: { port: 1 }, problems: id === "a" ? ["tls: expected true or false"] : [] });
    const [a, b] = (await up(inputsFor("ab"))).rotations;
    assert.deepEqual(a?.problems, ["tls: expected true or false"]);
    assert.ok(b && !Object.hasOwn(b, "problems"));
  });

  it("saves only the start of a very long problem", async () => {
    fake.answer = () => Object.assign(rejected(), { message: "long ".repeat(10_000) });
    const problem = problemsOf(await up(inputsFor("a")))["a"] ?? "";
    assert.ok(problem.length > 500 && problem.length < 2_000, String(problem.length));
  });

  it("removes, without a reset, the problem of a trigger that was taken back", async () => {
    const first = await up(inputsFor("a", { version: 1 }));
    fake.answer = rejected;
    const failed = await up(inputsFor("a", { version: 2 }), first);
    assert.equal(diffOf(failed, inputsFor("a", { version: 1 })).changes, true);
    assert.deepEqual(await up(inputsFor("a", { version: 1 }), failed), first);
    assert.equal(fake.resets.length, 2);
  });

  it("treats a database that was never reset as new", async () => {
    fake.answer = rejected;
    const failed = await up(inputsFor("a"));
    assert.deepEqual(summary(failed), { a: "pending 0" });
    assert.deepEqual(summary(await up(inputsFor("a", { initialRotation: false }), failed)), { a: "adopted 0" });
    assert.equal(fake.resets.length, 1);
  });

  it("stops after maxFailures in all shards, and reports what was not tried", async () => {
    fake.answer = rejected;
    const run = fake.start();
    const limits = { maxFailures: 3, concurrency: 1 };
    const [one, two] = await Promise.all([
      up(inputsFor("abcde", limits), undefined, run),
      up(inputsFor("xyz", { ...limits, shard: "08" }), undefined, run),
    ]);
    assert.deepEqual(fake.resets, ["a", "b", "c"]);
    assert.equal(notTriedOf(one) + notTriedOf(two), "dexyz");
    const problem =
      "Not attempted: the fleet stopped after too many failures (maxFailures). No reset was sent in this run.";
    for (const id of "de") assert.equal(problemsOf(one)[id], problem);
    for (const id of "xyz") assert.equal(problemsOf(two)[id], problem);
    fake.answer = succeed;
    assert.deepEqual(problemsOf(await up(inputsFor("abcde", limits), one)), {});
  });

  it("keeps what it has when it stops, and what it does not reset", async () => {
    const saved = await up(inputsFor("abcd", { version: 1 }));
    fake.answer = rejected;
    const limits = { maxFailures: 1, concurrency: 1 };
    const stopped = await up(inputsFor("abcd", { version: 2, ...limits }), saved);
    assert.deepEqual([notTriedOf(stopped), summary(stopped)], ["bcd", summary(saved)]);
    assert.deepEqual(
      [...decodeShard(stopped).values()].map(({ problem, notTried, ...state }) => state),
      [...decodeShard(saved).values()],
    );
    const databases = [{ databaseId: "a", version: 1 }, "b", "c", "d"];
    const one = await up(inputsFor("", { version: 1, databases, ...limits }), stopped);
    assert.deepEqual([notTriedOf(one), Object.keys(problemsOf(one))], ["", ["a"]]);
  });

  it("completes, after maxFailures, the resets that have begun", async () => {
    fake.answer = (id) => (id === "a" ? rejected() : { record: { port: 1 } });
    const outputs = await up(inputsFor("abcd", { maxFailures: 1, concurrency: 2 }));
    assert.deepEqual(summary(outputs), { a: "pending 0", b: "reset 1", c: "pending 0", d: "pending 0" });
    assert.equal(notTriedOf(outputs), "cd");
    assert.deepEqual(fake.resets, ["a", "b"]);
  });

  it("does not count its own refusals as failures of the platform", async () => {
    fake.maxResets = 1;
    const outputs = await up(inputsFor("abc", { maxFailures: 1, concurrency: 1 }));
    assert.deepEqual(fake.resets, ["a"]);
    for (const problem of Object.values(problemsOf(outputs))) assert.match(problem, /rekey:maxResetsPerRun/);
    assert.equal(notTriedOf(outputs), "");
  });

  it("reports its progress at most every five seconds", async () => {
    fake.answer = (id) => {
      fake.elapsedMs += 2_000;
      return id === "b" ? rejected() : { record: { port: 1 } };
    };
    await up(inputsFor("abcdefg", { concurrency: 1 }));
    const progress = (tried: number) => `PasswordRotationFleet "caches": ${tried} of 7 tried, 1 failed.`;
    assert.deepEqual(fake.said, [progress(3), progress(6)]);
  });

  it("refuses a damaged state, and sends nothing", async () => {
    const saved = await up(inputsFor("ab"));
    const damages: readonly object[] = [
      { rotations: undefined },
      { rotations: [...saved.rotations, saved.rotations[0]] },
      { rotations: [null] },
      { secrets: "[secret]" },
      { secrets: "{}" },
      { secrets: undefined },
    ];
    const message =
      /^The saved output (rotations|secrets) is not a list of databases, each of them once: the state is damaged\. Nothing was sent\. Restore it from an earlier export of the state\. /;
    for (const damage of damages) {
      const damaged = { ...saved, ...damage };
      assert.throws(() => diffOf(damaged, inputsFor("ab")), { message });
      await assert.rejects(up(inputsFor("ab"), damaged), { message });
    }
    const lost = await up(inputsFor("ab", { version: 1 }), { ...saved, secrets: "[]" });
    assert.match(problemsOf(lost)["a"] ?? "", /saved output appliedTrigger/);
    assert.equal(fake.resets.length, 2);
  });

  it("checks its inputs, and who else rotates its databases", () => {
    const run = fake.start();
    const reasons = (inputs: object, unknown: string[] = []) =>
      check({ ...inputsFor("a"), ...inputs }, new Set(unknown), run).map(({ reason }) => reason);
    const bad: readonly { readonly inputs: object; readonly reason: RegExp }[] = [
      { inputs: { databases: "a" }, reason: /: databases must be a list of databases, not a string$/ },
      { inputs: { databases: [7] }, reason: /: databases must hold databases, but one is a number$/ },
      { inputs: { databases: [{ version: 1 }] }, reason: /: databaseId is required$/ },
      { inputs: { databases: [{ databaseId: ".." }] }, reason: /: a database: databaseId must not be ".."/ },
      {
        inputs: { databases: ["redis://default:canary@host:6379"] },
        reason: /^[^:]*: a database: databaseId must be an id, for Upstash a UUID, not an address: [^:]*$/,
      },
      {
        inputs: { databases: [{ databaseId: "a", version: true }] },
        reason: /: database "a": version must be a string or a number/,
      },
      { inputs: { databases: [{ databaseId: "a", verison: 1 }] }, reason: /: database "a": verison is not an input/ },
      { inputs: { concurrency: 0 }, reason: /: concurrency must be a whole number, at least 1$/ },
      { inputs: { maxFailures: 1.5 }, reason: /: maxFailures must be a whole number/ },
      { inputs: { includeRecords: "yes" }, reason: /: includeRecords must be true or false/ },
      { inputs: { rotateEvery: "soon" }, reason: /: rotateEvery must be a duration/ },
      { inputs: { otherOwners: { a: ["them"] } }, reason: /: database "a" is already rotated by them/ },
    ];
    for (const { inputs, reason } of bad) {
      assert.match(reasons(inputs).join(), reason);
      assert.match(reasons(inputs).join(), /^PasswordRotationFleet "caches": /);
    }
    assert.deepEqual(reasons({}), []);
    const other = fleet.replace("caches", "others");
    assert.match(reasons({ fleet: other }, ["databases"]).join(), /"others": .* already rotated by urn:\S+::caches:/);
  });

  describe("whose databases can be read", () => {
    const show = (id: string, password: string, port = 1) => ({
      record: { databaseId: id, port, creationTime: 1_700_000_000 },
      credentials: { password },
    });
    const refreshed = (saved: PasswordRotationShardOutputs) => refresh(saved, fake.start());
    const passwordsOf = (saved: PasswordRotationShardOutputs) =>
      Object.fromEntries([...decodeShard(saved)].map(([id, { password }]) => [id, password]));
    /** What the platform shows of each database. */
    let shown: Record<string, ReturnType<FakeRun["answer"]>>;

    beforeEach(() => {
      shown = {};
      fake.canRead = true;
      fake.readDatabase = (id) => shown[id] ?? show(id, "former");
      fake.answer = (id) => (shown[id] = show(id, `new-${fake.resets.length}`));
    });

    it("keeps its state in a refresh that shows nothing new", async () => {
      for (const includeRecords of [true, false]) {
        const saved = await up(inputsFor("ab", { version: 1, includeRecords }));
        const { outputs, ...diagnostics } = await refreshed(saved);
        assert.equal(outputs, saved);
        assert.deepEqual(diagnostics, {});
      }
    });

    it("saves what a refresh shows of one database, with its record only if that is saved, and resets nothing", async () => {
      for (const includeRecords of [true, false]) {
        shown = {};
        const saved = await up(inputsFor("ab", { version: 1, includeRecords }));
        const sent = fake.resets.length;
        shown["b"] = show("b", "other", 9);
        const { outputs } = await refreshed(saved);
        assert.deepEqual(passwordsOf(outputs), { ...passwordsOf(saved), b: "other" });
        assert.equal(outputs.rotations[1]?.record?.port, includeRecords ? 9 : undefined);
        assert.deepEqual(outputs.rotations[0], saved.rotations[0]);
        assert.deepEqual([outputs.shard, outputs.fleet, fake.resets.length], [saved.shard, saved.fleet, sent]);
      }
    });

    it("does not read a database that was never reset", async () => {
      fake.answer = rejected;
      const saved = await up(inputsFor("a"));
      fake.databaseReads.length = 0;
      assert.equal((await refreshed(saved)).outputs, saved);
      assert.deepEqual(fake.databaseReads, []);
    });

    it("removes in a refresh the problem of a reset that turns out to be applied, and no other one", async () => {
      const first = await up(inputsFor("abc", { version: 1 }));
      fake.answer = (id) => (id === "a" ? unconfirmed() : rejected());
      const failed = await up(inputsFor("abc", { version: 2, maxFailures: 2, concurrency: 1 }), first);
      assert.deepEqual([Object.keys(problemsOf(failed)), notTriedOf(failed)], [["a", "b", "c"], "c"]);
      for (const id of "abc") shown[id] = show(id, "other");
      const { outputs } = await refreshed(failed);
      assert.deepEqual(passwordsOf(outputs), { a: "other", b: "other", c: "other" });
      const { a, ...others } = problemsOf(failed);
      assert.deepEqual([problemsOf(outputs), notTriedOf(outputs)], [others, "c"]);
      assert.deepEqual(summary(outputs), { a: "reset 2", b: "reset 1", c: "reset 1" });
    });

    it("saves the creation time of adopted databases only", async () => {
      const timeOf = ({ rotations }: PasswordRotationShardOutputs) => rotations[0]?.creationTime;
      const adopted = await up(inputsFor("a", { version: 1, initialRotation: false }));
      assert.deepEqual([timeOf(adopted), adopted.rotations[0]?.record], [1_700_000_000, undefined]);
      assert.equal((await refreshed(adopted)).outputs, adopted);
      assert.equal(timeOf(await up(inputsFor("a", { version: 2, initialRotation: false }), adopted)), undefined);
    });

    it("saves an unexpected error as a problem, without its text, and resets nothing", async () => {
      fake.readDatabase = (id) => (id === "a" ? new Error("secret-canary") : show(id, "former"));
      const saved = await up(inputsFor("ab"));
      assert.deepEqual([Object.keys(problemsOf(saved)), fake.resets], [["a"], ["b"]]);
      assert.match(
        problemsOf(saved)["a"] ?? "",
        /^Could not reset the password of database "a": pulumi-rekey failed unexpectedly \(Error at .*\[REKEY_INTERNAL\]$/,
      );
      assert.doesNotMatch(JSON.stringify(saved), /canary/);
    });

    it("keeps the order of what a refresh does not change, and the creation time that it does not show", async () => {
      const saved = await up(inputsFor("ab", { version: 1, initialRotation: false }));
      const sorted = (state: object) => Object.fromEntries(Object.entries(state).sort()) as FleetDatabaseState;
      const rotations = saved.rotations.map(sorted);
      assert.notEqual(JSON.stringify(rotations), JSON.stringify(saved.rotations));
      shown["b"] = { record: { databaseId: "b" }, credentials: { password: "other" } };
      const { outputs } = await refreshed({ ...saved, rotations });
      assert.deepEqual(passwordsOf(outputs), { a: "former", b: "other" });
      assert.equal(JSON.stringify(outputs.rotations[0]), JSON.stringify(rotations[0]));
      assert.deepEqual(outputs.rotations, rotations);
    });

    it("stops none of those that it does not reset", async () => {
      fake.answer = unconfirmed;
      let saved: PasswordRotationShardOutputs | undefined;
      for (const ids of ["a", "a", "ab"]) saved = await up(inputsFor(ids, { version: 1 }), saved);
      const sent = fake.resets.length;
      fake.canRead = false;
      const limits = { maxFailures: 1, concurrency: 1 };
      const next = await up(inputsFor("abc", { version: 1, initialRotation: false, ...limits }), saved);
      assert.deepEqual(fake.resets.slice(sent), ["b"]);
      assert.deepEqual(summary(next), { a: "unknown 0", b: "unknown 0", c: "adopted 0" });
      assert.match(problemsOf(next)["a"] ?? "", /no reset was sent: .*\[REKEY_REPEATEDLY_UNCONFIRMED\]$/);
    });

    it("stops those whose reset becomes due by a read of an unconfirmed one", async () => {
      fake.answer = unconfirmed;
      const inputs = inputsFor("ab", { version: 1, rotateEvery: "P7D" });
      let saved: PasswordRotationShardOutputs | undefined;
      for (let attempt = 1; attempt <= 3; attempt++) saved = await up(inputs, saved);
      assert.deepEqual(summary(saved!), { a: "unknown 0", b: "unknown 0" });
      fake.time = new Date(fake.time.getTime() + 8 * 86_400_000);
      for (const id of "ab") shown[id] = show(id, "applied");
      fake.answer = rejected;
      const sent = fake.resets.length;
      const stopped = await up({ ...inputs, maxFailures: 1, concurrency: 1 }, saved);
      assert.deepEqual([fake.resets.slice(sent), notTriedOf(stopped)], [["a"], "b"]);
      assert.deepEqual(summary(stopped), { a: "reset 1", b: "unknown 0" });
    });

    it("changes while a password is still to be read", async () => {
      fake.answer = () => ({ record: {} });
      const inputs = inputsFor("ab", { version: 1 });
      const saved = await up(inputs);
      assert.equal(diffOf(saved, inputs).changes, true);
      for (const id of "ab") shown[id] = show(id, "new");
      const read = await up(inputs, saved);
      assert.deepEqual([passwordsOf(read), fake.resets.length], [{ a: "new", b: "new" }, 2]);
      assert.equal(diffOf(read, inputs).changes, false);
    });
  });

  it("resets exactly what single resources would, as every diff reports", async () => {
    const result = fc.constantFrom("ok", "ok", "unconfirmed", "rejected");
    const step = fc.record({
      version: fc.option(fc.integer({ min: 1, max: 2 })),
      ownVersion: fc.option(fc.integer({ min: 1, max: 2 })),
      rotateEvery: fc.constantFrom(null, "1d", "P1M"),
      days: fc.integer({ min: 0, max: 40 }),
      results: fc.record({ a: result, b: result, c: result }),
    });
    const steps = fc.array(step, { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(fc.boolean(), steps, async (initialRotation, steps) => {
      const [ours, theirs] = [new FakeRun(), new FakeRun()];
      let saved: PasswordRotationShardOutputs | undefined;
      const singles = new Map<string, PasswordRotationOutputs>();
      for (const { version, ownVersion, rotateEvery, days, results } of steps) {
        for (const one of [ours, theirs]) {
          one.time = new Date(one.time.getTime() + days * 86_400_000);
          one.answer = (id) => {
            const result = results[id as keyof typeof results];
            return result === "ok" ? { record: {} } : result === "rejected" ? rejected() : unconfirmed();
          };
        }
        const databases = [{ databaseId: "a", version: ownVersion }, { databaseId: "b" }, { databaseId: "c" }];
        const inputs = { ...inputsFor(""), databases, version, rotateEvery, initialRotation };
        const before = { saved, sent: ours.resets.length };
        const isPlanned = saved ? diff(saved, inputs, ours.start()).changes : true;
        saved = await up(inputs, saved, ours.start());
        if (!isPlanned) assert.deepEqual({ saved, sent: ours.resets.length }, before);
        for (const { databaseId, ...own } of databases) {
          const desired = { databaseId, ...combineTriggers({ version }, own), rotateEvery, initialRotation };
          const result = await passwordRotation
            .apply(singles.get(databaseId), desired, theirs.start())
            .catch(() => undefined);
          if (result) singles.set(databaseId, result.outputs);
        }
        assert.deepEqual([...ours.resets].sort(), [...theirs.resets].sort());
        for (const [id, one] of singles) {
          const state = decodeShard(saved).get(id);
          for (const key of ["outcome", "rotationCount", "unconfirmedResets"] as const) {
            assert.equal(state?.[key], one[key]);
          }
        }
      }
    });
    await fc.assert(property);
  });
});
