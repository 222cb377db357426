import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type FleetDatabaseSecrets,
  type PasswordRotationOutputs,
  type PasswordRotationShardOutputs,
} from "../../../provider/lifecycle/resource";
import * as single from "../../../provider/lifecycle/passwordRotation";
import {
  apply,
  check,
  diff,
  type PasswordRotationShardInputs,
} from "../../../provider/lifecycle/passwordRotationShard";
import { openShard } from "../../../provider/lifecycle/shardState";
import { combineTriggers } from "../../../provider/rotation/fleets";
import { FakeRun, notSent, rejected, unconfirmed } from "../../support/fakeRun";

const fleet = "urn:pulumi:dev::program::rekey:index:PasswordRotationFleet::caches";

function inputsFor(ids: string, more: Partial<PasswordRotationShardInputs> = {}): PasswordRotationShardInputs {
  return { shard: "07", fleet, databases: [...ids].map((databaseId) => ({ databaseId })), ...more };
}

describe("lifecycle: PasswordRotationShard", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (inputs: PasswordRotationShardInputs, saved?: PasswordRotationShardOutputs, run = fake.start()) =>
    (await apply(saved, inputs, run)).outputs;
  const problemsOf = ({ rotations }: PasswordRotationShardOutputs) =>
    Object.fromEntries(rotations.flatMap(({ databaseId, problem }) => (problem ? [[databaseId, problem]] : [])));

  it("resets each, and saves what came of it, what is secret apart from the rest", async () => {
    const outputs = await up(inputsFor("ab", { version: 1 }));
    const rotation = { outcome: "reset", rotatedAt: "2026-11-21T12:00:00.000Z", rotationCount: 1 };
    assert.deepEqual(outputs.rotations, [
      { databaseId: "a", ...rotation },
      { databaseId: "b", ...rotation },
    ]);
    const secrets = JSON.parse(outputs.secrets) as FleetDatabaseSecrets[];
    assert.deepEqual(
      secrets.map(({ databaseId, password }) => [databaseId, password]),
      [
        ["a", "password-1"],
        ["b", "password-2"],
      ],
    );
    for (const { appliedTrigger } of secrets) assert.match(appliedTrigger ?? "", /^1:/);
    assert.equal(outputs.shard, "07");
  });

  it("saves records on request alone", async () => {
    const inputs = inputsFor("a", { version: 1 });
    const without = await up(inputs);
    assert.equal(without.rotations[0]?.record, undefined);
    const more = { ...inputs, includeRecords: true };
    assert.deepEqual(diff(without, more, fake.start()), { changes: false }, "they come with the next reset");
    const having = await up({ ...more, version: 2 }, without);
    assert.deepEqual(having.rotations[0]?.record, { databaseId: "a", port: 2 });
  });

  it("is not changed by its limits", async () => {
    const inputs = inputsFor("ab", { version: 1 });
    const saved = await up(inputs);
    for (const limits of [{ concurrency: 1 }, { maxFailures: 1 }]) {
      assert.deepEqual(diff(saved, { ...inputs, ...limits }, fake.start()), { changes: false });
      assert.deepEqual(await up({ ...inputs, ...limits }, saved), saved);
    }
    assert.equal(fake.resets.length, 2);
  });

  it("names five for one reason, and counts the others", async () => {
    const saved = await up(inputsFor("abcdefg", { version: 1 }));
    const { notice } = diff(saved, inputsFor("abcdefg", { version: 2 }), fake.start());
    assert.match(notice ?? "", /: 7 to be reset because of .*: "a", "b", "c", "d", "e" and 2 more\.$/);
  });

  it("rotates, adds and removes single ones, and says which", async () => {
    const saved = await up(inputsFor("ab", { version: 1 }));
    const wanted = {
      ...inputsFor("bc", { version: 1 }),
      databases: [{ databaseId: "b", version: 7 }, { databaseId: "c" }],
    };
    const { changes, notice } = diff(saved, wanted, fake.start());
    const of = 'PasswordRotationFleet "caches", shard 07, 2 in all';
    assert.equal(changes, true);
    assert.deepEqual(notice?.split("\n"), [
      `${of}: 1 to be reset because of a changed version or trigger: "b".`,
      `${of}: 1 to be reset for the first time: "c".`,
    ]);
    const next = await up(wanted, saved);
    assert.deepEqual(fake.resets, ["a", "b", "b", "c"]);
    assert.deepEqual([...openShard(next).keys()], ["b", "c"]);
    assert.equal(diff(next, wanted, fake.start()).changes, false);
    assert.equal(diff(next, inputsFor("b", { version: 1 }), fake.start()).changes, true, "removing is an update");
  });

  it("saves what failed with what was known before, and takes up that alone", async () => {
    const first = await up(inputsFor("abcd", { version: 1 }));
    fake.answer = (id) => ({ a: rejected(), b: notSent(), c: unconfirmed() })[id] ?? { record: { port: 1 } };
    const wanted = inputsFor("abcd", { version: 2 });
    const { outputs, notice } = await apply(first, wanted, fake.start());
    assert.equal(notice, undefined);
    assert.deepEqual(Object.keys(problemsOf(outputs)), ["a", "b", "c"]);
    assert.match(problemsOf(outputs)["a"] ?? "", /Unchanged/);
    assert.deepEqual(
      outputs.rotations.map(({ outcome, rotationCount }) => [outcome, rotationCount]),
      [
        ["reset", 1],
        ["reset", 1],
        ["unknown", 1],
        ["reset", 2],
      ],
    );
    assert.equal(openShard(outputs).get("a")?.password, openShard(first).get("a")?.password);
    assert.equal(diff(outputs, wanted, fake.start()).changes, true);
    fake.answer = () => ({ record: { port: 1 } });
    const sent = fake.resets.length;
    const mended = await up(wanted, outputs);
    assert.deepEqual([fake.resets.slice(sent), problemsOf(mended)], [["a", "b", "c"], {}]);
    assert.equal(diff(mended, wanted, fake.start()).changes, false);
  });

  it("takes back, unsent, the problem of what is no longer wanted", async () => {
    const first = await up(inputsFor("a", { version: 1 }));
    fake.answer = rejected;
    const failed = await up(inputsFor("a", { version: 2 }), first);
    assert.equal(diff(failed, inputsFor("a", { version: 1 }), fake.start()).changes, true);
    assert.deepEqual(await up(inputsFor("a", { version: 1 }), failed), first);
    assert.equal(fake.resets.length, 2);
  });

  it("takes a database that was never reset for a new one", async () => {
    fake.answer = rejected;
    const failed = await up(inputsFor("a"));
    assert.deepEqual([failed.rotations[0]?.outcome, failed.rotations[0]?.rotationCount], ["pending", 0]);
    const adopted = await up(inputsFor("a", { initialRotation: false }), failed);
    assert.equal(adopted.rotations[0]?.outcome, "adopted");
    assert.equal(fake.resets.length, 1);
  });

  it("stops after maxFailures over all shards, and says what was not tried", async () => {
    fake.answer = rejected;
    const run = fake.start();
    const limits = { maxFailures: 3, concurrency: 1 };
    const [one, two] = await Promise.all([
      up(inputsFor("abcde", limits), undefined, run),
      up(inputsFor("xyz", { ...limits, shard: "08" }), undefined, run),
    ]);
    assert.deepEqual(fake.resets, ["a", "b", "c"]);
    const notTried = [...one.rotations, ...two.rotations].filter((state) => state.notTried);
    assert.deepEqual(
      notTried.map(({ databaseId }) => databaseId),
      [..."dexyz"],
    );
    for (const { problem } of notTried) {
      assert.match(problem ?? "", /^Not tried, so that its password is as it was: .*maxFailures/);
    }
    fake.answer = () => ({ record: { port: 1 } });
    assert.deepEqual(problemsOf(await up(inputsFor("abcde", limits), one)), {});
  });

  it("finishes, after maxFailures, those that were already begun", async () => {
    fake.answer = (id) => (id === "a" ? rejected() : { record: { port: 1 } });
    const { rotations } = await up(inputsFor("abcd", { maxFailures: 1, concurrency: 2 }));
    assert.deepEqual(
      rotations.map(({ outcome, notTried = false }) => [outcome, notTried]),
      [
        ["pending", false],
        ["reset", false],
        ["pending", true],
        ["pending", true],
      ],
    );
    assert.deepEqual(fake.resets, ["a", "b"]);
  });

  it("counts no refusal of its own as a failure of the platform", async () => {
    fake.maxResets = 1;
    const outputs = await up(inputsFor("abc", { maxFailures: 1 }));
    assert.deepEqual(fake.resets, ["a"]);
    for (const problem of Object.values(problemsOf(outputs))) assert.match(problem, /rekey:maxResetsPerRun/);
    assert.equal(outputs.rotations.filter((state) => state.notTried).length, 0);
  });

  it("says how far it is when there is time for it", async () => {
    fake.answer = (id) => {
      fake.time = new Date(fake.time.getTime() + 2_000);
      return id === "b" ? rejected() : { record: { port: 1 } };
    };
    await up(inputsFor("abcdefg", { concurrency: 1 }));
    assert.deepEqual(fake.said, [
      'PasswordRotationFleet "caches": 3 of 7 tried, 1 failed.',
      'PasswordRotationFleet "caches": 6 of 7 tried, 1 failed.',
    ]);
  });

  it("refuses a damaged state, unsent", async () => {
    const saved = await up(inputsFor("ab"));
    const damaged: readonly object[] = [
      { ...saved, rotations: undefined },
      { ...saved, rotations: [...saved.rotations, saved.rotations[0]] },
      { ...saved, rotations: [null] },
      { ...saved, secrets: "[secret]" },
      { ...saved, secrets: "{}" },
      { ...saved, secrets: undefined },
    ];
    for (const one of damaged as PasswordRotationShardOutputs[]) {
      assert.throws(() => diff(one, inputsFor("ab"), fake.start()), /state is damaged/);
      await assert.rejects(up(inputsFor("ab"), one), /state is damaged/);
    }
    const lost = await up(inputsFor("ab", { version: 1 }), { ...saved, secrets: "[]" });
    assert.match(problemsOf(lost)["a"] ?? "", /saved output appliedTrigger/);
    assert.equal(fake.resets.length, 2);
  });

  it("checks its inputs by name, and who else wants its databases", () => {
    const run = fake.start();
    const reasons = (inputs: object, unknown: string[] = []) =>
      check({ ...inputsFor("a"), owner: "me", ...inputs }, new Set(unknown), run).map(({ reason }) => reason);
    const bad: readonly (readonly [object, RegExp])[] = [
      [{ databases: "a" }, /^databases must be a list of databases, not a string$/],
      [{ databases: [7] }, /^databases must hold databases, but one is a number$/],
      [{ databases: [{ databaseId: ".." }] }, /^databases cannot be used: of "..", databaseId must not be ".."/],
      [{ databases: [{ databaseId: "a", version: true }] }, /of "a", version must be a string or a number/],
      [{ databases: [{ databaseId: "a", verison: 1 }] }, /of "a", verison is not an input/],
      [{ concurrency: 0 }, /^concurrency must be a whole number, at least 1$/],
      [{ maxFailures: 1.5 }, /^maxFailures must be a whole number/],
      [{ includeRecords: "yes" }, /^includeRecords must be true or false/],
      [{ rotateEvery: "soon" }, /^rotateEvery cannot be used/],
      [{ otherOwners: { a: ["them"] } }, /^database "a" is already rotated by them/],
    ];
    for (const [inputs, reason] of bad) assert.match(reasons(inputs).join(), reason);
    assert.deepEqual(reasons({}), []);
    assert.match(reasons({ owner: "other" }, ["databases"]).join(), /already rotated by me/);
  });

  it("resets exactly what single resources would, and no diff disagrees", async () => {
    const step = fc.record({
      version: fc.option(fc.integer({ min: 1, max: 2 })),
      ownVersion: fc.option(fc.integer({ min: 1, max: 2 })),
      rotateEvery: fc.constantFrom(null, "1d", "P1M"),
      days: fc.integer({ min: 0, max: 40 }),
      answers: fc.array(fc.constantFrom("ok", "ok", "unconfirmed", "rejected"), { minLength: 3, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 8 }), async (initialRotation, steps) => {
        const [ours, theirs] = [new FakeRun(), new FakeRun()];
        const ids = ["a", "b", "c"];
        let saved: PasswordRotationShardOutputs | undefined;
        const singles = new Map<string, PasswordRotationOutputs>();
        for (const { version, ownVersion, rotateEvery, days, answers } of steps) {
          for (const one of [ours, theirs]) {
            one.time = new Date(one.time.getTime() + days * 86_400_000);
            one.answer = (id) => {
              const answer = answers[ids.indexOf(id)];
              return answer === "ok" ? { record: {} } : answer === "rejected" ? rejected() : unconfirmed();
            };
          }
          const databases = ids.map((databaseId) =>
            databaseId === "a" ? { databaseId, version: ownVersion } : { databaseId },
          );
          const inputs = { ...inputsFor(""), databases, version, rotateEvery, initialRotation };
          const sent = ours.resets.length;
          const planned = saved ? diff(saved, inputs, ours.start()).changes : true;
          const before = saved;
          saved = await up(inputs, saved, ours.start());
          if (!planned) assert.deepEqual([saved, ours.resets.length], [before, sent]);
          for (const { databaseId, ...own } of databases) {
            const wish = { databaseId, ...combineTriggers({ version }, own), rotateEvery, initialRotation };
            const result = await single.apply(singles.get(databaseId), wish, theirs.start()).catch(() => undefined);
            if (result) singles.set(databaseId, result.outputs);
          }
          assert.deepEqual([...ours.resets].sort(), [...theirs.resets].sort());
          for (const [id, { outcome, rotationCount, unconfirmedResets }] of singles) {
            const state = openShard(saved).get(id);
            assert.deepEqual(
              [state?.outcome, state?.rotationCount, state?.unconfirmedResets],
              [outcome, rotationCount, unconfirmedResets],
            );
          }
        }
      }),
    );
  });
});
