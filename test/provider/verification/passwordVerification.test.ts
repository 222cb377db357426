import assert from "node:assert/strict";
import { type Credential, secretOf } from "../../../provider/platform/credential";
import { type ProbeRequest } from "../../../provider/platform/probe";
import { NotSentError, StateError, VerificationError } from "../../../provider/platform/errors";
import {
  passwordVerification,
  type PasswordVerificationOutputs,
  unverifiedWarning,
} from "../../../provider/verification/passwordVerification";
import { checkFailures, messagesOf } from "../../../provider/resource";
import { resources } from "../../../provider/engine/resources";
import { leaksOf } from "../../support/canaries";
import { asShown, FakeRun, isMadeUp } from "../../support/fakeRun";
import { type VerificationAccess, type VerificationTarget } from "../../../provider/verification/targets";
import { assertFields } from "../../support/results";

const { apply, check, diff } = asShown(passwordVerification);
const endpoint = { host: "db.example.com", port: 6379, tls: true };
const canary = (nth: number) => `canary-password-${nth}`;
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
const canaries = Object.fromEntries(numbers.map((nth) => [nth, canary(nth)]));

/** A database whose current credential is the nth. */
const at = (nth: number, more: Partial<VerificationTarget> = {}): VerificationTarget => {
  const access = { ...endpoint, credential: { password: canary(nth) } };
  return { databaseId: "db", name: "name of db", rotatedAt: `t${nth}`, access, ...more };
};
const asUser = (username: string, nth: number) =>
  at(nth, { access: { ...endpoint, credential: { username, password: canary(nth) } } });
const token = (nth: number) => at(nth, { access: { ...endpoint, port: 443, credential: { restToken: canary(nth) } } });
const ofIndex = (nth: number, restUrl = "https://index.example.com/") =>
  at(nth, { type: "SearchTokenRotation", access: { restUrl, credential: { token: canary(nth) } } });
const ofQueue = (nth: number) =>
  at(nth, { type: "QueueTokenRotation", access: { credential: { token: canary(nth) } } });
/** The target after as many resets. */
const counted = (nth: number) => at(nth, { rotationCount: nth });
const withoutCredential = (rotatedAt: string, databaseId = "db"): VerificationTarget => {
  return { databaseId, name: `name of ${databaseId}`, rotatedAt };
};

const inputs = (targets: readonly VerificationTarget[], withinSeconds?: number) => {
  return { subject: "db", targets: JSON.stringify(targets), ...(withinSeconds !== undefined && { withinSeconds }) };
};
/** What was tried: the number of the credential, after the user if there is one. */
const shown = (credential: Credential) => {
  const secret = secretOf(credential);
  const known = isMadeUp(secret) ? "wrong" : secret.replace("canary-password-", "");
  return "username" in credential && credential.username ? `${credential.username}:${known}` : known;
};
/** A database that accepts the nth credentials. */
const accepting =
  (...all: number[]) =>
  ({ credential }: ProbeRequest) =>
    all.map(canary).includes(secretOf(credential))
      ? ({ kind: "accepted" } as const)
      : ({ kind: "refused", words: "WRONGPASS no" } as const);
const acceptingAll = () => ({ kind: "accepted" }) as const;
const busy = () => ({ kind: "unknown", why: "it is busy" }) as const;

/** One verification, which starts from the state that the step before saved. */
interface Step {
  readonly target: VerificationTarget;
  /** What the database accepts: numbers of credentials, or a function. Default: nothing. */
  readonly accepts?: readonly number[] | FakeRun["probe"];
  /** The credentials that are tried, in order; of a step that fails, those that are tried first. */
  readonly tried?: string;
  readonly fails?: RegExp;
  readonly warns?: RegExp;
  readonly formerRefused?: true;
  /** The numbers of the credentials that are saved. */
  readonly saves?: readonly number[];
}

