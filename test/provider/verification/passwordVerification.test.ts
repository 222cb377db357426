import assert from "node:assert/strict";
import { type Credential, type ProbeRequest } from "../../../provider/verification/probe";
import { NotSentError, StateError, VerificationError } from "../../../provider/platform/errors";
import {
  apply,
  check,
  diff,
  type PasswordVerificationOutputs,
} from "../../../provider/verification/passwordVerification";
import { resources } from "../../../provider/engine/resources";
import { leaksOf } from "../../support/canaries";
import { secretOf } from "../../../provider/verification/attempts";
import { FakeRun, isMadeUp } from "../../support/fakeRun";
import { type VerificationTarget } from "../../../provider/verification/targets";

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
/** What was tried; a password that was made up is `wrong`. */
const shown = (credential: Credential) => (isMadeUp(secretOf(credential)) ? "wrong" : secretOf(credential));
/** A target after a number of resets. */
const afterResets = (rotationCount: number, target: VerificationTarget): VerificationTarget => {
  return { ...target, rotationCount };
};

describe("lifecycle: PasswordVerification", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs) =>
    (await apply(saved, inputs(targets), fake.start())).outputs;
  /** What a failed verification saves, and its message. */
  const fails = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs, seconds = 30) => {
    const { outputs, failed } = await apply(saved, inputs(targets, seconds), fake.start());
    assert.ok(failed instanceof VerificationError, JSON.stringify(failed));
    assert.deepEqual(leaksOf(failed.message, canaries), []);
    assert.match(failed.message, /rotation itself is saved\. The next `up` verifies again, and resets nothing/);
    assert.deepEqual(
      [outputs.verified, outputs.formerRefused, outputs.verifiedAt],
      [false, undefined, saved?.verifiedAt],
    );
    assert.deepEqual(diff(outputs, inputs(targets)), { changes: true }, "it is verified again");
    return { outputs, message: failed.message };
  };
  const failure = async (...given: Parameters<typeof fails>) => (await fails(...given)).message;
  const tried = () => fake.probes.splice(0).map(({ credential }) => shown(credential));
  /** A database with these passwords. */
  const accepting =
    (...all: string[]) =>
    ({ credential }: ProbeRequest) =>
      all.includes(secretOf(credential))
        ? ({ is: "accepted" } as const)
        : ({ is: "refused", words: "WRONGPASS no" } as const);

  it("tries the new password, and then the former one from its own state", async () => {
    fake.probe = accepting("canary-password-1");
    const { targets, ...created } = await up([first]);
    assert.deepEqual(created, { subject: "db", verified: true, verifiedAt: "2026-11-21T12:00:00.000Z" });
    assert.deepEqual(tried(), ["canary-password-1", "wrong"]);
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
      secretOf(credential) === "canary-password-2" ? { is: "accepted" } : { is: "unknown", why: "it is busy" };
    assert.match(
      await failure([second], saved),
      /new password is accepted, but a former one could not be tried: it is busy/,
    );
  });

  it("verifies nothing without a credential, and remembers the former one for the next rotation", async () => {
    const saved = await up([first]);
    tried();
    const { outputs, warning } = await apply(saved, inputs([withoutCredential("t2")]), fake.start());
    assert.match(warning ?? "", /Not verified, because no current credential is known: "name of db"\./);
    assert.deepEqual([outputs.verified, outputs.formerRefused, tried()], [false, undefined, []]);
    assert.deepEqual(diff(outputs, inputs([withoutCredential("t2")])), { changes: false });
    const again = await up([withoutCredential("t3")], outputs);
    fake.probe = accepting("canary-password-2");
    assert.equal((await up([{ ...second, rotatedAt: "t4" }], again)).formerRefused, true);
    assert.deepEqual(tried(), ["canary-password-2", "canary-password-1"]);
  });

  it("tries a password as the user it belonged to, and none that is still in use", async () => {
    const asUser = (username: string, { access, ...target }: VerificationTarget): VerificationTarget => {
      return { ...target, access: { ...endpoint, credential: { username, password: secretOf(access!.credential) } } };
    };
    const saved = await up([asUser("old", first)]);
    fake.probes.length = 0;
    const renamed = await up([asUser("new", first)], saved);
    assert.deepEqual(fake.probes.map(({ credential }) => credential)[0], {
      username: "new",
      password: "canary-password-1",
    });
    fake.probes.length = 0;
    fake.probe = accepting("canary-password-2");
    await up([asUser("newer", second)], renamed);
    const users = fake.probes.map(({ credential }) => ("username" in credential ? credential.username : undefined));
    assert.deepEqual(users, ["newer", "old", "new", "newer"], "the last one is a wrong password");
  });

  it("does not compare a token with a password", async () => {
    const saved = await up([{ ...first, access: { ...endpoint, credential: { restToken: "canary-password-1" } } }]);
    assert.equal((await up([second], saved)).formerRefused, undefined);
  });

  describe("of a database that accepts every password", () => {
    beforeEach(() => (fake.probe = () => ({ is: "accepted" })));

    it("fails without a former password", async () => {
      const message = await failure([first], undefined, 0.1);
      assert.match(message, /the database is open to everyone: it accepts any password \(rediss:.*Require a password/s);
      const wrong = fake.probes.filter(({ credential }) => isMadeUp(secretOf(credential)));
      assert.equal(
        new Set(wrong.map(({ credential }) => secretOf(credential))).size,
        wrong.length,
        "each time another",
      );
      assert.ok(wrong.length > 1);
      for (const { credential } of wrong) assert.ok(!message.includes(secretOf(credential)));
    });

    it("fails for that reason if a former password is accepted, too", async () => {
      fake.probe = accepting("canary-password-1");
      const saved = await up([first]);
      fake.probe = () => ({ is: "accepted" });
      assert.match(await failure([second], saved, 0.1), /open to everyone/);
    });

    it("tries a wrong password as the same user", async () => {
      const access = { ...endpoint, credential: { username: "ops", password: "canary-password-1" } };
      await failure([{ ...first, access }], undefined, 0.1);
      const users = fake.probes.map(({ credential }) => "username" in credential && credential.username);
      assert.deepEqual(new Set(users), new Set(["ops"]));
    });

    it("fails if only another user's former password was refused", async () => {
      const asUser = (username: string, { access, ...target }: VerificationTarget): VerificationTarget => {
        return { ...target, access: { ...endpoint, credential: { username, password: secretOf(access!.credential) } } };
      };
      fake.probe = accepting("canary-password-1");
      const saved = await up([asUser("old", first)]);
      fake.probe = ({ credential }) =>
        "username" in credential && credential.username === "old" ? { is: "refused", words: "" } : { is: "accepted" };
      assert.match(await failure([asUser("open", second)], saved), /open to everyone/);
    });

    it("reports the same of REST tokens", async () => {
      const access = { ...endpoint, port: 443, credential: { restToken: "canary-password-1" } };
      const message = await failure([{ ...first, access }], undefined, 0.1);
      assert.match(message, /it accepts any REST token \(https:\/\/db\.example\.com:443\)/);
      assert.doesNotMatch(message, /password\b/);
    });
  });

  it("reports a wrong password that could not be tried", async () => {
    fake.probe = ({ credential }) =>
      isMadeUp(secretOf(credential)) ? { is: "unknown", why: "it is busy" } : { is: "accepted" };
    assert.match(await failure([first]), /password is accepted, but a wrong one could not be tried: it is busy/);
  });

  it("names a REST token and its address", async () => {
    const token = (restToken: string, rotatedAt: string): VerificationTarget => {
      return { ...first, rotatedAt, access: { ...endpoint, port: 443, credential: { restToken } } };
    };
    fake.probe = () => ({ is: "refused", words: "401" });
    const refused = await failure([token("canary-password-1", "t1")]);
    assert.match(refused, /new REST token is refused: 401 \(https:\/\/db\.example\.com:443\).*check host and port\./s);
    assert.doesNotMatch(refused, /password|rediss|deadlineSeconds/);
    fake.probe = () => ({ is: "unknown", why: "it is late" });
    assert.match(await failure([token("canary-password-1", "t1")]), /new REST token could not be tried/);
    fake.probe = accepting("canary-password-1", "canary-password-2");
    const saved = await up([token("canary-password-1", "t1")]);
    assert.match(await failure([token("canary-password-2", "t2")], saved), /a former REST token is still accepted/);
    assert.match(
      await failure([token("canary-password-1", "t2")], saved),
      /former REST token .* returned it as the new one/,
    );
  });

  it("passes on the advice of a probe", async () => {
    fake.probe = () => ({ is: "unknown", why: "it is late", advice: "Look at the clock." });
    assert.match(await failure([first]), /Look at the clock\. \[REKEY/);
  });

  describe("after verifications that failed", () => {
    it("tries all former passwords, so that none of them stays accepted unseen", async () => {
      fake.probe = accepting("canary-password-1");
      const one = await up([afterResets(1, first)]);
      fake.probe = accepting("canary-password-1", "canary-password-2");
      const { outputs: two } = await fails([afterResets(2, second)], one);
      tried();
      // The first password is refused now, and the second one is not.
      fake.probe = accepting("canary-password-2", "canary-password-3");
      const { outputs: three, message } = await fails([afterResets(3, third)], two);
      assert.match(message, /a former password is still accepted, the one of t2 /);
      assert.deepEqual(tried().slice(0, 2), ["canary-password-3", "canary-password-2"]);
      fake.probe = accepting("canary-password-3");
      const done = await up([afterResets(3, third)], three);
      assert.deepEqual(tried(), ["canary-password-3", "canary-password-2", "canary-password-1"]);
      assert.deepEqual([done.verified, done.formerRefused], [true, true]);
      assert.deepEqual(leaksOf(done.targets, { first: canaries.first, second: canaries.second }), []);
    });

    it("remembers the password of a create that failed", async () => {
      fake.probe = () => ({ is: "unknown", why: "it is busy" });
      const { outputs } = await fails([afterResets(1, first)]);
      tried();
      fake.probe = accepting("canary-password-1", "canary-password-2");
      assert.match(
        await failure([afterResets(2, second)], outputs),
        /former password is still accepted, the one of t1/,
      );
      fake.probe = accepting("canary-password-2");
      assert.equal((await up([afterResets(2, second)], outputs)).formerRefused, true);
    });

    it("does not take the current password for a former one when it verifies again", async () => {
      fake.probe = accepting("canary-password-1");
      const saved = await up([first]);
      const { outputs } = await fails([second], saved);
      const again = await fails([second], outputs);
      assert.deepEqual(again.outputs, outputs);
      tried();
      fake.probe = accepting("canary-password-2");
      assert.equal((await up([second], outputs)).formerRefused, true);
      assert.deepEqual(tried(), ["canary-password-2", "canary-password-1"]);
    });

    it("verifies again if the saved rotation is the current one again", async () => {
      fake.probe = accepting("canary-password-1");
      const saved = await up([first]);
      const { outputs } = await fails([second], saved);
      tried();
      assert.deepEqual(diff(outputs, inputs([first])), { changes: true });
      fake.probe = accepting("canary-password-1", "canary-password-2");
      assert.match(await failure([first], outputs), /former password is still accepted, the one of t2/);
      tried();
      fake.probe = accepting("canary-password-1");
      const back = await up([first], outputs);
      assert.deepEqual([back.verified, tried()], [true, ["canary-password-1", "canary-password-2"]]);
      assert.deepEqual(diff(back, inputs([first])), { changes: false });
    });

    it("remembers passwords while no credential is known, and tokens while there is a password", async () => {
      const token: VerificationTarget = {
        ...first,
        access: { ...endpoint, credential: { restToken: "canary-token" } },
      };
      fake.probe = accepting("canary-token");
      const one = await up([token]);
      const { outputs: two } = await fails([second], one);
      const three = await up([withoutCredential("t3")], two);
      fake.probe = accepting("canary-password-3", "canary-password-2");
      const current = { ...third, rotatedAt: "t4" };
      assert.match(await failure([current], three), /former password is still accepted, the one of t2/);
      fake.probe = accepting("canary-password-3");
      const four = await up([current], three);
      assert.equal(four.formerRefused, true);
      assert.match(four.targets, /canary-token/);
      assert.doesNotMatch(four.targets, /canary-password-2/);
    });

    it("remembers five passwords, and claims nothing about those that it forgot", async () => {
      fake.probe = () => ({ is: "unknown", why: "it is busy" });
      const nth = (n: number) => afterResets(n, withPassword(`canary-${n}`, `t${n}`));
      let saved: PasswordVerificationOutputs | undefined;
      for (let n = 1; n <= 6; n++) saved = (await fails([nth(n)], saved)).outputs;
      fake.probe = accepting("canary-7");
      tried();
      const seventh = await up([nth(7)], saved);
      assert.deepEqual(tried(), ["canary-7", "canary-6", "canary-5", "canary-4", "canary-3", "canary-2"]);
      assert.deepEqual([seventh.verified, seventh.formerRefused], [true, undefined]);
      fake.probe = accepting("canary-8");
      assert.equal((await up([nth(8)], seventh)).formerRefused, true, "of the next rotation it knows all");
    });

    it("claims nothing about the password of a rotation that it did not see", async () => {
      fake.probe = accepting("canary-password-1");
      const saved = await up([afterResets(1, first)]);
      fake.probe = accepting("canary-password-3");
      const missed = await up([afterResets(3, third)], saved);
      assert.deepEqual([missed.verified, missed.formerRefused], [true, undefined]);
      const failed = await fails([afterResets(4, second)], saved, 0.1);
      const fifth = withPassword("canary-password-5", "t5");
      fake.probe = accepting("canary-password-5");
      assert.equal((await up([afterResets(5, fifth)], failed.outputs)).formerRefused, undefined);
    });

    it("reads what 0.1 saved", async () => {
      fake.probe = accepting("canary-password-2");
      const entry = { databaseId: "db", rotatedAt: "t1", credential: { password: "canary-password-1" } };
      const saved = { subject: "db", verified: true, verifiedAt: "v", targets: JSON.stringify([entry]) };
      assert.deepEqual(diff(saved, inputs([afterResets(7, first)])), { changes: false });
      assert.equal((await up([afterResets(9, second)], saved)).formerRefused, true);
      const unknownSince = { databaseId: "db", rotatedAt: "t2", former: { password: "canary-password-1" } };
      const former = { ...saved, verified: false, targets: JSON.stringify([unknownSince]) };
      assert.deepEqual(diff(former, inputs([withoutCredential("t2")])), { changes: false });
      tried();
      assert.equal((await up([{ ...second, rotatedAt: "t3" }], former)).formerRefused, true);
      assert.deepEqual(tried(), ["canary-password-2", "canary-password-1"]);
    });
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

  it("does not deny the reset of its rotation in the message of a failed check", () => {
    const { PasswordVerificationTargets } = resources;
    const check = PasswordVerificationTargets.check({ ...inputs([first]), withinSeconds: 0 }, new Set(), fake.start());
    assert.match(
      check.join(),
      /^withinSeconds must .*A reset that was already sent is saved .*\[REKEY_INPUT_INVALID\]$/,
    );
  });

  describe("of a fleet", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `db-${String(index).padStart(3, "0")}`);
    const fleet = (version: number) => ids.map((id) => withPassword(`canary-${version}-of-${id}`, `t${version}`, id));

    it("contacts only the databases that were rotated since", async () => {
      const saved = await up(fleet(1));
      const current = fleet(1).map(({ access }) => secretOf(access!.credential));
      assert.deepEqual(new Set(tried()), new Set([...current, "wrong"]));
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
      fake.probe = ({ databaseId, credential }) => {
        fake.elapsedMs += 100;
        most = Math.max(most, ++running);
        running--;
        if (bad.has(databaseId)) return { is: "unknown", why: "it is busy" };
        return isMadeUp(secretOf(credential)) ? { is: "refused", words: "" } : { is: "accepted" };
      };
      const { message, outputs } = await fails(fleet(1), undefined, 1);
      assert.match(message, /of 50 of 200 databases are not verified:\n {2}name of db-000: .*it is busy/);
      assert.match(message, /\n {2}and 30 more\n/);
      assert.equal(new Set(fake.probes.map(({ databaseId }) => databaseId)).size, 200);
      fake.probes.length = 0;
      fake.probe = accepting(...fleet(1).map(({ access }) => secretOf(access!.credential)));
      assert.equal((await up(fleet(1), outputs)).verified, true);
      assert.deepEqual(new Set(fake.probes.map(({ databaseId }) => databaseId)), bad, "only those again");
    });

    it("gives up sooner on servers that are silent once withinSeconds has passed", async () => {
      // The probes of a queue run at the same time: its slots are the columns of this table.
      const slots = Array.from({ length: 8 }, () => 0);
      fake.probe = ({ timeoutMs }) => {
        const slot = slots.indexOf(Math.min(...slots));
        slots[slot]! += timeoutMs;
        fake.elapsedMs = Math.min(...slots);
        return { is: "unknown", why: "it is silent" };
      };
      await fails(
        ids.slice(0, 60).map((id) => withPassword("x", "t1", id)),
        undefined,
        30,
      );
      assert.equal(new Set(fake.probes.map(({ databaseId }) => databaseId)).size, 60);
      assert.ok(Math.max(...slots) <= 33_000, String(slots));
      const [first, last] = [fake.probes[0], fake.probes.at(-1)];
      assert.deepEqual([first?.timeoutMs, last?.timeoutMs], [5_000, 1_000]);
    });

    it("claims nothing if it forgot a former password of one of them", async () => {
      const both = (n: number, resets: number) => [
        afterResets(n, withPassword(`canary-a-${n}`, `t${n}`, "a")),
        afterResets(resets, withPassword(`canary-b-${n}`, `t${n}`, "b")),
      ];
      fake.probe = accepting("canary-a-1", "canary-b-1");
      const saved = await up(both(1, 1));
      fake.probe = accepting("canary-a-2", "canary-b-2");
      assert.equal((await up(both(2, 2), saved)).formerRefused, true);
      assert.equal((await up(both(2, 3), saved)).formerRefused, undefined);
    });

    it("keeps what it knows of databases without a credential", async () => {
      const saved = await up([first, withPassword("canary-of-other", "t1", "other")]);
      tried();
      const { outputs, warning } = await apply(saved, inputs([first, withoutCredential("t1", "other")]), fake.start());
      assert.match(warning ?? "", /"name of other"/);
      assert.deepEqual([outputs.verified, outputs.verifiedAt, tried()], [false, saved.verifiedAt, []]);
      fake.probe = ({ credential }) =>
        ["canary-password-1", "canary-of-other", "wrong"].includes(shown(credential))
          ? { is: "refused", words: "" }
          : { is: "accepted" };
      const next = await up([third, withPassword("canary-new", "t2", "other")], outputs);
      assert.deepEqual([next.verified, next.formerRefused], [true, true]);
    });
  });
});
