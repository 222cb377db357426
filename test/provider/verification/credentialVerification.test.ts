import assert from "node:assert/strict";
import { type Credential, secretOf } from "../../../provider/platform/credential";
import { type ProbeRequest } from "../../../provider/platform/probe";
import { StateError, VerificationError } from "../../../provider/platform/errors";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { saltedMark } from "../../../provider/rotation/memory";
import { replacedIn } from "../../../provider/rotation/rotate";
import { type Run } from "../../../provider/run";
import {
  credentialVerification,
  type CredentialVerificationInputs,
  type CredentialVerificationOutputs,
} from "../../../provider/verification/credentialVerification";
import { leaksOf } from "../../support/canaries";
import { asShown, FakeRun, isMadeUp, rejected } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { unknown } from "../../support/wire";

const { check, plan, apply } = asShown(credentialVerification);
const canary = (nth: number) => `canary-password-${nth}`;
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
const canaries = Object.fromEntries(numbers.map((nth) => [nth, canary(nth)]));
const salt = "s".repeat(22);

/** What a rotation says of its secret after so many resets. */
interface Said {
  readonly id: string;
  readonly count: number;
  readonly [name: string]: unknown;
}

const record = { endpoint: "db.example.com", port: 6379, tls: true };
const none: Said = { id: "db", of: "database", count: 1, record };
const of = (name: string, nth: number, more: object = {}): Said => {
  return { ...none, count: nth, current: { name, value: canary(nth) }, ...more };
};
/** After the nth reset, whose password is saved. */
const at = (nth: number, more: object = {}) => of("password", nth, more);
const asUser = (username: string, nth: number, more: object = {}) => at(nth, { connection: { username }, ...more });
const rest = (nth: number) => of("restToken", nth);
const ofIndex = (nth: number) => of("token", nth, { of: "search index", restUrl: "https://index.example.com/" });
const ofQueue = (nth: number) => of("token", nth, { of: "queue user" });
/** As `at`, if the password is not saved. */
const unsaved = (nth: number): Said => {
  const current = { name: "password", mark: saltedMark(salt, canary(nth)), salt };
  return { ...none, count: nth, current, connection: { username: "ops" } };
};
const again = (nth: number, count: number) => ({ ...at(nth), count });

const accepted = { kind: "accepted" } as const;
const busy = { kind: "unknown", why: "it is busy" } as const;
const refused = { kind: "refused", words: "WRONGPASS no" } as const;
/** What was tried: the number of the credential, after the user if there is one. */
const shown = (credential: Credential) => {
  const secret = secretOf(credential);
  const nth = isMadeUp(secret) ? "wrong" : secret.replace("canary-password-", "");
  return "username" in credential && credential.username ? `${credential.username}:${nth}` : nth;
};

/** One verification, which starts from the state that the step before saved. */
interface Step {
  readonly said: Said;
  /** What the server accepts: numbers of credentials, or a function. Default: nothing. */
  readonly accepts?: readonly number[] | FakeRun["probe"];
  /** The credentials that are tried, in order; of a step that fails, those that are tried first. */
  readonly tried?: string;
  readonly fails?: RegExp;
  readonly warns?: RegExp;
  readonly formerRefused?: true;
  /** The numbers of the credentials that are saved. */
  readonly saves?: readonly number[];
}

