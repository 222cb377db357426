import assert from "node:assert/strict";
import { unknownNames } from "../../../provider/records/properties";
import { passwordRotationShard } from "../../../provider/rotation/passwordRotationShard";
import { type PasswordRotationShardInputs } from "../../../provider/rotation/shardPlan";
import { decodeShard, type PasswordRotationShardOutputs } from "../../../provider/rotation/shardState";
import { asShown, FakeRun, unconfirmed } from "../../support/fakeRun";
import { unknown } from "../../support/wire";

const { apply, diff, noticeOfNew, noticeOfUnknown } = asShown(passwordRotationShard);

const fleet = "urn:pulumi:dev::program::rekey:index:PasswordRotationFleet::caches";
const of = 'PasswordRotationFleet "caches"';
const keeps = "`initialRotation: false` keeps their passwords.";

/** Inputs for databases that are named by one letter each. */
function inputsFor(ids: string, more: Partial<PasswordRotationShardInputs> = {}): PasswordRotationShardInputs {
  return { shard: "07", fleet, databases: [...ids], ...more };
}

describe("rotation: what a fleet announces", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (inputs: PasswordRotationShardInputs, saved?: PasswordRotationShardOutputs) =>
    (await apply(saved, inputs, fake.start())).outputs;
  const diffOf = (saved: PasswordRotationShardOutputs, inputs: PasswordRotationShardInputs) =>
    diff(saved, inputs, fake.start());

  it("announces the resets of each new shard, with their number so far, but no adoption", () => {
    const run = fake.start();
    const noticeOf = (shard: string, ids: string, more: object = {}) =>
      noticeOfNew({ ...inputsFor(ids, more), shard }, unknownNames({ ...more }), run);
    assert.equal(noticeOf("01", "ab"), `${of} resets 2 for the first time: "a", "b". ${keeps}`);
    assert.equal(
      noticeOf("02", "c", { version: unknown }),
      `${of} resets 1 for the first time: "c". ${keeps} So far, it resets 3 databases.`,
    );
    const since = { rotatedSince: "2026-11-01" };
    assert.equal(noticeOf("02", "c", since), `${of} resets 1 for the first time: "c". So far, it resets 3 databases.`);
    assert.equal(noticeOf("03", "d", { initialRotation: false }), undefined);
    assert.match(noticeOf("03", "d", { initialRotation: false, ...since }) ?? "", / adopts 1, and may reset them: /);
    assert.match(noticeOf("04", "e") ?? "", / So far, it resets 4 databases\.$/);
    const unsure = noticeOf("03", "d", { initialRotation: unknown });
    assert.equal(unsure, `${of} may reset new databases: initialRotation is not known yet.`);
  });

  it("names five databases per reason, and counts the others", async () => {
    const noticeOf = async (ids: string) =>
      diffOf(await up(inputsFor(ids, { version: 1 })), inputsFor(ids, { version: 2 })).notice ?? "";
    assert.match(await noticeOf("abcde"), / resets 5 .*: "a", "b", "c", "d", "e"\.$/);
    assert.match(await noticeOf("abcdefg"), / resets 7 .*: "a", "b", "c", "d", "e" and 2 more\.$/);
  });

  it("refuses to lose all databases of a fleet that has some, which a list of the platform may do", async () => {
    const saved = await up(inputsFor("ab", { version: 1 }));
    assert.throws(
      () => diffOf(saved, inputsFor("")),
      /databases is empty, but .* "caches" has some.* remove the fleet/s,
    );
    const empty = await up(inputsFor(""));
    assert.deepEqual(diffOf(empty, inputsFor("")), { changes: false });
    assert.equal(diffOf(saved, inputsFor("a", { version: 1 })).changes, true);
  });

  it("reports how late the oldest scheduled rotation is, with its reason", async () => {
    const daily = { version: 1, rotateEvery: "10d" };
    const saved = await up(inputsFor("a", daily));
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    const both = await up(inputsFor("ab", daily), saved);
    fake.time = new Date("2026-12-04T12:00:00.000Z");
    const { notice } = diffOf(both, inputsFor("abc", daily));
    assert.deepEqual(notice?.split("\n"), [
      `${of} resets 2 that are due by rotateEvery: "a", "b". The oldest rotation is 3 days late.`,
      `${of} resets 1 for the first time: "c". ${keeps}`,
    ]);
  });

  it("warns of the databases whose saved state is of another account", async () => {
    fake.account = "1:first";
    const inputs = inputsFor("abc", { version: 1 });
    const saved = await up(inputs);
    fake.account = "1:second";
    const one = inputsFor("", { version: 1, databases: ["a", "b", { databaseId: "c", version: 2 }] });
    const { changes, warning } = diffOf(saved, one);
    assert.equal(changes, true);
    const start = `${of}: 2 last reset or adopted with another baseUrl or username, and not reset now: "a", "b".`;
    assert.ok(warning?.startsWith(start), warning);
    const next = await up(one, saved);
    const accounts = Object.fromEntries([...decodeShard(next)].map(([id, { account }]) => [id, account]));
    assert.deepEqual(accounts, { a: "1:first", b: "1:first", c: "1:second" });
    assert.ok(!JSON.stringify(next.rotations).includes("1:"), "the marks are among the secrets");
    fake.account = "1:first";
    assert.deepEqual(diffOf(saved, inputs), { changes: false });
  });

  it("counts the databases of all shards so far that are to be reset, each shard once", async () => {
    const shards = [
      { shard: "03", ids: "abc" },
      { shard: "07", ids: "de" },
    ];
    const saved = await Promise.all(shards.map(({ shard, ids }) => up(inputsFor(ids, { shard, version: 1 }))));
    const run = fake.start();
    const noticeOf = (nth: number, more: Partial<PasswordRotationShardInputs> = {}) => {
      const { shard, ids } = shards[nth] ?? assert.fail();
      return diff(saved[nth] ?? assert.fail(), inputsFor(ids, { shard, version: 2, ...more }), run).notice ?? "";
    };
    assert.match(noticeOf(0), / resets 3 because of [^:]*: "a", "b", "c"\.$/);
    for (let time = 0; time < 2; time++) {
      assert.match(noticeOf(1), / resets 2 .*: "d", "e"\. So far, it resets 5 databases\.$/);
    }
    assert.match(noticeOf(1, { fleet: `${fleet}2` }), /"d", "e"\.$/, "another fleet");
  });

  it("names the databases whose reset depends on unknown inputs apart from the others", async () => {
    const saved = await up(inputsFor("abc", { version: 1 }));
    const noticeOf = (inputs: PasswordRotationShardInputs) =>
      noticeOfUnknown(saved, inputs, unknownNames({ ...inputs }), fake.start());
    assert.equal(noticeOf(inputsFor("abc", { version: 1, rotateEvery: unknown })), undefined, "due in a second");
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    const all = '("a", "b", "c")';
    for (const [inputs, expected] of [
      [{ version: unknown }, `may reset 3 databases: version is not known yet ${all}.`],
      [{ version: 1, rotateEvery: unknown }, `may reset 3 databases: rotateEvery is not known yet ${all}.`],
    ] as const) {
      assert.equal(noticeOf(inputsFor("abc", inputs)), `${of} ${expected}`);
    }
    const triggers = { image: unknown };
    const databases = [
      { databaseId: "a", triggers },
      "b",
      { databaseId: "c", version: 7 },
      { databaseId: "d", triggers },
    ];
    assert.deepEqual(noticeOf(inputsFor("", { version: 1, databases }))?.split("\n"), [
      `${of} resets 1 because of a changed version or trigger: "c".`,
      `${of} resets 1 for the first time: "d". ${keeps}`,
      `${of} may reset 1 database: triggers is not known yet ("a").`,
    ]);
    assert.equal(noticeOf(inputsFor("abc", { version: 1, databases: ["a"], triggers: {} })), undefined);
  });

  it("announces what it adopts or reads", async () => {
    fake.canRead = true;
    fake.readDatabase = () => ({ credentials: { password: "former" } });
    fake.answer = () => ({ record: {} });
    const saved = await up(inputsFor("a", { version: 1 }));
    assert.deepEqual(diffOf(saved, inputsFor("ab", { version: 1, initialRotation: false })), {
      changes: true,
      notice: `${of} reads 1, because some of their credentials are not known yet: "a".\n${of} adopts 1 without a reset: "b".`,
    });
  });

  it("announces what a read may settle", async () => {
    fake.canRead = true;
    fake.readDatabase = () => ({ credentials: { password: "former" } });
    fake.answer = unconfirmed;
    let saved: PasswordRotationShardOutputs | undefined;
    for (const ids of ["a", "a", "ab"]) saved = await up(inputsFor(ids, { version: 1 }), saved);
    const both = saved ?? assert.fail();
    const announced = () => diffOf(both, inputsFor("ab", { version: 1 })).notice?.split("\n");
    const refused = `${of} does not reset 1, because the platform did not confirm the last 3 resets. Check the status of the platform, then set a new version to try again`;
    const again = `${of} resets 1 once more, because the last reset was not confirmed`;
    assert.deepEqual(announced(), [
      `${refused}, unless a read shows that the last reset was applied: "a".`,
      `${again}, unless a read shows that it was applied: "b".`,
    ]);
    fake.canRead = false;
    assert.deepEqual(announced(), [`${refused}: "a".`, `${again}: "b".`]);
  });
});
