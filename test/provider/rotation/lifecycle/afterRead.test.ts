import assert from "node:assert/strict";
import { signingKeys } from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { type SecretResponse } from "../../../../provider/records/secretResponse";
import { afterRead } from "../../../../provider/rotation/lifecycle/afterRead";
import { type StateChange } from "../../../../provider/rotation/messages/findings";
import { credentialsIn, progressOf } from "../../../../provider/rotation/memory/state";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { readProgram } from "../../../../provider/rotation/program/program";
import { lastRollAt } from "../../../../provider/rotation/plan/signingKeys";
import { rejected } from "../../../support/fakeRun";
import { afterUp, isLost, type Made, RotatedSecret, timeAt } from "../../../support/rotatedSecret";

/** A record of generation n of a database. */
const all = (n: number): Credentials => ({ password: `p${n}`, restToken: `r${n}` });
/** The pair of signing keys after n - 1 rolls. */
const pair = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });
const adopting = { version: 1, initialRotation: false };
const here = { account: "a", address: "https://a" };

async function adoptedSecret(shows: Credentials): Promise<RotatedSecret> {
  const secret = new RotatedSecret();
  await secret.up(adopting, { shows, record: { port: 1 } });
  return secret;
}

async function afterRefresh(secret: Made, shows: Credentials): Made {
  const next = await secret;
  await next.refresh({ shows });
  return next;
}

/** At hour 1, for version 3, nothing comes back of a reset. */
const lostAfter = (shows: Credentials): Made =>
  afterUp(secrets.reset(), { version: 3 }, { shows, responds: isLost }, 1);
const resetting = { shows: all(1), showsAfter: all(2), responds: all(2), record: { port: 1 } };

/** Passwords by what happened to them. */
const secrets = {
  withPassword: () => adoptedSecret({ password: "p1" }),
  withToken: () => adoptedSecret({ restToken: "r1" }),
  withNothing: () => adoptedSecret({}),
  reset: () => afterUp(adoptedSecret(all(1)), { version: 2 }, resetting),
  changed: (): Made => afterRefresh(secrets.reset(), all(3)),
  unread: (): Made => afterUp(secrets.reset(), { version: 3 }, { shows: all(2), showsAfter: rejected }),
  withAnotherToken: (): Made => afterRefresh(secrets.withToken(), { password: "p9", restToken: "r2" }),
  lost: (): Made => lostAfter(all(2)),
  lostBlindly: (): Made => lostAfter({ restToken: "r2" }),
  lostAfterAnother: (): Made => lostAfter(all(3)),
};

function newKeys(): RotatedSecret {
  const secret = new RotatedSecret(signingKeys);
  secret.fake.queueAccount = here;
  return secret;
}

const lostRoll = (shows: Credentials, from = keys.rolled()): Made =>
  afterUp(from, { version: 3 }, { shows, responds: isLost }, 5);
const rolling = { shows: pair(1), showsAfter: pair(2), responds: pair(2) };

/** Pairs of signing keys by what happened to them. Rolls were sent at hour 2 and at hour 5. */
const keys = {
  withNothing: () => afterUp(new RotatedSecret(signingKeys), adopting, { shows: {} }),
  withHalf: () => afterUp(new RotatedSecret(signingKeys), adopting, { shows: { currentKey: "k1" } }),
  withoutAccount: () => afterUp(new RotatedSecret(signingKeys), adopting, { shows: pair(1) }),
  adopted: () => afterUp(newKeys(), adopting, { shows: pair(1) }),
  rolled: () => afterUp(keys.adopted(), { version: 2 }, rolling, 2),
  lost: (): Made => lostRoll(pair(2)),
  lostOfHalf: (): Made => lostRoll({ currentKey: "k1" }, keys.withHalf()),
  lostWithHalf: (): Made => lostRoll({ currentKey: "k2" }),
  lostBlindly: (): Made => lostRoll({}),
};

/** What is compared with a secret, by what happened to that. */
type Table<Secrets, Case> = { readonly [Of in keyof Secrets]?: Readonly<Record<string, Case>> };
type Makers = Readonly<Record<string, () => Promise<RotatedSecret>>>;

/** What one read shows. */
interface Read {
  readonly shown: Credentials;
  readonly record?: Readonly<Record<string, unknown>>;
  readonly findings: string;
  /** Default: what was saved before. */
  readonly saved?: Credentials;
}