const first: Step = { said: at(1), accepts: [1] };
const waits: Step = {
  said: { ...none, count: 2 },
  tried: "",
  warns: /no current credential is known: database "db"\./,
};

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  "tries the new password, and then the former one": [
    { ...first, tried: "1 wrong", saves: [1] },
    { said: at(2), accepts: [2], tried: "2 1", formerRefused: true, saves: [2] },
  ],
  "fails at once, and again, if the platform returned the former password as the new one": [
    first,
    { said: again(1, 2), tried: "", fails: /former password .* returned it as the new one.*Set a new version/s },
    { said: again(1, 2), tried: "", fails: /returned it as the new one/ },
    { said: at(3), accepts: [3], tried: "3 1", formerRefused: true },
  ],
  "does not call it returned if the count begins again, as with a rotation that was replaced": [
    { said: at(3), accepts: [3] },
    { said: again(3, 0), accepts: [3], tried: "3 wrong" },
    { said: { ...at(4), count: 1 }, accepts: [4], tried: "4 3", formerRefused: true },
  ],
  "tries what someone else has replaced": [
    first,
    { said: again(2, 1), accepts: [2], tried: "2 1", formerRefused: true },
  ],
  "reports why a former or a wrong password could not be tried": [
    {
      said: at(1),
      accepts: ({ credential }) => (shown(credential) === "1" ? accepted : busy),
      fails: /a wrong one .* busy/,
    },
    {
      said: at(2),
      accepts: ({ credential }) => (shown(credential) === "2" ? accepted : busy),
      fails: /a former one .* busy/,
    },
  ],
  "claims nothing without a credential, and remembers the former one for the next reset": [
    first,
    waits,
    { said: at(2), accepts: [2], tried: "2 1", formerRefused: true },
  ],
  "tries a password as the user it belonged to, and a wrong one as the same user": [
    { said: asUser("old-{id}", 1), accepts: [1], tried: "old-db:1 old-db:wrong" },
    { said: asUser("new", 2), accepts: [2], tried: "new:2 old-db:1 new:wrong", formerRefused: true },
    {
      said: asUser("newer", 3),
      accepts: ({ credential }) => (shown(credential).startsWith("newer") ? accepted : refused),
      fails: /the database is open to everyone: it accepts any password \(rediss:\/\/db\.example\.com:6379\).*Require/s,
    },
  ],
  "names a REST token, and does not compare it with a password": [
    {
      said: rest(1),
      fails: /^(?!.*(password|rediss)).*new REST token is refused.*\(https:\/\/db\.example\.com:443\)/s,
    },
    { said: rest(1), accepts: () => accepted, fails: /accepts any REST token/ },
    { said: rest(1), accepts: [1] },
    { said: at(2), accepts: [1, 2], tried: "2 wrong" },
  ],
  "names an index and its address": [
    {
      said: ofIndex(1),
      fails: /^(?!.*(password|connection|database)).*new token is refused.*the endpoint in its record\./s,
    },
    {
      said: ofIndex(1),
      accepts: () => busy,
      fails: /Check the endpoint in its record, .* the search index is active\./,
    },
    { said: ofIndex(1), accepts: [1], tried: "1 wrong" },
    {
      said: ofIndex(2),
      accepts: [1, 2],
      fails:
        /^The rotation of search index "db" is not .*a former token is still accepted \(https:\/\/index\.example\.com\)/,
    },
  ],
  "names the queue and its address": [
    {
      said: ofQueue(1),
      fails: /^(?!.*(password|connection|database)).*\(https:\/\/queue\.example\.com\).*rekey:queueUrl/s,
    },
    { said: ofQueue(1), accepts: () => accepted, fails: /the queue is open to everyone: it accepts any token/ },
  ],
  "needs the URL of an index, or the port of a database": [
    { said: { ...ofIndex(1), restUrl: undefined }, tried: "", fails: /record of search index "db" has no endpoint/ },
    {
      said: at(1, { record: { endpoint: "x" } }),
      tried: "",
      fails: /port is unknown .*Set connection on the rotation/s,
    },
  ],
  "tries all former passwords, so that none of them stays accepted unseen": [
    first,
    { said: at(2), accepts: [1, 2], fails: /a former password is still accepted.*whether the reset was applied/s },
    { said: at(3), accepts: [2, 3], tried: "3 2", fails: /a former password is still accepted/ },
    { said: at(3), accepts: [3], tried: "3 2 1", formerRefused: true, saves: [3] },
  ],
  "remembers what five failures in a row tried, and claims nothing about those that it forgot": [
    ...[1, 2, 3, 4, 5, 6, 7].map((nth) => ({ said: at(nth), accepts: () => busy, fails: /it is busy/ })),
    { said: at(8), accepts: [8], tried: "8 7 6 5 4 3 2" },
    { said: { ...at(1), count: 9 }, accepts: [1], formerRefused: true },
  ],
  "claims nothing about the password of a reset that it did not see, also after a failure": [
    first,
    { said: at(3), fails: /refused/ },
    { said: at(4), accepts: [4], tried: "4 3 1" },
    { said: at(5), accepts: [5], formerRefused: true },
    { said: at(7), accepts: [7], tried: "7 5" },
  ],
};

