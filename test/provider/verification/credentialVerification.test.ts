import assert from "node:assert/strict";
import { type Credential } from "../../../provider/domain/endpoint";
import { type ProbeRequest } from "../../../provider/clients/probe";
import { RekeyError } from "../../../provider/domain/errors";
import { databasePassword, secretOf } from "../../../provider/domain/secretKind";
import { saltedMark } from "../../../provider/rotation/memory/marks";
import {
  credentialVerification,
  type AccessInputs,
  type CredentialVerificationInputs,
} from "../../../provider/verification/credentialVerification";
import { type CredentialVerificationOutputs } from "../../../provider/verification/outputs";
import { leaksOf } from "../../support/canaries";
import { asShown, FakeRun, isMadeUp, rejected } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { unknown } from "../../support/wire";

const { check, plan, apply } = asShown(credentialVerification);
const canary = (nth: number) => `canary-password-${nth}`;
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
const canaries = Object.fromEntries(numbers.map((nth) => [nth, canary(nth)]));

/** What a rotation says of its secret after so many resets. */
interface Said {
  readonly id: string;
  readonly count: number;
  readonly [name: string]: unknown;
}

const record = { endpoint: "db.example.com", port: 6379, tls: true };
const none: Said = { id: "db", of: "PasswordRotation", count: 1, salt: "s".repeat(22), record };
const marked = (name: string, nth: number, salt = String(none["salt"]), more: object = {}) => {
  return { name, mark: saltedMark(salt, canary(nth)), ...more };
};
/** After the nth reset, which has replaced the one before. */
const of = (name: string, nth: number, more: object = {}): Said => ({
  ...none,
  count: nth,
  current: { ...marked(name, nth), value: canary(nth) },
  ...(nth > 1 && { former: marked(name, nth - 1) }),
  ...more,
});
/** After the nth reset, whose password is saved. */
const at = (nth: number, more: object = {}) => of("password", nth, more);
const rest = (nth: number) => of("restToken", nth);
const ofIndex = (nth: number) => of("token", nth, { of: "SearchTokenRotation", restUrl: "https://index.example.com/" });
const ofQueue = (nth: number) => of("token", nth, { of: "QueueTokenRotation" });
/** As `at`, if the password is not saved. The user was another one before. */
const unsaved = (nth: number, more: object = {}): Said => {
  const [username, before] = ["ops", "old"];
  return at(nth, {
    current: { ...marked("password", nth), username },
    ...(nth > 1 && { former: { ...marked("password", nth - 1), username: before } }),
    ...more,
  });
};
const since = "2026-01-01T00:00:00.000Z";
const retire = { formers: [{ retireHash: "hash", since, validFor: "retirement" }] };
/** As `at`, with a user. */
const asUser = (username: string, nth: number, more: object = {}) => {
  return at(nth, { current: { ...marked("password", nth), value: canary(nth), username }, ...more });
};
/** As `at`, from another rotation of the same database. */
const replacedRotation = (nth: number, count: number) => {
  const salt = "t".repeat(22);
  const former = count > 0 && { former: marked("password", nth - 1, salt) };
  return {
    ...at(nth),
    former: undefined,
    count,
    salt,
    current: marked("password", nth, salt, { value: canary(nth) }),
    ...former,
  };
};

const accepted = { kind: "accepted" } as const;
const busy = { kind: "unknown", why: "it is busy" } as const;
const refused = { kind: "refused", words: "WRONGPASS no" } as const;
/** What was tried: the number of the credential, after the user if there is one. */
const shown = ({ value, username }: Credential) => {
  const nth = isMadeUp(value) ? "wrong" : value.replace("canary-password-", "");
  return username ? `${username}:${nth}` : nth;
};

