import assert from "node:assert/strict";
import { signingKeys } from "../../../provider/domain/secretKind";
import { type Credentials } from "../../../provider/records/fields";
import { type SecretResponse } from "../../../provider/records/response";
import { recordEvidence } from "../../../provider/rotation/recordEvidence";
import { type Verdict } from "../../../provider/rotation/evidence";
import { type Learned } from "../../../provider/rotation/findings";
import { marksOf } from "../../../provider/rotation/marks";
import { credentialsIn, progressOf } from "../../../provider/rotation/state";
import { planRotation } from "../../../provider/rotation/planRotation";
import { keyEvidence } from "../../../provider/rotation/signingKeys";
import { rejected } from "../../support/fakeRun";
import { isLost, RotatedSecret, timeAt } from "../../support/rotatedSecret";

/** A record of generation n of a database. */
const all = (n: number): Credentials => ({ password: `p${n}`, restToken: `r${n}` });
/** The pair of signing keys after n - 1 rolls. */
const pair = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });
const adopting = { version: 1, initialRotation: false };
const here = { account: "a", address: "https://a" };

/** Passwords by what happened to them. */
async function makePasswords() {
  const adopted = async (shows: Credentials): Promise<RotatedSecret> => {
    const secret = new RotatedSecret();
    await secret.up(adopting, { shows, record: { port: 1 } });
    return secret;
  };
  /** At hour 1, for version 3, of a reset of which nothing comes back. */
  const lostFrom = async (secret: RotatedSecret, shows: Credentials): Promise<RotatedSecret> => {
    const lost = secret.copy();
    lost.hours = 1;
    await lost.up({ version: 3 }, { shows, responds: isLost });
    return lost;
  };
  const withBoth = await adopted(all(1));
  const reset = withBoth.copy();
  await reset.up({ version: 2 }, { shows: all(1), showsAfter: all(2), responds: all(2), record: { port: 1 } });
  const changed = reset.copy();
  await changed.refresh({ shows: all(3) });
  const unread = reset.copy();
  await unread.up({ version: 3 }, { shows: all(2), showsAfter: rejected });
  return {
    withBoth,
    withPassword: await adopted({ password: "p1" }),
    withToken: await adopted({ restToken: "r1" }),
    withNothing: await adopted({}),
    reset,
    changed,
    unread,
    lost: await lostFrom(reset, all(2)),
    lostBlindly: await lostFrom(reset, { restToken: "r2" }),
    lostAfterAnother: await lostFrom(reset, all(3)),
  };
}

/** Pairs of signing keys by what happened to them. Rolls were sent at hour 2 and at hour 5. */
async function makeKeys() {
  const upAt = async (hours: number, from: RotatedSecret, ...call: Parameters<RotatedSecret["up"]>) => {
    const secret = from.copy();
    secret.hours = hours;
    await secret.up(...call);
    return secret;
  };
  const empty = new RotatedSecret(signingKeys);
  empty.fake.queueAccount = here;
  const adopted = await upAt(0, empty, adopting, { shows: pair(1) });
  const rolled = await upAt(2, adopted, { version: 2 }, { shows: pair(1), showsAfter: pair(2), responds: pair(2) });
  const lostWith = (shows: Credentials) => upAt(5, rolled, { version: 3 }, { shows, responds: isLost });
  const lost = await lostWith(pair(2));
  return { adopted, rolled, lost, lostWithHalf: await lostWith({ currentKey: "k2" }), lostBlindly: await lostWith({}) };
}

type Secrets = Awaited<ReturnType<typeof makePasswords>>;
type Keys = Awaited<ReturnType<typeof makeKeys>>;

/** What is compared with a secret, by what happened to that. */
type Table<Secrets, Case> = { readonly [Of in keyof Secrets]?: Readonly<Record<string, Case>> };

/** What one read shows. */
interface Read {
  readonly shown: Credentials;
  readonly record?: Readonly<Record<string, unknown>>;
  readonly findings: string;
  /** Default: what was saved before. */
  readonly saved?: Credentials;
}