describe("verification: CredentialVerification", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const inputs = (said: object, more: Partial<CredentialVerificationInputs> = {}): CredentialVerificationInputs => {
    return { access: JSON.stringify(said), withinSeconds: 0.1, ...more };
  };
  const accepting = (accepts: Step["accepts"] = []): FakeRun["probe"] =>
    typeof accepts === "function"
      ? accepts
      : ({ credential }) => (accepts.map(canary).includes(secretOf(credential)) ? accepted : refused);
  const tried = () => fake.probes.splice(0).map(({ credential }) => shown(credential));
  const valuesIn = (outputs: object) => numbers.filter((nth) => JSON.stringify(outputs).includes(canary(nth)));

  /** Verifies, and checks what holds for each result. */
  async function verify(
    said: object,
    saved?: CredentialVerificationOutputs,
    more: Partial<CredentialVerificationInputs> = {},
    run = fake.start(),
  ) {
    const { outputs, failure, message = "", warning = "" } = await apply(saved, inputs(said, more), run);
    const { verified, verifiedAt, formerRefused } = outputs;
    assert.equal(plan(outputs, inputs(said)).changes, failure !== undefined, "only a failure is tried again");
    if (failure) {
      assert.ok(failure instanceof VerificationError);
      assert.deepEqual(
        { verified, verifiedAt, formerRefused },
        { verified: false, verifiedAt: saved?.verifiedAt, formerRefused: undefined },
      );
      assert.match(message, /rotation itself is saved\. .* The next `up` verifies again, and resets nothing/);
    }
    const madeUp = fake.probes.map(({ credential }) => secretOf(credential)).filter(isMadeUp);
    assert.deepEqual(leaksOf(message + warning, { ...canaries, ...Object.fromEntries(madeUp.entries()) }), []);
    return { outputs, message, warning };
  }

  for (const [title, steps] of Object.entries(scenarios)) {
    it(title, async () => {
      let saved: CredentialVerificationOutputs | undefined;
      for (const step of steps) {
        const { said, accepts, fails = /^$/, warns = /^$/ } = step;
        fake = new FakeRun();
        fake.probe = accepting(accepts);
        if (saved) assert.equal(plan(saved, inputs(said)).changes, true);
        const { outputs, message, warning } = await verify(said, saved);
        assert.match(message, fails);
        assert.match(warning, warns);
        const all = tried().join(" ");
        if (step.tried !== undefined) {
          assert.ok(step.fails && step.tried ? all.startsWith(step.tried) : all === step.tried, all);
        }
        if (!message) {
          assertFields(outputs, { verified: !step.warns, formerRefused: step.formerRefused });
        }
        if (step.saves) assert.deepEqual(valuesIn(outputs), step.saves);
        saved = outputs;
      }
    });
  }

  it("repeats until withinSeconds have passed, and waits longer each time", async () => {
    fake.probe = ({ credential }) => (fake.waits.length < 3 ? refused : accepting([1])({ credential } as ProbeRequest));
    assert.equal((await verify(at(1), undefined, { withinSeconds: 30 })).outputs.verified, true);
    assert.deepEqual(fake.waits, [200, 400, 800]);
    fake.waits.length = 0;
    fake.probe = () => refused;
    await verify(at(2), undefined, { withinSeconds: 1 });
    assert.deepEqual(fake.waits, [200, 400], "no attempt begins after them");
  });

  it("uses its own connection before that of the rotation, and what is unset in it from there", async () => {
    const placed = async (said: object, connection: CredentialVerificationInputs["connection"]) => {
      await verify(said, undefined, { connection });
      const [{ endpoint, credential } = assert.fail()] = fake.probes.splice(0);
      return { endpoint, user: "username" in credential ? credential.username : undefined };
    };
    const given = at(1, { connection: { host: "own", port: 7, username: "ops" } });
    assert.deepEqual(await placed(given, null), { endpoint: { host: "own", port: 7, tls: true }, user: "ops" });
    assert.deepEqual(await placed(given, { host: "{endpoint}.internal", username: "me", port: null }), {
      endpoint: { host: "db.example.com.internal", port: 7, tls: true },
      user: "me",
    });
    const local = { host: "localhost", port: 8079, tls: false };
    assert.deepEqual((await placed(rest(1), local)).endpoint, local);
  });

  describe("of a password that is not saved", () => {
    /** The number of the password that is valid, and of the one that a read shows. */
    let valid: number;
    let shows: (reads: number) => number;
    beforeEach(() => {
      fake.canRead = true;
      shows = () => valid;
      fake.readDatabase = () => ({ credentials: { password: canary(shows(fake.databaseReads.length)) } });
      fake.probe = (request) => accepting([valid])(request);
    });

    /** Verifies in one run, in which resets replaced passwords, and checks that no value is saved. */
    async function verifyUnsaved(said: Said, before?: CredentialVerificationOutputs, replaced: readonly number[] = []) {
      fake.databaseReads.length = 0;
      const run: Run = fake.start();
      const subject = { kind: databasePassword, id: "db" };
      replacedIn(subject, run).push(...replaced.map((nth) => ({ password: canary(nth), restToken: "other" })));
      const { outputs, message } = await verify(said, before, { withinSeconds: 1 }, run);
      assert.deepEqual(valuesIn(outputs), []);
      const all = tried()
        .map((one) => one.replace("ops:", ""))
        .join(" ");
      return { outputs, message, tried: all, formerRefused: outputs.formerRefused };
    }

    it("reads it, and tries the former one only in the run that replaced it", async () => {
      valid = 1;
      const one = await verifyUnsaved(unsaved(1));
      assert.deepEqual([one.tried, one.formerRefused, fake.databaseReads], ["1 wrong", undefined, ["db"]]);
      valid = 2;
      const two = await verifyUnsaved(unsaved(2), one.outputs, [1, 1]);
      assert.deepEqual([two.tried, two.formerRefused], ["2 1", true]);
      valid = 3;
      const three = await verifyUnsaved(unsaved(3), two.outputs);
      assert.deepEqual([three.tried, three.formerRefused], ["3 wrong", undefined]);
    });

    it("knows a former one after a failure by its mark, and so claims nothing, and notices one that returned", async () => {
      valid = 1;
      const one = await verifyUnsaved(unsaved(1));
      fake.probe = () => accepted;
      valid = 2;
      const two = await verifyUnsaved(unsaved(2), one.outputs, [1]);
      assert.match(two.message, /open to everyone/);
      fake.probe = (request) => accepting([valid])(request);
      const repeated = await verifyUnsaved({ ...unsaved(1), count: 3 }, two.outputs, [2]);
      assert.match(repeated.message, /returned it as the new one/);
      const verified = await verifyUnsaved(unsaved(2), two.outputs);
      assert.deepEqual([verified.tried, verified.formerRefused], ["2 wrong", undefined]);
    });

    it("removes the value of one that was saved before, also if it fails", async () => {
      valid = 1;
      const saved = await verify(asUser("ops", 1));
      tried();
      const same = await verifyUnsaved(unsaved(1), saved.outputs);
      assert.deepEqual([same.tried, same.formerRefused], ["1 wrong", undefined]);
      valid = 2;
      const other = await verifyUnsaved(unsaved(2), saved.outputs);
      assert.deepEqual([other.tried, other.formerRefused], ["2 1", true]);
      fake.canRead = false;
      const failed = await verifyUnsaved(unsaved(2), saved.outputs);
      assert.match(
        failed.message,
        /is not saved, and this platform cannot be read.*Set rekey:databasePath, or remove/s,
      );
      assert.deepEqual([failed.tried, fake.databaseReads, fake.waits], ["", [], []]);
    });

    it("waits for a read that shows the new one, and reports why there is none", async () => {
      valid = 2;
      shows = (reads) => (reads < 3 ? 1 : 2);
      assert.equal((await verifyUnsaved(unsaved(2))).tried, "2 wrong");
      assert.equal(fake.databaseReads.length, 3);
      shows = () => 2;
      fake.probe = () => refused;
      await verifyUnsaved(unsaved(2));
      assert.equal(fake.databaseReads.length, 1, "what was read is tried again");
      shows = () => 1;
      assert.match((await verifyUnsaved(unsaved(2))).message, /is not saved, and the platform shows another one/);
      fake.readDatabase = () => ({ credentials: { restToken: "other" } });
      assert.match((await verifyUnsaved(unsaved(2))).message, /is not saved, and the platform does not show it/);
      fake.readDatabase = () => rejected();
      assert.match((await verifyUnsaved(unsaved(2))).message, /is not saved, and could not be read: it broke.*Fix it/s);
    });
  });

  describe("of a fleet", () => {
    const ids = Array.from({ length: 60 }, (_, index) => `db-${index}`);
    const fleet = (nth: number, more: Readonly<Record<string, object>> = {}) =>
      Object.fromEntries(ids.map((id) => [`name of ${id}`, { ...at(nth), id, ...more[id] }]));
    const ownersTried = () => [...new Set(fake.probes.splice(0).map(({ owner }) => owner))];

    it("contacts what was reset or failed, and knows a database by its id", async () => {
      const { outputs } = await verify(fleet(1));
      assert.equal(ownersTried().length, 60);
      fake.probe = (request) => (request.owner.includes("db-7") ? busy : accepting([2])(request));
      const more = Object.fromEntries(["db-7", "db-8"].map((id) => [id, { ...at(2), id }]));
      const failed = await verify(fleet(1, more), outputs);
      assert.deepEqual(ownersTried(), [`database "db-7"`, `database "db-8"`]);
      assert.match(
        failed.message,
        /^The rotations of 1 of 60 databases are not verified:\n {2}"name of db-7": the new/,
      );
      fake.probe = accepting([2]);
      const { "name of db-8": eighth, ...others } = fleet(1, more);
      const renamed = await verify({ ...others, renamed: eighth }, failed.outputs);
      assert.deepEqual(ownersTried(), [`database "db-7"`]);
      assertFields(renamed.outputs, { verified: true, formerRefused: true });
      assert.equal(plan(renamed.outputs, inputs(others)).changes, true, "one that left the fleet is forgotten");
    });

    it("keeps what it knows of one without a credential, and is not verified as a whole", async () => {
      const { outputs } = await verify(fleet(1));
      fake.probes.length = 0;
      fake.time = new Date("2026-11-22T12:00:00.000Z");
      const unconfirmed = await verify(fleet(1, { "db-7": { current: undefined } }), outputs);
      assert.match(unconfirmed.warning, /^Not verified, because no current credential is known: "name of db-7"\.$/);
      assertFields(unconfirmed.outputs, { verified: false, verifiedAt: outputs.verifiedAt });
      assert.equal(fake.probes.length, 0);
      fake.probe = accepting([2]);
      assertFields((await verify(fleet(2), unconfirmed.outputs)).outputs, { verified: true, formerRefused: true });
      const gap = fleet(2, { "db-7": { count: 3 } });
      assertFields((await verify(gap, unconfirmed.outputs)).outputs, { verified: true, formerRefused: undefined });
    });

    it("names 20 of those that failed", async () => {
      fake.probe = () => busy;
      const { message } = await verify(fleet(1));
      assert.match(message, /60 of 60 databases are not verified:(\n {2}"[^\n]*){20}\n {2}and 40 more\n/);
    });
  });

  it("accepts the output access only, and a connection for databases only", () => {
    const problems = (given: object) => check(given as CredentialVerificationInputs).join("\n");
    assert.match(problems({}), /^access is required/);
    for (const access of ["p", "[]", 7, JSON.stringify({ host: "x" }), JSON.stringify(at(1, { of: "house" }))]) {
      assert.match(problems({ access }), /^access must be the output `access` of a rotation or a fleet\. /);
    }
    const connection = { port: 1 };
    for (const said of [at(1), { id: at(1) }, {}]) assert.equal(problems(inputs(said, { connection })), "");
    assert.equal(problems({ access: unknown, connection, withinSeconds: unknown }), "");
    assert.match(
      problems(inputs(ofIndex(1), { connection })),
      /^connection is for databases only: search index "db" has/,
    );
    assert.match(problems(inputs(at(1), { connection: { port: 0 } })), /^connection has a port that/);
    assert.match(problems(inputs(at(1), { withinSeconds: 0 })), /^withinSeconds must be a number of seconds above 0/);
  });

  it("plans nothing for the same access, and in a preview says nothing of one that is unknown", async () => {
    const { outputs } = await verify(at(1));
    assert.deepEqual(plan(outputs, inputs(at(1), { withinSeconds: 9, connection: { port: 1 } })), { changes: false });
    assert.deepEqual(plan(outputs, { access: unknown }), { changes: true });
    assert.deepEqual(plan(undefined, inputs(at(1))), { changes: true });
    assert.deepEqual(plan(outputs, inputs({ ...at(1), id: "other" })), { changes: true });
  });

  it("refuses a damaged memory", async () => {
    const { outputs } = await verify(at(1));
    for (const memory of ["", "[]", `{"database db":1}`, outputs.memory.slice(0, -9)]) {
      assert.throws(() => plan({ ...outputs, memory }, inputs(at(1))), StateError);
    }
  });
});
