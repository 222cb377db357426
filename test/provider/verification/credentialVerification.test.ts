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
import { type CredentialVerificationOutputs } from "../../../provider/verification/httpVerification";
import { leaksOf } from "../../support/canaries";
import { asShown, FakeRun, isMadeUp, rejected } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { unknown } from "../../support/wire";

const { check, plan, apply } = asShown(credentialVerification);
const canary = (nth: number) => `canary-password-${nth}`;
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
const canaries = Object.fromEntries(numbers.map((nth) => [nth, canary(nth)]));

/** How an `access` differs from that of a saved password of a database, without a user. */
interface Said {
  readonly credential?: string;
  readonly user?: string;
  readonly formerUser?: string;
  readonly isUnsaved?: true;
  readonly salt?: string;
  /** Further parts of `access`, or others in place of those above. */
  readonly [name: string]: unknown;
}

/** What a rotation says of its secret after the nth reset, which has replaced the one before. */
const accessOf = (nth: number, { user, formerUser, isUnsaved, salt = "s".repeat(22), ...others }: Said = {}) => {
  const { credential: name = "password", ...more } = others;
  const marked = (of: number, username?: string) => ({ name, mark: saltedMark(salt, canary(of)), username });
  return {
    ...{ id: "db", of: "PasswordRotation", count: nth, salt },
    record: { endpoint: "db.example.com", port: 6379, tls: true },
    current: { ...marked(nth, user), ...(!isUnsaved && { value: canary(nth) }) },
    ...(nth > 1 && { former: marked(nth - 1, formerUser) }),
    ...more,
  };
};

const rest = { credential: "restToken" };
const index = { credential: "token", of: "SearchTokenRotation", restUrl: "https://index.example.com/" };
const queue = { credential: "token", of: "QueueTokenRotation" };
/** The user was another one before. */
const unsaved = { isUnsaved: true, user: "ops", formerUser: "old" } as const;
const retire = { formers: [{ retireHash: "hash", since: "2026-01-01T00:00:00.000Z", validFor: "retirement" }] };
const otherSalt = "t".repeat(22);

const accepted = { kind: "accepted" } as const;
const busy = { kind: "unknown", why: "it is busy" } as const;
const refused = { kind: "refused", words: "WRONGPASS no" } as const;
/** What was tried: the number of the credential, after the user if there is one. */
const shown = ({ value, username }: Credential) => {
  const nth = isMadeUp(value) ? "wrong" : value.replace("canary-password-", "");
  return username ? `${username}:${nth}` : nth;
};