const verdicts: Table<Secrets, { readonly shown: Credentials; readonly verdict: Verdict }> = {
  reset: {
    "the same password is current": { shown: all(2), verdict: "current" },
    "the same password is current, whatever the token": { shown: { ...all(1), password: "p2" }, verdict: "current" },
    "what the reset has replaced is former": { shown: all(1), verdict: "former" },
    "what the reset has replaced is former, whatever the token": {
      shown: { ...all(2), password: "p1" },
      verdict: "former",
    },
    "another password is new, whatever the token": { shown: { ...all(2), password: "p3" }, verdict: "new" },
    "a record without the password proves nothing": { shown: { restToken: "r3" }, verdict: "hidden" },
  },
  changed: { "what someone else has replaced is former": { shown: all(2), verdict: "former" } },
  withToken: {
    "the same token is current": { shown: { restToken: "r1" }, verdict: "current" },
    "the same token is current, whatever the password": { shown: all(1), verdict: "current" },
    "another token is new": { shown: { restToken: "r2" }, verdict: "new" },
    "a record without the token proves nothing": { shown: { password: "p1" }, verdict: "hidden" },
  },
  withNothing: {
    "the first record that shows a password is new": { shown: all(1), verdict: "new" },
    "a record that shows nothing proves nothing": { shown: {}, verdict: "hidden" },
  },
  lost: {
    "what the reset is to replace is former": { shown: all(2), verdict: "former" },
    "another password is new": { shown: all(3), verdict: "new" },
  },
  lostAfterAnother: { "what was shown just before the reset is former": { shown: all(3), verdict: "former" } },
};