const reads: Table<typeof secrets, Read> = {
  reset: {
    "nothing is said of what is unchanged": { shown: all(2), record: { port: 1 }, findings: "" },
    "a field that differs is named": { shown: all(2), record: { port: 2 }, findings: "drift: port" },
    "another token is saved": {
      shown: { ...all(3), password: "p2" },
      findings: "drift: restToken",
      saved: { ...all(3), password: "p2" },
    },
    "a token that is hidden stays": { shown: { password: "p2" }, findings: "notCompared" },
    "without the password, only fields are taken": {
      shown: { restToken: "r3" },
      record: { port: 2 },
      findings: "drift: port; notCompared",
    },
    "another password is saved": { shown: all(3), findings: "drift: password,restToken", saved: all(3) },
    "another password without a token is saved alone": {
      shown: { password: "p3" },
      findings: "drift: password; unknown: restToken",
      saved: { password: "p3" },
    },
    "a former password changes nothing": { shown: all(1), findings: "notCompared" },
  },
  withPassword: { "a token is saved": { shown: all(1), findings: "", saved: all(1) } },
  withNothing: { "both are saved": { shown: all(1), findings: "", saved: all(1) } },
  unread: {
    "what is hidden is not known": { shown: {}, findings: "unknown" },
    "what is shown is saved": { shown: all(3), findings: "", saved: all(3) },
  },
  lost: {
    "another password settles it": { shown: all(3), findings: "settled", saved: all(3) },
    "another password without a token settles it": {
      shown: { password: "p3" },
      findings: "settled; unknown: restToken",
      saved: { password: "p3" },
    },
    "what it is to replace leaves it open": { shown: all(2), findings: "" },
    "what was replaced before leaves it open, and may be the valid one": { shown: all(1), findings: "notCompared" },
    "another token leaves it open": { shown: { restToken: "r3" }, findings: "" },
  },
  lostBlindly: { "another password leaves it open": { shown: all(3), findings: "" } },
};

interface KeyRead extends Omit<Read, "record"> {
  readonly account?: typeof here;
  /** When the keys were last rolled, and how old both are, as far as known. Default: as before. */
  readonly rolledAt?: number;
  readonly ages?: readonly [current: number | undefined, next: number | undefined];
}

const drift = "drift: currentKey,nextKey";
const noticedOnce = { findings: drift, saved: pair(3), rolledAt: 6, ages: [2, undefined] } as const;
const others = { findings: drift, saved: pair(8), rolledAt: 6, ages: [undefined, undefined] } as const;
const there = { account: "b", address: "https://b" };

const keyReads: Table<typeof keys, KeyRead> = {
  withNothing: { "the first pair is saved, and no roll is noticed": { shown: pair(1), findings: "", saved: pair(1) } },
  withoutAccount: {
    "one roll by someone else is saved": {
      shown: pair(2),
      findings: drift,
      saved: pair(2),
      rolledAt: 6,
      ages: [undefined, undefined],
    },
  },
  lostOfHalf: {
    "another current key settles it, if no next one was known": {
      shown: pair(2),
      findings: "settled",
      saved: pair(2),
      ages: [undefined, 5],
    },
  },
  lost: {
    "what it is to replace leaves it open": { shown: pair(2), findings: "" },
    "the next pair settles it": { shown: pair(3), findings: "settled", saved: pair(3), ages: [2, 5] },
    "another pair ends it: someone else has rolled": { shown: pair(8), ...others },
    "half of another pair ends it, too, and the next key is not known": {
      ...{ ...others, shown: { currentKey: "k8" }, saved: { currentKey: "k8" } },
      findings: "drift: currentKey; unknown: nextKey",
    },
  },
  lostWithHalf: {
    "the next key as the current one settles it": {
      shown: { currentKey: "k3" },
      findings: "settled; unknown: nextKey",
      saved: { currentKey: "k3" },
      ages: [2, 5],
    },
  },
  lostBlindly: {
    "the next pair leaves it open": { shown: pair(3), findings: "" },
    "another pair ends it: someone else has rolled": { shown: pair(8), ...others },
  },
  rolled: {
    "one roll by someone else is saved, with the age of the current key": { shown: pair(3), ...noticedOnce },
    "two rolls by someone else are saved": { shown: pair(8), ...others },
    "a former pair changes nothing": { shown: pair(1), findings: "notCompared" },
    "another pair of another account is not compared": { shown: pair(20), account: there, findings: "notCompared" },
    "a known pair of another account shows that both are the same": { shown: pair(2), account: there, findings: "" },
    "the next pair of another account, too": { shown: pair(3), account: there, ...noticedOnce },
  },
};