/** One verification, which starts from the state that the step before saved. */
interface Step extends Said {
  readonly nth: number;
  /** What the server accepts: numbers of credentials, or a function. Default: nothing. */
  readonly accepts?: readonly number[] | FakeRun["probe"];
  /** The number of the password that a read shows. Default: the current one. */
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

const first: Step = { nth: 1, accepts: [1] };
const waits: Step = {
  ...{ nth: 2, current: undefined, former: undefined },
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
    { nth: 2, accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "claims nothing of what it has verified for another rotation, whose marks have another salt": [
    { nth: 3, accepts: [3] },
    { nth: 3, count: 1, salt: otherSalt, accepts: [2, 3], tried: "3 wrong" },
    { nth: 4, count: 1, salt: otherSalt, accepts: [4], tried: "4 wrong 3", formerRefused: true },
  ],
  "tries what someone else has replaced: another mark with the same count": [
    first,
    { nth: 2, count: 1, accepts: [2], tried: "2 wrong 1", formerRefused: true },
  ],
  "reports why a password could not be tried": [
    { nth: 1, accepts: only("2"), fails: /the new password could not .* busy/ },
    { nth: 1, accepts: only("1"), fails: /a wrong password could not .* busy/ },
    { nth: 1, accepts: [1] },
    { nth: 2, accepts: only("2"), fails: /a wrong password could not .* busy/ },
    { nth: 2, accepts: [1, 2], fails: /an old password is still accepted.*whether the reset was applied/s },
    { nth: 2, accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "claims nothing without a credential, and remembers the former one for the next reset": [
    first,
    waits,
    { nth: 2, accepts: [2], tried: "2 wrong 1", formerRefused: true },
  ],
  "tries a password as the user it belonged to, and a wrong one as the current user": [
    { nth: 1, user: "old", accepts: [1], tried: "old:1 old:wrong" },
    { nth: 2, user: "new", accepts: [2], tried: "new:2 new:wrong old:1", formerRefused: true },
    {
      nth: 3,
      user: "newer",
      accepts: ({ credential }) => (shown(credential).startsWith("newer") ? accepted : refused),
      fails: /the database is open to everyone: it accepts any password \(rediss:\/\/db\.example\.com:6379\)/,
    },
  ],
  "names a REST token, and does not compare it with a password": [
    {
      nth: 1,
      ...rest,
      fails: /^(?!.*(password|rediss)).*new REST token is refused.*\(https:\/\/db\.example\.com:443\)/s,
    },
    { nth: 1, ...rest, accepts: [1] },
    { nth: 2, accepts: [1, 2], tried: "2 wrong" },
  ],
  "names an index and its address": [
    {
      nth: 1,
      ...index,
      fails: /^(?!.*(password|connection|database)).*new token is refused.*the endpoint in its record\./s,
    },
    { nth: 1, ...index, accepts: [1], tried: "1 wrong" },
    {
      nth: 2,
      ...index,
      accepts: [1, 2],
      fails: /search index "db": an old token .*\(https:\/\/index\.example\.com\)/,
    },
  ],
  "names the queue and its address": [
    {
      nth: 1,
      ...queue,
      accepts: () => busy,
      fails: /^(?!.*(password|connection|database)).*rekey:queueUrl.* the queue is/s,
    },
    {
      nth: 1,
      ...queue,
      accepts: () => accepted,
      fails: /the queue is open .* any token \(https:\/\/queue\.example\.com\)/,
    },
  ],
  "needs the URL of an index, or the port of a database": [
    {
      nth: 1,
      ...index,
      restUrl: undefined,
      tried: "",
      fails: /record of search index "db" has no usable endpoint/,
    },
    { nth: 1, record: { endpoint: "x" }, tried: "", fails: /port is unknown .*Set connection on the/s },
  ],
  "reads one that is not saved, and tries the former one only in the run that replaced it": [
    { nth: 2, ...unsaved, accepts: [2], replaced: [8, 1, 1], tried: "ops:2 ops:wrong old:1", formerRefused: true },
    { nth: 3, ...unsaved, accepts: [3], replaced: [2], tried: "ops:3 ops:wrong old:2", formerRefused: true },
    { nth: 4, ...unsaved, accepts: [4], tried: "ops:4 ops:wrong" },
  ],
  "reports that a former one which is not saved still works until the next reset, because no later run can try it": [
    { nth: 1, ...unsaved, accepts: [1] },
    { nth: 2, ...unsaved, accepts: () => accepted, replaced: [1], tried: "ops:2 ops:wrong", fails: /open to everyone/ },
    { nth: 3, ...unsaved, accepts: [2, 3], replaced: [2], fails: /old password is still .* no later run can try it/s },
    { nth: 3, ...unsaved, accepts: [3], tried: "", fails: /old password is still .*fails again.* Set a new version/s },
    { nth: 4, ...unsaved, accepts: [4], replaced: [3], tried: "ops:4 ops:wrong old:3" },
  ],
  "forgets the value of one that is not saved any more": [
    { nth: 1, user: "ops", accepts: [1], saves: [1] },
    { nth: 1, ...unsaved, accepts: [1], tried: "ops:1 ops:wrong" },
  ],
  "tries one that was saved before, and forgets its value even if the new one is not shown": [
    { nth: 1, user: "ops", accepts: [1], saves: [1] },
    { nth: 2, ...unsaved, accepts: [2], replaced: [1], tried: "ops:2 ops:wrong ops:1", formerRefused: true },
    { nth: 3, user: "ops", accepts: [3], saves: [3] },
    { nth: 4, ...unsaved, shows: 1, tried: "", fails: /is not saved, and the platform does not show it/ },
    { nth: 4, ...unsaved, accepts: [4], tried: "ops:4 ops:wrong" },
  ],
  "claims nothing about the password of a reset that it did not verify": [
    first,
    { nth: 3, fails: /refused/ },
    { nth: 4, accepts: [4], tried: "4 wrong 1" },
    { nth: 5, accepts: [5], formerRefused: true },
    { nth: 7, ...unsaved, accepts: [7], replaced: [6], tried: "ops:7 ops:wrong 5 old:6" },
  ],
  "does not try a former one that is valid, and tries it once it is retired": [
    first,
    { nth: 2, retire, accepts: [1, 2], tried: "2 wrong", saves: [1] },
    { nth: 2, accepts: [1, 2], fails: /an old password is still accepted/ },
    { nth: 2, accepts: [2], tried: "2 wrong 1", formerRefused: true, saves: [2] },
  ],
  "does not know one that is not saved while the former one is valid, because no read shows it": [
    { nth: 2, ...unsaved, retire, tried: "", warns: /the current credential is not known, or not saved/ },
    { nth: 2, ...unsaved, accepts: [2], tried: "ops:2 ops:wrong" },
  ],
  "claims nothing of another secret that it has verified": [
    { nth: 2, accepts: [2] },
    { nth: 2, id: "other", accepts: [1, 2], tried: "2 wrong" },
  ],
  "says of each one that is not known that it is not verified": [first, waits, { ...waits, nth: 3 }],
  "claims nothing about what was replaced if that is not known": [
    first,
    { nth: 2, former: undefined, accepts: [2], tried: "2 wrong 1" },
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
    const text = JSON.stringify(said);
    if (text.includes('"current"') && !text.includes("canary")) assert.deepEqual(valuesIn(outputs), []);
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
        const { nth, accepts, shows = nth, replaced = [], fails = /^$/, warns = /^$/, ...others } = step;
        const { tried: tries, formerRefused, saves, ...of } = others;
        const said = accessOf(nth, of);
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
        if (tries !== undefined) assert.ok(step.fails && tries ? line.startsWith(tries) : line === tries, line);
        if (!message) assertFields(outputs, { verified: !step.warns, formerRefused });
        if (saves) assert.deepEqual(valuesIn(outputs), saves);
        saved = outputs;
      }
    });
  }

  it("repeats until withinSeconds have passed, and waits longer each time", async () => {
    fake.probe = ({ credential }) => (fake.waits.length < 3 ? refused : accepting([1])({ credential } as ProbeRequest));
    assert.equal((await verify(accessOf(1), undefined, { withinSeconds: 30 })).outputs.verified, true);
    assert.deepEqual(fake.waits, [200, 400, 800]);
    fake.waits.length = 0;
    fake.probe = () => refused;
    await verify(accessOf(2), undefined, { withinSeconds: 1 });
    assert.deepEqual(fake.waits, [200, 400, 400], "the last attempt is at the end of the time");
    fake.waits.length = 0;
    await verify(accessOf(3), undefined, { withinSeconds: 30 });
    assert.deepEqual(fake.waits, [200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 3800]);
  });

  it("uses its own connection before that of the rotation, and what is unset in it from there", async () => {
    const placed = async (said: object, connection: AccessInputs["connection"]) => {
      await verify(said, undefined, { connection });
      const [{ endpoint, credential } = assert.fail()] = fake.probes.splice(0);
      return { endpoint, user: credential.username };
    };
    const given = accessOf(1, { user: "ops", connection: { host: "own", port: 7 } });
    assert.deepEqual(await placed(given, null), { endpoint: { host: "own", port: 7, tls: true }, user: "ops" });
    assert.deepEqual(await placed(given, { host: "{endpoint}.internal", username: "me-{id}", port: null }), {
      endpoint: { host: "db.example.com.internal", port: 7, tls: true },
      user: "me-db",
    });
    // The port that a rotation sets is that of Redis.
    const ofRest = accessOf(1, { ...rest, connection: { host: "own", port: 7 } });
    assert.deepEqual((await placed(ofRest, null)).endpoint, { host: "own", port: 443, tls: true });
    const local = { host: "localhost", port: 8079, tls: false };
    assert.deepEqual((await placed(accessOf(1, rest), local)).endpoint, local);
  });

  describe("of a password that is not saved", () => {
    it("is waited for, and is read once", async () => {
      fake.canRead = true;
      fake.readDatabase = () => ({ credentials: { password: canary(fake.reads.length < 3 ? 1 : 2) } });
      fake.probe = () => refused;
      await verify(accessOf(2, unsaved), undefined, { withinSeconds: 9 });
      assert.deepEqual([fake.reads.length, tried().length], [3, 7]);
    });

    it("cannot be verified if it cannot be read", async () => {
      const { message } = await verify(accessOf(2, unsaved));
      assert.match(message, /is not saved, and this platform cannot be read.*Set rekey:databasePath, or remove/s);
      assert.deepEqual([tried(), fake.reads, fake.waits], [[], [], []]);
      fake.canRead = true;
      fake.readDatabase = () => rejected();
      assert.match(
        (await verify(accessOf(2, unsaved))).message,
        /is not saved, and could not be read: it broke.*Fix it/s,
      );
    });
  });

  describe("of a fleet", () => {
    const ids = Array.from({ length: 60 }, (_, index) => `db-${index}`);
    const fleet = (nth: number, more: Readonly<Record<string, object>> = {}) =>
      Object.fromEntries(ids.map((id) => [`name of ${id}`, accessOf(nth, { id, ...more[id] })]));
    const ownersTried = () => [...new Set(fake.probes.splice(0).map(({ owner }) => owner))];

    it("contacts what was reset or failed, and knows a database by its id", async () => {
      const { outputs } = await verify(fleet(1));
      assert.equal(ownersTried().length, 60);
      fake.probe = (request) => (request.owner.includes("db-7") ? busy : accepting([2])(request));
      const more = Object.fromEntries(["db-7", "db-8"].map((id) => [id, accessOf(2, { id })]));
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
      const gap = fleet(2, { "db-7": accessOf(3, { id: "db-7" }) });
      assertFields((await verify(gap, unconfirmed.outputs)).outputs, { verified: true, formerRefused: undefined });
    });

    it("names 20 of those that failed", async () => {
      fake.probe = () => busy;
      const { message } = await verify(fleet(1));
      assert.match(message, /^Not verified:(\n {2}"[^\n]*){20}\n {2}and 40 more\n/);
    });
  });

  const far = { host: "db.example.com", tls: false };
  const near = { connection: { tls: false } };
  const isNone = /^access must be the output `access` of a rotation or a fleet\. /;
  const isPlain = /^connection\.tls must not be false unless host is this machine/;
  /** Inputs, and what is wrong with them. */
  const given: Readonly<Record<string, readonly [given: object, says?: RegExp]>> = {
    "no access": [{}, /^access is required/],
    "a text": [{ access: "p" }, isNone],
    "a list": [{ access: "[]" }, isNone],
    "a number": [{ access: 7 }, isNone],
    "a record": [{ access: JSON.stringify({ host: "x" }) }, isNone],
    "an access of another kind": [inputs(accessOf(1, { of: "house" })), isNone],
    "a connection": [inputs(accessOf(1), { connection: { port: 1 } })],
    "a fleet": [inputs({ id: accessOf(1) }, { connection: { port: 1 } })],
    "an empty fleet": [inputs({}, { connection: { port: 1 } })],
    "what is not known": [{ access: unknown, connection: { port: 1 }, withinSeconds: unknown }],
    "plain text": [inputs(accessOf(1), { connection: far }), isPlain],
    "plain text in a fleet": [inputs({ first: accessOf(1, { connection: { host: far.host } }) }, near), isPlain],
    "plain text of a REST token": [inputs(accessOf(1, rest), { connection: far }), isPlain],
    "plain text, while the access is not known": [{ access: unknown, connection: far }, isPlain],
    "plain text, while the host is not known": [{ access: unknown, ...near }],
    "plain text on this machine": [inputs(accessOf(1, { connection: { host: "localhost" } }), near)],
    "plain text, if no connection names a host": [inputs(accessOf(1), near)],
    "plain text, which an index does not use": [inputs(accessOf(1, index), near)],
    "a port of 0": [inputs(accessOf(1), { connection: { port: 0 } }), /^connection\.port /],
    "no time": [inputs(accessOf(1), { withinSeconds: 0 }), /^withinSeconds must be a number of seconds above 0/],
  };
  for (const [what, [all, says]] of Object.entries(given)) {
    it(`${says ? "refuses" : "accepts"} ${what}`, () =>
      assert.match(check(all as CredentialVerificationInputs).join("\n"), says ?? /^$/));
  }

  it("plans nothing for the same access, and in a preview says nothing of one that is unknown", async () => {
    const { outputs } = await verify(accessOf(1));
    const same = inputs(accessOf(1), { withinSeconds: 9, connection: { port: 1 } });
    assert.deepEqual(plan(outputs, same), { changes: false });
    assert.deepEqual(plan(outputs, { access: unknown }), { changes: true });
    assert.deepEqual(plan(undefined, inputs(accessOf(1))), { changes: true });
    assert.deepEqual(plan(outputs, inputs(accessOf(1, { id: "other" }))), { changes: true });
  });

  it("verifies again what is damaged, and claims nothing from it", async () => {
    const { outputs } = await verify(accessOf(1));
    for (const memory of ["", "[]", `{"database db":1}`, outputs.memory.slice(0, -9)]) {
      assert.equal(plan({ ...outputs, memory }, inputs(accessOf(1))).changes, true);
      fake.probe = accepting([2]);
      const again = await verify(accessOf(2), { ...outputs, memory });
      assertFields(again.outputs, { verified: true, formerRefused: undefined });
    }
  });
});