const reads: Table<Secrets, Read> = {
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
    "what was replaced before leaves it open": { shown: all(1), findings: "" },
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

const keyVerdicts: Table<Keys, { readonly hours?: number; readonly shown: Credentials; readonly verdict: Verdict }> = {
  rolled: {
    "the same pair is current": { shown: pair(2), verdict: "current" },
    "the pair before it is former for a day": { hours: 25, shown: pair(1), verdict: "former" },
    "the pair before it is current if it is still shown then": { hours: 26, shown: pair(1), verdict: "new" },
    "the next key as the current one is new, even alone": { shown: { currentKey: "k3" }, verdict: "new" },
    "another pair is new": { shown: pair(8), verdict: "new" },
    "half of another pair proves nothing": { shown: { currentKey: "k8" }, verdict: "hidden" },
    "a next key alone proves nothing": { shown: { nextKey: "k8" }, verdict: "hidden" },
  },
  lost: {
    "what it is to replace is former, however late": { hours: 999, shown: pair(2), verdict: "former" },
    "what was replaced before is former, however late": { hours: 999, shown: pair(1), verdict: "former" },
    "the next pair is new": { shown: pair(3), verdict: "new" },
  },
};

const drift = "drift: currentKey,nextKey";
const noticedOnce = { findings: drift, saved: pair(3), rolledAt: 6, ages: [2, undefined] } as const;
const overtaken = { findings: "overtaken", saved: pair(8), rolledAt: 6, ages: [5, 5] } as const;
const there = { account: "b", address: "https://b" };

const keyReads: Table<Keys, KeyRead> = {
  lost: {
    "the next pair settles it": { shown: pair(3), findings: "settled", saved: pair(3), ages: [2, 5] },
    "half of another pair leaves it open": { shown: { currentKey: "k8" }, findings: "" },
    "another pair ends it: someone else has rolled": { shown: pair(8), ...overtaken },
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
    "another pair ends it: someone else has rolled": { shown: pair(8), ...overtaken },
  },
  rolled: {
    "one roll by someone else is saved, with the age of the current key": { shown: pair(3), ...noticedOnce },
    "two rolls by someone else are saved": {
      shown: pair(8),
      findings: drift,
      saved: pair(8),
      rolledAt: 6,
      ages: [undefined, undefined],
    },
    "half of another pair is not saved": { shown: { currentKey: "k8" }, findings: "notCompared" },
    "a former pair changes nothing": { shown: pair(1), findings: "notCompared" },
    "another pair of another account is not compared": { shown: pair(20), account: there, findings: "notCompared" },
    "a known pair of another account shows that both are the same": { shown: pair(2), account: there, findings: "" },
    "the next pair of another account, too": { shown: pair(3), account: there, ...noticedOnce },
  },
};

/** `drift: password,restToken; notCompared` */
function findingsIn({ findings }: Learned): string {
  return findings.map(({ kind, names = [] }) => kind + (names.length > 0 ? `: ${names.join()}` : "")).join("; ");
}

/** Tests all cases of a table, by what happened to the secret. */
function eachIn<Secrets, Case>(table: Table<Secrets, Case>, test: (of: keyof Secrets, one: Case) => void): void {
  for (const [of, cases] of Object.entries<Readonly<Record<string, Case>> | undefined>(table)) {
    for (const [title, one] of Object.entries(cases ?? {})) {
      it(`${of}: ${title}`, () => test(of as keyof Secrets, one));
    }
  }
}

function response(credentials: Credentials): SecretResponse {
  return { record: {}, credentials, exactIntegers: {}, problems: [] };
}

describe("evidence: passwords", () => {
  let secrets: Secrets;
  before(async () => void (secrets = await makePasswords()));

  eachIn(verdicts, (of, { shown, verdict }) => {
    const { memory } = secrets[of];
    const context = secrets[of].context({ now: timeAt(999) });
    assert.equal(recordEvidence.compare(memory, marksOf(memory, shown), context), verdict);
  });

  eachIn(reads, (of, { shown, record = {}, findings, saved }) => {
    const secret = secrets[of];
    const learned = recordEvidence.afterRead(secret.state, { ...response(shown), record }, secret.context());
    assert.equal(findingsIn(learned), findings);
    assert.deepEqual(credentialsIn(learned.state), saved ?? secret.saved);
    const isOpen = secret.memory.pending !== undefined && !findings.startsWith("settled");
    assert.equal(learned.state.memory.pending !== undefined, isOpen);
  });

  it("of several lost resets in a row, the first gives the age, the reason and the trigger, the last the schedule", async () => {
    const secret = secrets.lost.copy();
    secret.hours = 4;
    await secret.up({ version: 3, rotateEvery: "1d" }, { shows: all(2), responds: isLost });
    secret.hours = 6;
    await secret.refresh({ shows: all(3) });
    const { rotatedAt, rotationReason, rotationCount, memory } = secret.state;
    const settled = { rotatedAt, rotationReason, rotationCount, age: memory.generatedAt, from: memory.scheduledFrom };
    const [first, last] = [timeAt(1).toISOString(), timeAt(4).toISOString()];
    assert.deepEqual(settled, {
      rotatedAt: first,
      rotationReason: "trigger",
      rotationCount: 2,
      age: first,
      from: last,
    });
    assert.equal(planRotation(secret.state, { version: 3, rotateEvery: "1d" }, secret.context()).kind, "keep");
  });

  it("a lost reset for another version is the first of its own", async () => {
    const secret = secrets.lost.copy();
    await secret.up({ version: 4 }, { shows: all(2), responds: isLost });
    assert.equal(secret.memory.pending?.count, 1);
  });

  it("what a lost reset has generated is not older than rotatedSince, by whatever clock", async () => {
    const secret = secrets.reset.copy();
    secret.hours = 1;
    const desired = { version: 2, rotatedSince: timeAt(1.05).toISOString() };
    await secret.up(desired, { shows: all(2), responds: isLost });
    await secret.refresh({ shows: all(3) });
    assert.equal(secret.saved.password, "p3");
    assert.equal(planRotation(secret.state, desired, secret.context()).kind, "keep");
    // A clock that was a day ahead when it was sent proves no age.
    const ahead = secrets.reset.copy();
    ahead.hours = 25;
    await ahead.up({ version: 3 }, { shows: all(2), responds: isLost });
    ahead.hours = 1;
    await ahead.refresh({ shows: all(3) });
    assert.equal(ahead.state.rotatedAt, timeAt(1).toISOString());
  });
});

describe("evidence: signing keys", () => {
  let secrets: Keys;
  before(async () => void (secrets = await makeKeys()));

  eachIn(keyVerdicts, (of, { hours = 6, shown, verdict }) => {
    const { memory } = secrets[of];
    const context = secrets[of].context({ now: timeAt(hours) });
    assert.equal(keyEvidence.compare(memory, marksOf(memory, shown), context), verdict);
  });

  eachIn(keyReads, (of, { shown, account = here, findings, saved, rolledAt, ages }) => {
    const secret = secrets[of];
    const context = secret.context({ now: timeAt(6), account });
    const learned = keyEvidence.afterRead(secret.state, response(shown), context);
    const { memory } = learned.state;
    assert.equal(findingsIn(learned), findings);
    assert.deepEqual(credentialsIn(learned.state), saved ?? secret.saved);
    const { keys, generatedAt } = secret.memory;
    assert.equal(memory.keys?.rolledAt, rolledAt === undefined ? keys?.rolledAt : timeAt(rolledAt).toISOString());
    const expected = ages?.map((age) => (age === undefined ? undefined : timeAt(age).toISOString()));
    assert.deepEqual(
      [memory.generatedAt, memory.keys?.nextGeneratedAt],
      expected ?? [generatedAt, keys?.nextGeneratedAt],
    );
    assert.equal(memory.keys?.address, findings === "notCompared" ? here.address : account.address);
    assert.equal(learned.isRolledOnce === true, ages === noticedOnce.ages);
    const isOver = findings.startsWith("settled") || findings === "overtaken";
    assert.equal(memory.pending === undefined, secret.memory.pending === undefined || isOver);
    if (isOver) assert.notEqual(planRotation(learned.state, { version: 3 }, context).kind, "reset");
  });

  it("a roll that ends a doubt is that of the former version", () => {
    const { state } = secrets.lost;
    const context = secrets.lost.context({ now: timeAt(6), account: here });
    const learned = keyEvidence.afterRead(state, response(pair(8)), context);
    assert.equal(progressOf(learned.state).outcome, "reset");
    assert.equal(learned.state.rotationCount, state.rotationCount);
  });
});
