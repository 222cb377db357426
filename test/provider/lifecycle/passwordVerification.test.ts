import assert from "node:assert/strict";
import { type Credential, type ProbeRequest } from "../../../provider/api/databaseProbe";
import { NotSentError, StateError, VerificationError } from "../../../provider/api/errors";
import { apply, check, diff, type VerificationTarget } from "../../../provider/lifecycle/passwordVerification";
import { type PasswordVerificationOutputs } from "../../../provider/lifecycle/resource";
import { leaksOf } from "../../support/canaries";
import { FakeRun } from "../../support/fakeRun";

const endpoint = { host: "db.example.com", port: 6379, tls: true };
const withPassword = (password: string, rotatedAt: string, databaseId = "db"): VerificationTarget => {
  return { databaseId, name: `name of ${databaseId}`, rotatedAt, access: { ...endpoint, credential: { password } } };
};
const withoutCredential = (rotatedAt?: string, databaseId = "db"): VerificationTarget => {
  return { databaseId, name: `name of ${databaseId}`, rotatedAt };
};
const first = withPassword("canary-password-1", "t1");
const second = withPassword("canary-password-2", "t2");
const third = withPassword("canary-password-3", "t3");
const canaries = { first: "canary-password-1", second: "canary-password-2", third: "canary-password-3" };

const inputs = (targets: readonly VerificationTarget[], withinSeconds?: number) => {
  return { subject: "db", targets: JSON.stringify(targets), ...(withinSeconds !== undefined && { withinSeconds }) };
};
const passwordOf = (credential: Credential) => ("password" in credential ? credential.password : credential.restToken);