/** One verification, which starts from the state that the step before saved. */
interface Step {
  readonly said: Said;
  /** What the server accepts: numbers of credentials, or a function. Default: nothing. */
  readonly accepts?: readonly number[] | FakeRun["probe"];
  /** The number of the password that a read shows. Default: that of `said`. */
  readonly shows?: number;
  /** The numbers of the passwords that resets of the run have replaced. */
  readonly replaced?: readonly number[];
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
  warns: /the current credential is not known, or not saved and not shown: database "db"\./,
};
/** What responds to the nth credential only. */
const only = (nth: string): FakeRun["probe"] => {
  return ({ credential }) => (shown(credential) === nth ? accepted : busy);
};

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  "tries the new password, a wrong one, and then the former one": [
    { ...first, tried: "1 wrong", saves: [1] },
    { said: at(2), accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "claims nothing of what it has verified for another rotation, whose marks have another salt": [
    { said: at(3), accepts: [3] },
    { said: replacedRotation(3, 1), accepts: [2, 3], tried: "3 wrong" },
    { said: replacedRotation(4, 1), accepts: [4], tried: "4 wrong 3", formerRefused: true },
  ],
  "tries what someone else has replaced: another mark with the same count": [
    first,
    { said: at(2, { count: 1 }), accepts: [2], tried: "2 wrong 1", formerRefused: true },
  ],
  "reports why a password could not be tried": [
    { said: at(1), accepts: only("2"), fails: /the new password could not .* busy/ },
    { said: at(1), accepts: only("1"), fails: /a wrong password could not .* busy/ },
    { said: at(1), accepts: [1] },
    { said: at(2), accepts: only("2"), fails: /a wrong password could not .* busy/ },
    { said: at(2), accepts: [1, 2], fails: /an old password is still accepted.*whether the reset was applied/s },
    { said: at(2), accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "claims nothing without a credential, and remembers the former one for the next reset": [
    first,
    waits,
    { said: at(2), accepts: [2], tried: "2 wrong 1", formerRefused: true },
  ],
  "tries a password as the user it belonged to, and a wrong one as the current user": [
    { said: asUser("old", 1), accepts: [1], tried: "old:1 old:wrong" },
    { said: asUser("new", 2), accepts: [2], tried: "new:2 new:wrong old:1", formerRefused: true },
    {
      said: asUser("newer", 3),
      accepts: ({ credential }) => (shown(credential).startsWith("newer") ? accepted : refused),
      fails: /the database is open to everyone: it accepts any password \(rediss:\/\/db\.example\.com:6379\)/,
    },
  ],
  "names a REST token, and does not compare it with a password": [
    {
      said: rest(1),
      fails: /^(?!.*(password|rediss)).*new REST token is refused.*\(https:\/\/db\.example\.com:443\)/s,
    },
    { said: rest(1), accepts: [1] },
    { said: at(2), accepts: [1, 2], tried: "2 wrong" },
  ],
  "names an index and its address": [
    {
      said: ofIndex(1),
      fails: /^(?!.*(password|connection|database)).*new token is refused.*the endpoint in its record\./s,
    },
    { said: ofIndex(1), accepts: [1], tried: "1 wrong" },
    {
      said: ofIndex(2),
      accepts: [1, 2],
      fails: /search index "db": an old token .*\(https:\/\/index\.example\.com\)/,
    },
  ],
  "names the queue and its address": [
    {
      said: ofQueue(1),
      accepts: () => busy,
      fails: /^(?!.*(password|connection|database)).*rekey:queueUrl.* the queue is/s,
    },
    {
      said: ofQueue(1),
      accepts: () => accepted,
      fails: /the queue is open .* any token \(https:\/\/queue\.example\.com\)/,
    },
  ],
  "needs the URL of an index, or the port of a database": [
    {
      said: { ...ofIndex(1), restUrl: undefined },
      tried: "",
      fails: /record of search index "db" has no usable endpoint/,
    },
    { said: at(1, { record: { endpoint: "x" } }), tried: "", fails: /port is unknown .*Set connection on the/s },
  ],
  "reads one that is not saved, and tries the former one only in the run that replaced it": [
    { said: unsaved(2), accepts: [2], replaced: [8, 1, 1], tried: "ops:2 ops:wrong old:1", formerRefused: true },
    { said: unsaved(3), accepts: [3], replaced: [2], tried: "ops:3 ops:wrong old:2", formerRefused: true },
    { said: unsaved(4), accepts: [4], tried: "ops:4 ops:wrong" },
  ],
  "reports that a former one which is not saved still works until the next reset, because no later run can try it": [
    { said: unsaved(1), accepts: [1] },
    { said: unsaved(2), accepts: () => accepted, replaced: [1], tried: "ops:2 ops:wrong", fails: /open to everyone/ },
    { said: unsaved(3), accepts: [2, 3], replaced: [2], fails: /old password is still .* no later run can try it/s },
    { said: unsaved(3), accepts: [3], tried: "", fails: /old password is still .*fails again.* Set a new version/s },
    { said: unsaved(4), accepts: [4], replaced: [3], tried: "ops:4 ops:wrong old:3" },
  ],
  "forgets the value of one that is not saved any more": [
    { said: asUser("ops", 1), accepts: [1], saves: [1] },
    { said: unsaved(1), accepts: [1], tried: "ops:1 ops:wrong" },
  ],
  "tries one that was saved before, and forgets its value even if the new one is not shown": [
    { said: asUser("ops", 1), accepts: [1], saves: [1] },
    { said: unsaved(2), accepts: [2], replaced: [1], tried: "ops:2 ops:wrong ops:1", formerRefused: true },
    { said: asUser("ops", 3), accepts: [3], saves: [3] },
    { said: unsaved(4), shows: 1, tried: "", fails: /is not saved, and the platform does not show it/ },
    { said: unsaved(4), accepts: [4], tried: "ops:4 ops:wrong" },
  ],
  "claims nothing about the password of a reset that it did not verify": [
    first,
    { said: at(3), fails: /refused/ },
    { said: at(4), accepts: [4], tried: "4 wrong 1" },
    { said: at(5), accepts: [5], formerRefused: true },
    { said: unsaved(7), accepts: [7], replaced: [6], tried: "ops:7 ops:wrong 5 old:6" },
  ],
  "does not try a former one that is valid, and tries it once it is retired": [
    first,
    { said: at(2, { retire }), accepts: [1, 2], tried: "2 wrong", saves: [1] },
    { said: at(2), accepts: [1, 2], fails: /an old password is still accepted/ },
    { said: at(2), accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "does not know one that is not saved while the former one is valid, because no read shows it": [
    { said: unsaved(2, { retire }), tried: "", warns: /the current credential is not known, or not saved/ },
    { said: unsaved(2), accepts: [2], tried: "ops:2 ops:wrong" },
  ],
  "claims nothing of another secret that it has verified": [
    { said: at(2), accepts: [2] },
    { said: at(2, { id: "other" }), accepts: [1, 2], tried: "2 wrong" },
  ],
  "claims nothing about what was replaced if that is not known": [
    first,
    { said: at(2, { former: undefined }), accepts: [2], tried: "2 wrong 1" },
  ],
};

describe("verification: CredentialVerification", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  const inputs = (said: object, more: Partial<AccessInputs> = {}): AccessInputs => {
    return { access: JSON.stringify(said), withinSeconds: 0.1, ...more };
  };
  const accepting = (accepts: Step["accepts"] = []): FakeRun["probe"] =>
    typeof accepts === "function"
      ? accepts
      : ({ credential }) => (accepts.map(canary).includes(credential.value) ? accepted : refused);
  const tried = () => fake.probes.splice(0).map(({ credential }) => shown(credential));
  const valuesIn = (outputs: object) => numbers.filter((nth) => JSON.stringify(outputs).includes(canary(nth)));

  /** Verifies, and checks what holds for each result. */
  async function verify(
    said: object,
    saved?: CredentialVerificationOutputs,
    more: Partial<AccessInputs> = {},
    run = fake.start(),
  ) {
    const { outputs, failure, message = "", warning = "" } = await apply(saved, inputs(said, more), run);
    const { verified, verifiedAt, formerRefused } = outputs;
    const isNotSaved = "current" in said && !JSON.stringify(said).includes("canary");
    if (isNotSaved) assert.deepEqual(valuesIn(outputs), []);
    assert.equal(plan(outputs, inputs(said)).changes, failure !== undefined, "only a failure is tried again");
    if (failure) {
      assert.ok(failure instanceof RekeyError);
      assert.deepEqual(
        { verified, verifiedAt, formerRefused },
        { verified: false, verifiedAt: saved?.verifiedAt, formerRefused: undefined },
      );
      assert.match(message, /rotation itself is saved\. .* The next `up` (verifies|fails) again and resets nothing/);
    }
    const madeUp = fake.probes.map(({ credential }) => credential.value).filter(isMadeUp);
    assert.deepEqual(leaksOf(message + warning, { ...canaries, ...Object.fromEntries(madeUp.entries()) }), []);
    return { outputs, message, warning };
  }

  for (const [title, steps] of Object.entries(scenarios)) {
    it(title, async () => {
      let saved: CredentialVerificationOutputs | undefined;
      for (const step of steps) {
        const { said, accepts, shows = said.count, replaced = [], fails = /^$/, warns = /^$/ } = step;
        fake = new FakeRun();
        fake.probe = accepting(accepts);
        fake.canRead = true;
        fake.readDatabase = () => ({ credentials: { password: canary(shows) } });
        const run = fake.start();
        const all = replaced.map((nth) => ({ password: canary(nth), restToken: "other" }));
        run.shared.replacedValues.set(secretOf({ kind: databasePassword, id: "db" }), all);
        if (saved) assert.equal(plan(saved, inputs(said)).changes, true);
        const { outputs, message, warning } = await verify(said, saved, {}, run);
        assert.match(message, fails);
        assert.match(warning, warns);
        const line = tried().join(" ");
        if (step.tried !== undefined) {
          assert.ok(step.fails && step.tried ? line.startsWith(step.tried) : line === step.tried, line);
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
    assert.deepEqual(fake.waits, [200, 400, 400], "the last attempt is at the end of the time");
    fake.waits.length = 0;
    await verify(at(3), undefined, { withinSeconds: 30 });
    assert.deepEqual(fake.waits, [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 3800]);
  });

  it("uses its own connection before that of the rotation, and what is unset in it from there", async () => {
    const placed = async (said: object, connection: AccessInputs["connection"]) => {
      await verify(said, undefined, { connection });
      const [{ endpoint, credential } = assert.fail()] = fake.probes.splice(0);
      return { endpoint, user: credential.username };
    };
    const given = asUser("ops", 1, { connection: { host: "own", port: 7 } });
    assert.deepEqual(await placed(given, null), { endpoint: { host: "own", port: 7, tls: true }, user: "ops" });
    assert.deepEqual(await placed(given, { host: "{endpoint}.internal", username: "me-{id}", port: null }), {
      endpoint: { host: "db.example.com.internal", port: 7, tls: true },
      user: "me-db",
    });
    // The port that a rotation sets is that of Redis.
    const ofRest = of("restToken", 1, { connection: { host: "own", port: 7 } });
    assert.deepEqual((await placed(ofRest, null)).endpoint, { host: "own", port: 443, tls: true });
    const local = { host: "localhost", port: 8079, tls: false };
    assert.deepEqual((await placed(rest(1), local)).endpoint, local);
  });

  describe("of a password that is not saved", () => {
    it("is waited for, and is read once", async () => {
      fake.canRead = true;
      fake.readDatabase = () => ({ credentials: { password: canary(fake.reads.length < 3 ? 1 : 2) } });
      fake.probe = () => refused;
      await verify(unsaved(2), undefined, { withinSeconds: 9 });
      assert.deepEqual([fake.reads.length, tried().length], [3, 7]);
    });

    it("cannot be verified if it cannot be read", async () => {
      const { message } = await verify(unsaved(2));
      assert.match(message, /is not saved, and this platform cannot be read.*Set rekey:databasePath, or remove/s);
      assert.deepEqual([tried(), fake.reads, fake.waits], [[], [], []]);
      fake.canRead = true;
      fake.readDatabase = () => rejected();
      assert.match((await verify(unsaved(2))).message, /is not saved, and could not be read: it broke.*Fix it/s);
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
      assert.match(failed.message, /^Not verified:\n {2}"name of db-7": the new [^\n]*\nThe rotation itself/);
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
      assert.equal(unconfirmed.outputs.formerRefused, undefined);
      assert.match(
        unconfirmed.warning,
        /^Not verified, because the current credential is not known, or not saved and not shown: "name of db-7"\.$/,
      );
      assertFields(unconfirmed.outputs, { verified: false, verifiedAt: outputs.verifiedAt });
      assert.equal(fake.probes.length, 0);
      fake.probe = accepting([2]);
      assertFields((await verify(fleet(2), unconfirmed.outputs)).outputs, { verified: true, formerRefused: true });
      fake.probe = accepting([2, 3]);
      const gap = fleet(2, { "db-7": { ...at(3), id: "db-7" } });
      assertFields((await verify(gap, unconfirmed.outputs)).outputs, { verified: true, formerRefused: undefined });
    });

    it("names 20 of those that failed", async () => {
      fake.probe = () => busy;
      const { message } = await verify(fleet(1));
      assert.match(message, /^Not verified:(\n {2}"[^\n]*){20}\n {2}and 40 more\n/);
    });
  });

  it("accepts the output access only", () => {
    const problems = (given: object) => check(given as CredentialVerificationInputs).join("\n");
    assert.match(problems({}), /^access is required/);
    for (const access of ["p", "[]", 7, JSON.stringify({ host: "x" }), JSON.stringify(at(1, { of: "house" }))]) {
      assert.match(problems({ access }), /^access must be the output `access` of a rotation or a fleet\. /);
    }
    const connection = { port: 1 };
    for (const said of [at(1), { id: at(1) }, {}]) assert.equal(problems(inputs(said, { connection })), "");
    assert.equal(problems({ access: unknown, connection, withinSeconds: unknown }), "");
    const tls = false;
    for (const [said, own] of [
      [at(1), { host: "db.example.com", tls }],
      [{ first: at(1, { connection: { host: "db.example.com" } }) }, { tls }],
      [rest(1), { host: "db.example.com", tls }],
    ] as const) {
      const refused = /^connection is invalid: its tls must not be false unless host is this machine/;
      assert.match(problems(inputs(said, { connection: own })), refused, JSON.stringify([said, own]));
    }
    assert.match(
      problems({ access: unknown, connection: { host: "db.example.com", tls } }),
      /^connection is invalid: its tls/,
    );
    assert.equal(problems({ access: unknown, connection: { tls } }), "");
    const localHost = { connection: { host: "localhost" } };
    for (const said of [at(1, localHost), at(1), ofIndex(1)]) {
      assert.equal(problems(inputs(said, { connection: { tls } })), "", JSON.stringify(said));
    }
    assert.match(problems(inputs(at(1), { connection: { port: 0 } })), /^connection is invalid: its port /);
    assert.match(problems(inputs(at(1), { withinSeconds: 0 })), /^withinSeconds must be a number of seconds above 0/);
  });

  it("plans nothing for the same access, and in a preview says nothing of one that is unknown", async () => {
    const { outputs } = await verify(at(1));
    assert.deepEqual(plan(outputs, inputs(at(1), { withinSeconds: 9, connection: { port: 1 } })), { changes: false });
    assert.deepEqual(plan(outputs, { access: unknown }), { changes: true });
    assert.deepEqual(plan(undefined, inputs(at(1))), { changes: true });
    assert.deepEqual(plan(outputs, inputs({ ...at(1), id: "other" })), { changes: true });
  });

  it("verifies again what is damaged, and claims nothing from it", async () => {
    const { outputs } = await verify(at(1));
    for (const memory of ["", "[]", `{"database db":1}`, outputs.memory.slice(0, -9)]) {
      assert.equal(plan({ ...outputs, memory }, inputs(at(1))).changes, true);
      fake.probe = accepting([2]);
      assertFields((await verify(at(2), { ...outputs, memory })).outputs, { verified: true, formerRefused: undefined });
    }
  });
});