const stillAccepted = /a former password is still accepted.*whether the reset was applied/s;
const open = /the database is open to everyone: it accepts any password \(rediss:.*Require a password/s;
const verified: Step = { target: at(1), accepts: [1] };
const asToken: Step = { target: token(1), accepts: [1] };
const refused: Step = {
  target: at(2),
  accepts: [1],
  fails: /"db" is not verified: the new password is refused: WRONG/,
};

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  "tries the new password, and then the former one": [
    { target: at(1), accepts: [1], tried: "1 wrong", saves: [1] },
    { target: at(2), accepts: [2], tried: "2 1", formerRefused: true, saves: [2] },
  ],
  "does not take the current password for a former one when it verifies again": [
    verified,
    refused,
    refused,
    { target: at(2), accepts: [2], tried: "2 1", formerRefused: true },
  ],
  "fails if the former password is still accepted": [
    verified,
    { target: at(2), accepts: [1, 2], fails: stillAccepted },
  ],
  "fails at once if the platform returned the former password again": [
    verified,
    { target: { ...at(1), rotatedAt: "t2" }, tried: "", fails: /the former password .* returned it as the new one/ },
  ],
  "reports why the new password could not be tried": [
    {
      target: at(1),
      accepts: () => ({ kind: "unknown", why: "the host was not found" }),
      fails: /could not be tried: the host was not found.*rediss:\/\/db\.example\.com:6379.*Check host/s,
    },
  ],
  "reports why the former password could not be tried": [
    verified,
    {
      target: at(2),
      accepts: ({ credential }) => (secretOf(credential) === canary(2) ? acceptingAll() : busy()),
      fails: /new password is accepted, but a former one could not be tried: it is busy/,
    },
  ],
  "reports why a wrong password could not be tried": [
    {
      target: at(1),
      accepts: ({ credential }) => (isMadeUp(secretOf(credential)) ? busy() : acceptingAll()),
      fails: /password is accepted, but a wrong one could not be tried: it is busy/,
    },
  ],
  "passes on the advice of a probe": [
    {
      target: at(1),
      accepts: () => ({ ...busy(), advice: "Look at the clock." }),
      fails: /Look at the clock\. \[REKEY/,
    },
  ],
  "verifies nothing without a credential, and remembers the former one for the next rotation": [
    verified,
    {
      target: withoutCredential("t2"),
      tried: "",
      warns: /Not verified, because no current credential is known: "name of db"\./,
    },
    { target: withoutCredential("t3"), tried: "", warns: /Not verified/ },
    { target: { ...at(2), rotatedAt: "t4" }, accepts: [2], tried: "2 1", formerRefused: true },
  ],
  "tries a password as the user it belonged to, and none that is still in use": [
    { target: asUser("old", 1), accepts: [1] },
    { target: asUser("new", 1), accepts: [1], tried: "new:1 new:wrong" },
    { target: asUser("newer", 2), accepts: [2], tried: "newer:2 old:1 new:1 newer:wrong", formerRefused: true },
  ],
  "does not compare a token with a password": [asToken, { target: at(2), accepts: [2] }],
  "fails if the database accepts any password": [{ target: at(1), accepts: acceptingAll, fails: open }],
  "fails for that reason if a former password is accepted, too": [
    verified,
    { target: at(2), accepts: acceptingAll, fails: open },
  ],
  "tries a wrong password as the same user": [
    { target: asUser("ops", 1), accepts: acceptingAll, tried: "ops:1 ops:wrong", fails: open },
  ],
  "fails if only another user's former password was refused": [
    { target: asUser("old", 1), accepts: [1] },
    {
      target: asUser("open", 2),
      accepts: (request) => (shown(request.credential).startsWith("old") ? accepting()(request) : acceptingAll()),
      fails: open,
    },
  ],
  "fails if the database accepts any REST token": [
    { target: token(1), accepts: acceptingAll, fails: /^(?!.*password\b).*accepts any REST token \(https:\/\/db\.ex/s },
  ],
  "names a REST token that is refused, and its address": [
    {
      target: token(1),
      fails:
        /^(?!.*(password|rediss)).*new REST token is refused: WRONGPASS no \(https:\/\/db\.example\.com:443\).*check host and port\./s,
    },
  ],
  "names a REST token that could not be tried": [
    { target: token(1), accepts: busy, fails: /new REST token could not be tried/ },
  ],
  "names a former REST token that is still accepted": [
    asToken,
    { target: token(2), accepts: [1, 2], fails: /a former REST token is still accepted/ },
  ],
  "names a REST token that the platform returned again": [
    asToken,
    { target: { ...token(1), rotatedAt: "t2" }, fails: /former REST token .* returned it as the new one/ },
  ],
  "tries the tokens of an index": [
    { target: ofIndex(1), accepts: [1], tried: "1 wrong", saves: [1] },
    {
      target: ofIndex(2),
      accepts: [1, 2],
      fails:
        /^The rotation of search index "db" is not verified: a former token is still accepted, the one of t1 \(https:\/\/index\.example\.com\)/,
    },
    { target: ofIndex(2), accepts: [2], tried: "2 1", formerRefused: true, saves: [2] },
  ],
  "names an index that does not accept its token, or any": [
    {
      target: ofIndex(1),
      fails: /^(?!.*(password|port|database)).*new token is refused: .*, and check the endpoint in its record\./s,
    },
    { target: ofIndex(1), accepts: busy, fails: /Check the endpoint in its record, .* the search index is active\./ },
    { target: ofIndex(1), accepts: acceptingAll, fails: /the search index is open to everyone: it accepts any token/ },
  ],
  "names the queue and its address": [
    {
      target: ofQueue(1),
      fails:
        /^(?!.*(password|port|database)).*new token is refused: .*\(https:\/\/queue\.example\.com\).*rekey:queueUrl \(the address of its region\)\./s,
    },
    { target: ofQueue(1), accepts: busy, fails: /Check rekey:queueUrl .* and whether the queue is active\./ },
    { target: ofQueue(1), accepts: acceptingAll, fails: /the queue is open to everyone: it accepts any token/ },
  ],
  "names a token that the platform returned again": [
    { target: ofQueue(1), accepts: [1] },
    {
      target: { ...ofQueue(1), rotatedAt: "t2" },
      tried: "",
      fails: /former token .* returned it as the new one.*which resets the token again/s,
    },
  ],
  "tries all former passwords, so that none of them stays accepted unseen": [
    { target: counted(1), accepts: [1] },
    { target: counted(2), accepts: [1, 2], fails: stillAccepted },
    // The first password is refused now, and the second one is not.
    { target: counted(3), accepts: [2, 3], tried: "3 2", fails: /a former password is still accepted, the one of t2 / },
    { target: counted(3), accepts: [3], tried: "3 2 1", formerRefused: true, saves: [3] },
  ],
  "remembers the password of a create that failed": [
    { target: counted(1), accepts: busy, fails: /it is busy/ },
    { target: counted(2), accepts: [1, 2], fails: /former password is still accepted, the one of t1/ },
    { target: counted(2), accepts: [2], formerRefused: true },
  ],
  "verifies again if the saved rotation is the current one again": [
    verified,
    refused,
    { target: at(1), accepts: [1, 2], fails: /former password is still accepted, the one of t2/ },
    { target: at(1), accepts: [1], tried: "1 2", formerRefused: true },
  ],
  "remembers passwords while no credential is known, and tokens while there is a password": [
    asToken,
    refused,
    { target: withoutCredential("t3"), warns: /Not verified/ },
    { target: { ...at(3), rotatedAt: "t4" }, accepts: [2, 3], fails: /still accepted, the one of t2/ },
    { target: { ...at(3), rotatedAt: "t4" }, accepts: [3], formerRefused: true, saves: [1, 3] },
  ],
  "remembers five passwords, and claims nothing about those that it forgot": [
    ...[1, 2, 3, 4, 5, 6].map((nth) => ({ target: counted(nth), accepts: busy, fails: /it is busy/ })),
    { target: counted(7), accepts: [7], tried: "7 6 5 4 3 2" },
    { target: counted(8), accepts: [8], formerRefused: true },
  ],
  "claims nothing about the password of a rotation that it did not see": [
    { target: counted(1), accepts: [1] },
    { target: counted(3), accepts: [3] },
  ],
  "claims nothing about it after a failure": [
    { target: counted(1), accepts: [1] },
    { target: counted(4), fails: /refused/ },
    { target: counted(5), accepts: [5] },
  ],
};

describe("verification: PasswordVerification", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const up = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs) =>
    (await apply(saved, inputs(targets), fake.start())).outputs;
  /** What a failed verification saves, and its message. */
  const fails = async (targets: readonly VerificationTarget[], saved?: PasswordVerificationOutputs, seconds = 30) => {
    const { outputs, failure } = await apply(saved, inputs(targets, seconds), fake.start());
    assert.ok(failure instanceof VerificationError, JSON.stringify(failure));
    const { message } = failure;
    const madeUp = fake.probes.map(({ credential }) => secretOf(credential)).filter(isMadeUp);
    assert.deepEqual(leaksOf(message, { ...canaries, ...Object.fromEntries(madeUp.entries()) }), []);
    assert.match(message, /rotation itself is saved\. .* The next `up` verifies again, and resets nothing/);
    const { verified, formerRefused, verifiedAt } = outputs;
    const expected = { verified: false, formerRefused: undefined, verifiedAt: saved?.verifiedAt };
    assert.deepEqual({ verified, formerRefused, verifiedAt }, expected);
    assert.deepEqual(diff(outputs, inputs(targets)), { changes: true }, "it is verified again");
    return { outputs, message };
  };
  const tried = () => fake.probes.splice(0).map(({ credential }) => shown(credential));

  /** @returns the saved state */
  async function run(step: Step, saved: PasswordVerificationOutputs | undefined): Promise<PasswordVerificationOutputs> {
    const { target, accepts = [], formerRefused } = step;
    fake.probe = typeof accepts === "function" ? accepts : accepting(...accepts);
    fake.probes.length = 0;
    if (saved) assert.deepEqual(diff(saved, inputs([target])), { changes: true });
    if (step.fails) {
      const { outputs, message } = await fails([target], saved, 0.1);
      assert.match(message, step.fails);
      const first = tried();
      if (step.tried !== undefined) assert.ok(step.tried ? first.join(" ").startsWith(step.tried) : !first.length);
      return outputs;
    }
    const { outputs, failure } = await apply(saved, inputs([target]), fake.start());
    assert.deepEqual({ failure, ofUp: outputs.formerRefused }, { failure: undefined, ofUp: formerRefused });
    assert.equal(outputs.verified, target.access !== undefined);
    assert.match(unverifiedWarning([target]) ?? "", step.warns ?? /^$/);
    const all = tried().join(" ");
    assert.equal(all, step.tried ?? all);
    const known = numbers.filter((nth) => outputs.targets.includes(canary(nth)));
    assert.deepEqual(known, step.saves ?? known);
    assert.deepEqual(diff(outputs, inputs([target])), { changes: false });
    return outputs;
  }

  for (const [title, steps] of Object.entries(scenarios)) {
    it(title, async () => {
      let saved: PasswordVerificationOutputs | undefined;
      for (const step of steps) saved = await run(step, saved);
      assert.deepEqual(fake.resets, []);
    });
  }

  it("saves when everything was verified last", async () => {
    const { targets, ...created } = await up([at(1)]);
    assert.deepEqual(created, { subject: "db", verified: true, verifiedAt: "2026-11-21T12:00:00.000Z" });
    fake.time = new Date("2026-11-22T12:00:00.000Z");
    fake.probe = accepting(2);
    assert.equal((await up([at(2)], { ...created, targets })).verifiedAt, "2026-11-22T12:00:00.000Z");
  });

  it("changes only if a credential or the time of the rotation does", async () => {
    const saved = await up([at(1)]);
    const changesWith = (...targets: VerificationTarget[]) => diff(saved, inputs(targets));
    const elsewhere = { ...at(1).access!, host: "other", port: 1, tls: false };
    for (const same of [at(1), at(1, { name: "other", access: elsewhere })]) {
      assert.deepEqual(changesWith(same), { changes: false });
    }
    assert.deepEqual(diff(saved, inputs([at(1)], 5)), { changes: false });
    for (const changed of [at(2), at(1, { rotatedAt: "t2" }), withoutCredential("t1"), asUser("ops", 1)]) {
      assert.deepEqual(changesWith(changed), { changes: true }, JSON.stringify(changed));
    }
    assert.deepEqual(changesWith(), { changes: true });
    assert.deepEqual(changesWith(at(1), at(1, { databaseId: "other" })), { changes: true });
    assert.deepEqual(diff(saved, { ...inputs([at(1)]), subject: "other" }), { changes: true, replaces: ["subject"] });
  });

  it("repeats until the platform has applied the reset, more slowly each time", async () => {
    const saved = await up([at(1)]);
    tried();
    fake.probe = (request) => accepting(fake.elapsedMs < 5_000 ? 1 : 2)(request);
    assert.equal((await up([at(2)], saved)).formerRefused, true);
    assert.deepEqual(fake.waits, [200, 400, 800, 1_600, 2_000]);
    assert.deepEqual(tried().slice(-2), ["2", "1"]);
  });

  it("tries for withinSeconds, with another wrong password each time", async () => {
    fake.probe = acceptingAll;
    await fails([at(1)], undefined, 3);
    assert.equal(fake.elapsedMs, 3_000, "the last attempt is at the end");
    const wrong = fake.probes.map(({ credential }) => secretOf(credential)).filter(isMadeUp);
    assert.ok(wrong.length > 1);
    assert.equal(new Set(wrong).size, wrong.length);
  });

  it("sends a GET to the URL of an index, and to the queue", async () => {
    await up([ofIndex(1)]);
    await up([ofQueue(1)]);
    const [index, , queue] = fake.probes;
    const owner = ['search index "db"', 'queue user "db"'];
    assert.deepEqual([index?.owner, queue?.owner], owner);
    const endpoints = [
      { service: "index", path: "/info", baseUrl: "https://index.example.com" },
      { service: "queue", path: "/v2/globalParallelism", baseUrl: "https://queue.example.com" },
    ];
    assert.deepEqual([index?.endpoint, queue?.endpoint], endpoints);
  });

  it("stops when the engine is gone", async () => {
    const facts = {
      purpose: "verify",
      method: "AUTH",
      url: "x",
      consequences: { "not sent": "", rejected: "", "maybe applied": "" },
    };
    const gone = new NotSentError(facts, {
      happened: "the engine has ended",
      advice: "Run again.",
      code: "REKEY_ENGINE_GONE",
    });
    let probes = 0;
    fake.probe = () => {
      if (++probes > 1) throw gone;
      return { kind: "unknown", why: "it is busy" };
    };
    await assert.rejects(apply(undefined, inputs([at(1)]), fake.start()), gone);
    assert.equal(probes, 2);
  });

  it("refuses a damaged state", async () => {
    const saved = await up([at(1)]);
    for (const targets of ["", "{}", "[1]", JSON.stringify([{ databaseId: "a" }, { databaseId: "a" }])]) {
      assert.throws(() => diff({ ...saved, targets }, inputs([at(1)])), StateError);
    }
  });

  it("checks its inputs", () => {
    const reasons = (more: object, unknown = new Set<string>()) =>
      check({ ...inputs([at(1)]), ...more }, unknown).map(({ reason }) => reason);
    assert.deepEqual(reasons({ withinSeconds: 0.5 }), []);
    for (const withinSeconds of [0, -1, NaN, "30", {}]) {
      assert.match(reasons({ withinSeconds }).join(), /^withinSeconds must/);
    }
    assert.match(reasons({ within: 1 }).join(), /within is not an input/);
    assert.deepEqual(reasons({ withinSeconds: "unknown" }, new Set(["withinSeconds"])), []);
  });

  it("does not deny the reset of its rotation in the message of a failed check", () => {
    const { PasswordVerificationTargets } = resources;
    const wrong = { ...inputs([at(1)]), withinSeconds: 0 };
    const failures = checkFailures(PasswordVerificationTargets, wrong, new Set(), fake.start());
    assert.match(
      messagesOf(failures).join(),
      /^withinSeconds must .*A reset that was already sent is saved .*\[REKEY_INPUT_INVALID\]$/,
    );
  });

  describe("of a fleet", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `db-${String(index).padStart(3, "0")}`);
    const of = (databaseId: string, version: number, more: Partial<VerificationTarget> = {}): VerificationTarget => {
      const access = { ...endpoint, credential: { password: `canary-${version}-of-${databaseId}` } };
      return { databaseId, name: `name of ${databaseId}`, rotatedAt: `t${version}`, access, ...more };
    };
    const fleet = (version: number) => ids.map((id) => of(id, version));
    const valueOf = ({ credential }: VerificationAccess) => ("mark" in credential ? "" : secretOf(credential));
    const idIn = (owner: string) => owner.slice('database "'.length, -1);
    /** Databases that accept the passwords of these targets. */
    const acceptingOf =
      (...targets: VerificationTarget[]): FakeRun["probe"] =>
      ({ credential }) =>
        targets.some(({ access }) => access && valueOf(access) === secretOf(credential))
          ? { kind: "accepted" }
          : { kind: "refused", words: "" };

    it("contacts only the databases that were rotated since", async () => {
      const saved = await up(fleet(1));
      const current = fleet(1).map(({ access }) => valueOf(access!));
      assert.deepEqual(new Set(tried()), new Set([...current, "wrong"]));
      const changed = fleet(1).map((target, index) => (index === 7 ? fleet(2)[7]! : target));
      fake.probe = acceptingOf(fleet(2)[7]!);
      const next = await up(changed, saved);
      assert.deepEqual(tried(), ["canary-2-of-db-007", "canary-1-of-db-007"]);
      assert.deepEqual(diff(next, inputs(changed)), { changes: false });
      const fewer = await up(changed.slice(0, 10), next);
      assert.deepEqual(tried(), []);
      assert.equal((JSON.parse(fewer.targets) as unknown[]).length, 10);
    });

    it("names the databases that failed, and gives each at least one attempt", async () => {
      const bad = new Set(ids.filter((_, index) => index % 4 === 0));
      let running = 0;
      let most = 0;
      fake.probe = ({ owner, credential }) => {
        fake.elapsedMs += 100;
        most = Math.max(most, ++running);
        running--;
        if (bad.has(idIn(owner))) return { kind: "unknown", why: "it is busy" };
        return isMadeUp(secretOf(credential)) ? { kind: "refused", words: "" } : { kind: "accepted" };
      };
      const { message, outputs } = await fails(fleet(1), undefined, 1);
      assert.match(message, /of 50 of 200 databases are not verified:\n {2}name of db-000: .*it is busy/);
      assert.match(message, /\n {2}and 30 more\n/);
      assert.equal(new Set(fake.probes.map(({ owner }) => idIn(owner))).size, 200);
      fake.probes.length = 0;
      fake.probe = acceptingOf(...fleet(1));
      assert.equal((await up(fleet(1), outputs)).verified, true);
      assert.deepEqual(new Set(fake.probes.map(({ owner }) => idIn(owner))), bad, "only those again");
    });

    it("gives up sooner on servers that are silent once withinSeconds has passed", async () => {
      // The probes of a queue run at the same time: its slots are the columns of this table.
      const slots = Array.from({ length: 8 }, () => 0);
      fake.probe = ({ timeoutMs }) => {
        const slot = slots.indexOf(Math.min(...slots));
        slots[slot]! += timeoutMs;
        fake.elapsedMs = Math.min(...slots);
        return { kind: "unknown", why: "it is silent" };
      };
      await fails(fleet(1).slice(0, 60), undefined, 30);
      assert.equal(new Set(fake.probes.map(({ owner }) => idIn(owner))).size, 60);
      assert.ok(Math.max(...slots) <= 33_000, String(slots));
      const [first, last] = [fake.probes[0]?.timeoutMs, fake.probes.at(-1)?.timeoutMs];
      assert.deepEqual({ first, last }, { first: 5_000, last: 1_000 });
    });

    it("claims nothing if it forgot a former password of one of them", async () => {
      const both = (version: number, resetsOfB = version) => [
        of("a", version, { rotationCount: version }),
        of("b", version, { rotationCount: resetsOfB }),
      ];
      const saved = await up(both(1));
      fake.probe = acceptingOf(...both(2));
      assert.equal((await up(both(2), saved)).formerRefused, true);
      assert.equal((await up(both(2, 3), saved)).formerRefused, undefined);
    });

    it("keeps what it knows of databases without a credential", async () => {
      const saved = await up([of("a", 1), of("b", 1)]);
      tried();
      const targets = [of("a", 1), withoutCredential("t1", "b")];
      const { outputs } = await apply(saved, inputs(targets), fake.start());
      assert.match(unverifiedWarning(targets) ?? "", /"name of b"/);
      const { verified, verifiedAt } = outputs;
      assert.deepEqual(
        { verified, verifiedAt, tried: tried() },
        { ...{ verified: false, tried: [] }, verifiedAt: saved.verifiedAt },
      );
      fake.probe = acceptingOf(of("a", 3), of("b", 2));
      const next = await up([of("a", 3), of("b", 2)], outputs);
      assertFields(next, { verified: true, formerRefused: true });
    });
  });
});