describe("lifecycle: PasswordVerification", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs) =>
    (await apply(saved, inputs(targets), fake.start())).outputs;
  const failure = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs, seconds = 30) => {
    const result = await apply(saved, inputs(targets, seconds), fake.start()).catch((error: unknown) => error);
    assert.ok(result instanceof VerificationError, JSON.stringify(result));
    assert.deepEqual(leaksOf(result.message, canaries), []);
    assert.match(result.message, /rotation itself is saved\. The next `up` verifies again, and resets nothing/);
    return result.message;
  };
  const tried = () => fake.probes.splice(0).map(({ credential }) => passwordOf(credential));
  /** A database with this password. */
  const accepting =
    (current: string) =>
    ({ credential }: ProbeRequest) =>
      passwordOf(credential) === current
        ? ({ is: "accepted" } as const)
        : ({ is: "refused", words: "WRONGPASS no" } as const);

  it("tries the new password, and then the former one from its own state", async () => {
    fake.probe = accepting("canary-password-1");
    const { targets, ...created } = await up([first]);
    assert.deepEqual(created, { subject: "db", verified: true, verifiedAt: "2026-11-21T12:00:00.000Z" });
    assert.deepEqual(tried(), ["canary-password-1"]);
    fake.probe = accepting("canary-password-2");
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    const { targets: next, ...updated } = await up([second], { ...created, targets });
    const verifiedAt = "2026-11-22T12:00:00.000Z";
    assert.deepEqual(updated, { subject: "db", verified: true, verifiedAt, formerRefused: true });
    assert.deepEqual(tried(), ["canary-password-2", "canary-password-1"]);
    assert.ok(!next.includes("canary-password-1"), "the former password is no longer needed");
    assert.deepEqual(fake.waits, []);
  });

  it("changes only if a credential or the time of the rotation does", async () => {
    const saved = await up([first]);
    const changesWith = (...targets: VerificationTarget[]) => diff(saved, inputs(targets));
    const elsewhere = { ...first, name: "other", access: { ...first.access!, host: "other", port: 1, tls: false } };
    assert.deepEqual(changesWith(first), { changes: false });
    assert.deepEqual(changesWith(elsewhere), { changes: false });
    assert.deepEqual(diff(saved, inputs([first], 5)), { changes: false });
    const asUser = {
      ...first,
      access: { ...endpoint, credential: { username: "ops", password: "canary-password-1" } },
    };
    for (const changed of [second, { ...first, rotatedAt: "t2" }, withoutCredential("t1"), asUser]) {
      assert.deepEqual(changesWith(changed), { changes: true }, JSON.stringify(changed));
    }
    assert.deepEqual(changesWith(), { changes: true });
    assert.deepEqual(changesWith(first, withPassword("x", "t1", "other")), { changes: true });
    assert.deepEqual(diff(saved, { ...inputs([first]), subject: "other" }), { changes: true, replaces: ["subject"] });
  });

  it("repeats until the platform has applied the reset, more slowly each time", async () => {
    const saved = await up([first]);
    tried();
    fake.probe = (request) => accepting(fake.elapsedMs < 5_000 ? "canary-password-1" : "canary-password-2")(request);
    assert.equal((await up([second], saved)).formerRefused, true);
    assert.deepEqual(fake.waits, [200, 400, 800, 1_600, 2_000]);
    assert.deepEqual(tried().slice(-2), ["canary-password-2", "canary-password-1"]);
  });

  it("fails after withinSeconds, keeps the former state, and verifies again in the next run", async () => {
    fake.probe = accepting("canary-password-1");
    const saved = await up([first]);
    assert.match(await failure([second], saved, 3), /"db" is not verified: the new password is refused: WRONGPASS no/);
    assert.equal(fake.elapsedMs, 3_000, "the last attempt is at the end");
    assert.deepEqual(diff(saved, inputs([second])), { changes: true });
    fake.probe = accepting("canary-password-2");
    assert.equal((await up([second], saved)).formerRefused, true);
    assert.deepEqual(fake.resets, []);
  });

  it("fails if the former password is still accepted", async () => {
    const saved = await up([first]);
    assert.match(await failure([second], saved), /former password is still accepted.*whether the reset was applied/s);
  });

  it("fails at once if the platform returned the former password again", async () => {
    const saved = await up([first]);
    tried();
    const message = await failure([{ ...first, rotatedAt: "t2" }], saved);
    assert.match(message, /former password is still accepted: the platform returned it as the new one/);
    assert.deepEqual([tried(), fake.waits], [[], []]);
  });

  it("reports what is unknown of the new password and of the former one", async () => {
    const saved = await up([first]);
    fake.probe = () => ({ is: "unknown", why: "the host was not found" });
    assert.match(
      await failure([second], saved),
      /could not be tried: the host was not found.*rediss:\/\/db\.example\.com:6379.*Check host/s,
    );
    fake.probe = ({ credential }) =>
      passwordOf(credential) === "canary-password-2" ? { is: "accepted" } : { is: "unknown", why: "it is busy" };
    assert.match(
      await failure([second], saved),
      /new password is accepted, but the former one could not be tried: it is busy/,
    );
  });

  it("verifies nothing without a credential, and remembers the former one for the next rotation", async () => {
    const saved = await up([first]);
    tried();
    const { outputs, notice } = await apply(saved, inputs([withoutCredential("t2")]), fake.start());
    assert.match(notice ?? "", /Not verified, because no current credential is known: "name of db"\./);
    assert.deepEqual([outputs.verified, outputs.formerRefused, tried()], [false, undefined, []]);
    assert.deepEqual(diff(outputs, inputs([withoutCredential("t2")])), { changes: false });
    const again = await up([withoutCredential("t3")], outputs);
    fake.probe = accepting("canary-password-2");
    assert.equal((await up([{ ...second, rotatedAt: "t4" }], again)).formerRefused, true);
    assert.deepEqual(tried(), ["canary-password-2", "canary-password-1"]);
  });

  it("tries a password as the user it belonged to, and none that is still in use", async () => {
    const asUser = (username: string, { access, ...target }: VerificationTarget): VerificationTarget => {
      return { ...target, access: { ...endpoint, credential: { username, password: passwordOf(access!.credential) } } };
    };
    const saved = await up([asUser("old", first)]);
    fake.probes.length = 0;
    const renamed = await up([asUser("new", first)], saved);
    assert.deepEqual(
      fake.probes.map(({ credential }) => credential),
      [{ username: "new", password: "canary-password-1" }],
    );
    fake.probes.length = 0;
    fake.probe = accepting("canary-password-2");
    await up([asUser("newer", second)], renamed);
    const users = fake.probes.map(({ credential }) => ("username" in credential ? credential.username : undefined));
    assert.deepEqual(users, ["newer", "new"]);
  });

  it("does not compare a token with a password", async () => {
    const saved = await up([{ ...first, access: { ...endpoint, credential: { restToken: "canary-password-1" } } }]);
    assert.equal((await up([second], saved)).formerRefused, undefined);
  });

  it("stops when the engine is gone", async () => {
    const facts = {
      purpose: "verify",
      method: "AUTH",
      url: "x",
      consequences: { "not sent": "", rejected: "", "maybe applied": "" },
    };
    const gone = new NotSentError(facts, "the engine has ended", "Run again.", undefined, "REKEY_ENGINE_GONE");
    let probes = 0;
    fake.probe = () => {
      if (++probes > 1) throw gone;
      return { is: "unknown", why: "it is busy" };
    };
    await assert.rejects(apply(undefined, inputs([first]), fake.start()), gone);
    assert.equal(probes, 2);
  });

  it("refuses a damaged state", async () => {
    const saved = await up([first]);
    for (const targets of ["", "{}", "[1]", JSON.stringify([{ databaseId: "a" }, { databaseId: "a" }])]) {
      assert.throws(() => diff({ ...saved, targets }, inputs([first])), StateError);
    }
  });

  it("checks its inputs", () => {
    const reasons = (more: object, unknown = new Set<string>()) =>
      check({ ...inputs([first]), ...more }, unknown).map(({ reason }) => reason);
    assert.deepEqual(reasons({ withinSeconds: 0.5 }), []);
    for (const withinSeconds of [0, -1, NaN, "30", {}]) {
      assert.match(reasons({ withinSeconds }).join(), /^withinSeconds must/);
    }
    assert.match(reasons({ within: 1 }).join(), /within is not an input/);
    assert.deepEqual(reasons({ withinSeconds: "unknown" }, new Set(["withinSeconds"])), []);
  });

  describe("of a fleet", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `db-${String(index).padStart(3, "0")}`);
    const fleet = (version: number) => ids.map((id) => withPassword(`canary-${version}-of-${id}`, `t${version}`, id));

    it("contacts only the databases that were rotated since", async () => {
      const saved = await up(fleet(1));
      assert.deepEqual(new Set(tried()), new Set(fleet(1).map(({ access }) => passwordOf(access!.credential))));
      const changed = fleet(1).map((target, index) => (index === 7 ? fleet(2)[7]! : target));
      fake.probe = accepting("canary-2-of-db-007");
      const next = await up(changed, saved);
      assert.deepEqual(tried(), ["canary-2-of-db-007", "canary-1-of-db-007"]);
      assert.deepEqual(diff(next, inputs(changed)), { changes: false });
      const fewer = await up(changed.slice(0, 10), next);
      assert.deepEqual([tried(), (JSON.parse(fewer.targets) as unknown[]).length], [[], 10]);
    });

    it("names the databases that failed, and gives each at least one attempt", async () => {
      const bad = new Set(ids.filter((_, index) => index % 4 === 0));
      let running = 0;
      let most = 0;
      fake.probe = ({ databaseId }) => {
        fake.elapsedMs += 100;
        most = Math.max(most, ++running);
        running--;
        return bad.has(databaseId) ? { is: "unknown", why: "it is busy" } : { is: "accepted" };
      };
      const message = await failure(fleet(1), undefined, 1);
      assert.match(message, /of 50 of 200 databases are not verified:\n {2}name of db-000: .*it is busy/);
      assert.match(message, /\n {2}and 30 more\n/);
      assert.equal(new Set(fake.probes.map(({ databaseId }) => databaseId)).size, 200);
    });

    it("keeps what it knows of databases without a credential", async () => {
      const saved = await up([first, withPassword("canary-of-other", "t1", "other")]);
      tried();
      const { outputs, notice } = await apply(saved, inputs([first, withoutCredential("t1", "other")]), fake.start());
      assert.match(notice ?? "", /"name of other"/);
      assert.deepEqual([outputs.verified, outputs.verifiedAt, tried()], [false, saved.verifiedAt, []]);
      fake.probe = ({ credential }) =>
        ["canary-password-1", "canary-of-other"].includes(passwordOf(credential))
          ? { is: "refused", words: "" }
          : { is: "accepted" };
      const next = await up([third, withPassword("canary-new", "t2", "other")], outputs);
      assert.deepEqual([next.verified, next.formerRefused], [true, true]);
    });
  });
});