/** `drift: password,restToken; notCompared` */
function findingsIn({ findings }: StateChange): string {
  return findings.map(({ kind, names = [] }) => kind + (names.length > 0 ? `: ${names.join()}` : "")).join("; ");
}

/** Tests all cases of a table, each with a separate secret. */
function eachIn<All extends Makers, Case>(
  all: All,
  table: Table<All, Case>,
  test: (secret: RotatedSecret, one: Case) => void,
): void {
  for (const [of, make] of Object.entries(all)) {
    for (const [title, one] of Object.entries<Case>(table[of] ?? {})) {
      it(`${of}: ${title}`, async () => test(await make(), one));
    }
  }
}

function response(credentials: Credentials): SecretResponse {
  return { record: {}, credentials, exactIntegers: {}, problems: [] };
}

describe("after a read: passwords", () => {
  eachIn(secrets, reads, (secret, { shown, record = {}, findings, saved }) => {
    const learned = afterRead(secret.state, { ...response(shown), record }, secret.context());
    assert.equal(findingsIn(learned), findings);
    assert.deepEqual(credentialsIn(learned.state), saved ?? secret.saved);
    const isOpen = secret.memory.attempt !== undefined && !findings.startsWith("settled");
    assert.equal(learned.state.memory.attempt !== undefined, isOpen);
  });

  it("of several lost resets in a row, the first gives the age, the reason and the trigger, the last the schedule", async () => {
    const secret = await secrets.lost();
    secret.hours = 4;
    await secret.up({ version: 3, rotateEvery: "1d" }, { shows: all(2), responds: isLost });
    secret.hours = 6;
    await secret.refresh({ shows: all(3) });
    const { rotatedAt, rotationReason, rotationCount, memory } = secret.state;
    const settled = {
      rotatedAt,
      rotationReason,
      rotationCount,
      age: memory.current.generatedAt,
      from: memory.scheduledFrom,
    };
    const [first, last] = [timeAt(1).toISOString(), timeAt(4).toISOString()];
    assert.deepEqual(settled, {
      rotatedAt: first,
      rotationReason: "trigger",
      rotationCount: 2,
      age: first,
      from: last,
    });
    assert.equal(
      planRotation(
        secret.state,
        readProgram({ version: 3, rotateEvery: "1d" }, secret.context().kind),
        secret.context(),
      ).kind,
      "keep",
    );
  });

  it("a lost reset for another version is the first of its own", async () => {
    const secret = await secrets.lost();
    await secret.up({ version: 4 }, { shows: all(2), responds: isLost });
    assert.equal(secret.memory.attempt?.count, 1);
    await secret.up({}, { shows: all(2), responds: isLost });
    assert.equal(secret.memory.attempt.count, 2, "without a version, it repeats the last one");
  });

  it("what a lost reset has generated is not older than rotatedSince, by whatever clock", async () => {
    const secret = await secrets.reset();
    secret.hours = 1;
    const desired = { version: 2, rotatedSince: timeAt(1.05).toISOString() };
    await secret.up(desired, { shows: all(2), responds: isLost });
    await secret.refresh({ shows: all(3) });
    assert.equal(secret.saved.password, "p3");
    assert.equal(
      planRotation(secret.state, readProgram(desired, secret.context().kind), secret.context()).kind,
      "keep",
    );
    // A clock that was a day ahead when it was sent proves no age.
    const ahead = await secrets.reset();
    ahead.hours = 25;
    await ahead.up({ version: 3 }, { shows: all(2), responds: isLost });
    ahead.hours = 1;
    await ahead.refresh({ shows: all(3) });
    assert.equal(ahead.state.rotatedAt, timeAt(1).toISOString());
  });
});

describe("after a read: what is said of a read that proves nothing", () => {
  for (const [title, { of, shows, says }] of Object.entries({
    "a former credential": {
      of: secrets.reset,
      shows: all(1),
      says: /still shows an old credential.* set a new ver/,
    },
    "hidden credentials": {
      of: secrets.reset,
      shows: {},
      says: /does not show password, restToken\. If it was changed/,
    },
  })) {
    it(title, async () => {
      const { said } = await (await of()).refresh({ shows });
      assert.match(said, /^was read, but could not be compared: /);
      assert.match(said, says);
    });
  }

  it("keys of another account", async () => {
    const secret = await keys.rolled();
    secret.fake.queueAccount = there;
    const { said } = await secret.refresh({ shows: pair(20) });
    assert.match(said, /it was read with different settings than before, and may be a different pair/);
  });
});

describe("after a read: an adoption", () => {
  it("says that no credential is known, and why", async () => {
    for (const [does, said] of [
      [{ shows: {} }, /^was adopted without credentials, because the platform does not show them/],
      [{}, /^was adopted without credentials, because this platform cannot be read without rekey:databasePath/],
      [{ shows: all(1) }, /^$/],
    ] as const) {
      assert.match((await new RotatedSecret().up(adopting, does)).said, said);
    }
  });

  it("has a time until the first reset", async () => {
    const secret = await secrets.withPassword();
    assert.deepEqual(progressOf(secret.state), { outcome: "adopted", adoptedAt: timeAt(0).toISOString() });
    await secret.up({ version: 2 }, { responds: all(2) });
    assert.deepEqual(progressOf(secret.state), { outcome: "reset", adoptedAt: undefined });
    const adopted = await keys.adopted();
    adopted.hours = 6;
    await adopted.refresh({ shows: pair(2) });
    const { adoptedAt, memory } = adopted.state;
    assert.deepEqual(
      [adoptedAt, memory.scheduledFrom],
      [timeAt(0), timeAt(6)].map((one) => one.toISOString()),
    );
  });

  it("is as old as the database, if the platform says so, until the first reset", async () => {
    const ageOf = async (creationTime: unknown, from: Made = secrets.withPassword()): Promise<string | undefined> => {
      const secret = await from;
      await secret.refresh({ shows: secret.saved, record: { creationTime } });
      return secret.memory.current.generatedAt;
    };
    const seconds = timeAt(-24).getTime() / 1000;
    assert.equal(await ageOf(seconds), timeAt(-24).toISOString());
    for (const unusable of [undefined, String(seconds), 1e20, timeAt(1).getTime() / 1000]) {
      assert.equal(await ageOf(unusable), undefined, String(unusable));
    }
    assert.equal(await ageOf(seconds, secrets.changed()), timeAt(0).toISOString());
  });
});

describe("after a read: signing keys", () => {
  eachIn(keys, keyReads, (secret, { shown, account = here, findings, saved, rolledAt, ages }) => {
    const context = secret.context({ now: timeAt(6), account });
    const { state, ...learned } = afterRead(secret.state, response(shown), context);
    const { memory } = state;
    assert.equal(findingsIn({ state, ...learned }), findings);
    assert.deepEqual(credentialsIn(state), saved ?? secret.saved);
    const { current, kindFacts: before } = secret.memory;
    const isDrift = findings.startsWith("drift: currentKey");
    const isOver = findings.startsWith("settled") || isDrift;
    const rolled = rolledAt === undefined ? lastRollAt(secret.memory) : timeAt(rolledAt).toISOString();
    assert.equal(lastRollAt(memory), rolled);
    const expected = ages?.map((age) => (age === undefined ? undefined : timeAt(age).toISOString()));
    const known = [memory.current.generatedAt, memory.kindFacts.nextGeneratedAt];
    assert.deepEqual(known, expected ?? [current.generatedAt, before.nextGeneratedAt]);
    const isTaken = findings.startsWith("settled") || (before.address !== undefined && findings !== "notCompared");
    assert.equal(memory.kindFacts.address, isTaken ? account.address : before.address);
    const isOneRoll = memory.current.marks.currentKey === current.marks.nextKey;
    assert.equal(learned.isForeign === true, isDrift && !isOneRoll, "nothing is rolled in that run");
    assert.equal(memory.attempt === undefined, secret.memory.attempt === undefined || isOver);
    const isApplied = memory.applied !== secret.memory.applied;
    assert.equal(isApplied, findings.startsWith("settled"), "a version counts as not applied");
    if (isDrift) assert.equal(memory.scheduledFrom, timeAt(6).toISOString());
  });
});
