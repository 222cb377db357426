import assert from "node:assert/strict";
import { signingKeys } from "../../../provider/platform/secretKind";
import { type Credentials } from "../../../provider/records/fields";
import { recordEvidence, type Verdict } from "../../../provider/rotation/evidence";
import { type Learned } from "../../../provider/rotation/findings";
import { marksOf } from "../../../provider/rotation/marks";
import { credentialsIn, progressOf } from "../../../provider/rotation/memory";
import { planRotation } from "../../../provider/rotation/planRotation";
import { keyEvidence } from "../../../provider/rotation/signingKeys";
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
  const notShown = reset.copy();
  await notShown.up({ version: 3 }, { shows: {} });
  return {
    withBoth,
    withPassword: await adopted({ password: "p1" }),
    withToken: await adopted({ restToken: "r1" }),
    withNothing: await adopted({}),
    reset,
    changed,
    notShown,
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

/** `drift: password,restToken; notCompared` */
function findingsIn({ findings }: Learned): string {
  return findings.map(({ kind, names = [] }) => kind + (names.length > 0 ? `: ${names.join()}` : "")).join("; ");
}

describe("evidence: passwords", () => {
  let secrets: Secrets;
  before(async () => void (secrets = await makePasswords()));

  const verdicts: Readonly<Record<string, { of: keyof Secrets; shown: Credentials; verdict: Verdict }>> = {
    "the password of the last reset is current": { of: "reset", shown: all(2), verdict: "current" },
    "the password of the last reset is current, whatever the token": {
      of: "reset",
      shown: { password: "p2", restToken: "r1" },
      verdict: "current",
    },
    "what the last reset has replaced is former": { of: "reset", shown: all(1), verdict: "former" },
    "a former password is former, whatever the token": {
      of: "reset",
      shown: { password: "p1", restToken: "r2" },
      verdict: "former",
    },
    "what someone else has replaced is former": { of: "changed", shown: all(2), verdict: "former" },
    "another password is new, whatever the token": {
      of: "reset",
      shown: { password: "p3", restToken: "r2" },
      verdict: "new",
    },
    "a record without the password proves nothing": { of: "reset", shown: { restToken: "r3" }, verdict: "hidden" },
    "where no password was ever shown, the token is compared": {
      of: "withToken",
      shown: { restToken: "r1" },
      verdict: "current",
    },
    "where no password was ever shown, another token is new": {
      of: "withToken",
      shown: { restToken: "r2" },
      verdict: "new",
    },
    "a password that is shown later does not change that": { of: "withToken", shown: all(1), verdict: "current" },
    "a password without that token proves nothing": { of: "withToken", shown: { password: "p1" }, verdict: "hidden" },
    "the first record that shows a password is new": { of: "withNothing", shown: all(1), verdict: "new" },
    "a record that shows nothing proves nothing": { of: "withNothing", shown: {}, verdict: "hidden" },
    "what the pending reset is to replace is former": { of: "lost", shown: all(2), verdict: "former" },
    "another one after a pending reset is new": { of: "lost", shown: all(3), verdict: "new" },
    "what was shown just before the pending reset is former": {
      of: "lostAfterAnother",
      shown: all(3),
      verdict: "former",
    },
  };
  for (const [title, { of, shown, verdict }] of Object.entries(verdicts)) {
    it(title, () => {
      const { memory } = secrets[of];
      const context = secrets[of].context({ now: timeAt(999) });
      assert.equal(recordEvidence.compare(memory, marksOf(memory, shown), context), verdict);
    });
  }

  interface Read {
    readonly of: keyof Secrets;
    readonly shown: Credentials;
    readonly record?: Readonly<Record<string, unknown>>;
    readonly findings: string;
    /** Default: what was saved before. */
    readonly saved?: Credentials;
  }
  const reads: Readonly<Record<string, Read>> = {
    "nothing is said of what is unchanged": { of: "reset", shown: all(2), record: { port: 1 }, findings: "" },
    "a field that differs is named": { of: "reset", shown: all(2), record: { port: 2 }, findings: "drift: port" },
    "another token of the same password is saved": {
      of: "reset",
      shown: { password: "p2", restToken: "r3" },
      findings: "drift: restToken",
      saved: { password: "p2", restToken: "r3" },
    },
    "a token that is hidden stays": { of: "reset", shown: { password: "p2" }, findings: "notCompared" },
    "a token that is shown for the first time is saved": {
      of: "withPassword",
      shown: all(1),
      findings: "read: restToken",
      saved: all(1),
    },
    "a secret that is shown for the first time is saved": {
      of: "withNothing",
      shown: all(1),
      findings: "read: password,restToken",
      saved: all(1),
    },
    "of a record that hides the password, only fields are taken": {
      of: "reset",
      shown: { restToken: "r3" },
      record: { port: 2 },
      findings: "drift: port; notCompared",
    },
    "what the last reset did not show, and a read hides, is not known": {
      of: "notShown",
      shown: {},
      findings: "unknown",
    },
    "what the last reset did not show is saved when a read shows it": {
      of: "notShown",
      shown: all(3),
      findings: "read: password,restToken",
      saved: all(3),
    },
    "what someone else has changed is saved": {
      of: "reset",
      shown: all(3),
      findings: "drift: password,restToken",
      saved: all(3),
    },
    "what someone else has changed, and is hidden, is not known": {
      of: "reset",
      shown: { password: "p3" },
      findings: "drift: password; unknown: restToken",
      saved: { password: "p3" },
    },
    "a former password changes nothing": { of: "reset", shown: all(1), findings: "notCompared" },
    "another password settles a pending reset": { of: "lost", shown: all(3), findings: "settled", saved: all(3) },
    "what settles a pending reset may hide something": {
      of: "lost",
      shown: { password: "p3" },
      findings: "settled; unknown: restToken",
      saved: { password: "p3" },
    },
    "what a pending reset is to replace does not settle it": { of: "lost", shown: all(2), findings: "" },
    "what was replaced before does not settle it": { of: "lost", shown: all(1), findings: "" },
    "a record that hides the password does not settle it": { of: "lost", shown: { restToken: "r3" }, findings: "" },
    "without a read before it, nothing settles it": { of: "lostBlindly", shown: all(3), findings: "" },
  };
  for (const [title, { of, shown, record = {}, findings, saved }] of Object.entries(reads)) {
    it(title, () => {
      const secret = secrets[of];
      const response = { record, credentials: shown, exactIntegers: {}, problems: [] };
      const learned = recordEvidence.afterRead(secret.state, response, secret.context());
      assert.equal(findingsIn(learned), findings);
      assert.deepEqual(credentialsIn(learned.state), saved ?? secret.saved);
      const wasPending = secret.memory.pending !== undefined;
      assert.equal(learned.state.memory.pending !== undefined, wasPending && !findings.startsWith("settled"));
    });
  }

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

  const verdicts: Readonly<Record<string, { of: keyof Keys; hours?: number; shown: Credentials; verdict: Verdict }>> = {
    "the pair of the last roll is current": { of: "rolled", shown: pair(2), verdict: "current" },
    "the pair before it is former for a day": { of: "rolled", hours: 25, shown: pair(1), verdict: "former" },
    "the pair before it is current if it is still shown after a day": {
      of: "rolled",
      hours: 26,
      shown: pair(1),
      verdict: "new",
    },
    "the next key as the current one is new, even alone": { of: "rolled", shown: { currentKey: "k3" }, verdict: "new" },
    "another pair is new": { of: "rolled", shown: pair(8), verdict: "new" },
    "half of another pair proves nothing": { of: "rolled", shown: { currentKey: "k8" }, verdict: "hidden" },
    "a next key alone proves nothing": { of: "rolled", shown: { nextKey: "k8" }, verdict: "hidden" },
    "what a lost roll is to replace is former, however late": {
      of: "lost",
      hours: 999,
      shown: pair(2),
      verdict: "former",
    },
    "what was replaced before a lost roll is former, however late": {
      of: "lost",
      hours: 999,
      shown: pair(1),
      verdict: "former",
    },
    "the next pair after a lost roll is new": { of: "lost", shown: pair(3), verdict: "new" },
  };
  for (const [title, { of, hours = 6, shown, verdict }] of Object.entries(verdicts)) {
    it(title, () => {
      const { memory } = secrets[of];
      const context = secrets[of].context({ now: timeAt(hours) });
      assert.equal(keyEvidence.compare(memory, marksOf(memory, shown), context), verdict);
    });
  }

  interface Read {
    readonly of: keyof Keys;
    readonly hours?: number;
    readonly shown: Credentials;
    readonly account?: typeof here;
    readonly findings: string;
    /** Default: what was saved before. */
    readonly saved?: Credentials;
    /** When the keys were last rolled, and how old both are, as far as known. Default: as before. */
    readonly rolledAt?: number;
    readonly ages?: readonly [current: number | undefined, next: number | undefined];
  }
  const there = { account: "b", address: "https://b" };
  const reads: Readonly<Record<string, Read>> = {
    "a lost roll was applied if the current key is the next one of before it": {
      of: "lost",
      shown: pair(3),
      findings: "settled",
      saved: pair(3),
      ages: [2, 5],
    },
    "a lost roll was applied although the read hides the next key": {
      of: "lostWithHalf",
      shown: { currentKey: "k3" },
      findings: "settled; unknown: nextKey",
      saved: { currentKey: "k3" },
      ages: [2, 5],
    },
    "a lost roll before which nothing was shown stays open": { of: "lostBlindly", shown: pair(3), findings: "" },
    "half of another pair does not end the doubt": { of: "lost", shown: { currentKey: "k8" }, findings: "" },
    "another pair ends the doubt: someone else has rolled, and no roll is due": {
      of: "lost",
      shown: pair(8),
      findings: "overtaken",
      saved: pair(8),
      rolledAt: 6,
      ages: [5, 5],
    },
    "another pair ends the doubt although nothing was shown before": {
      of: "lostBlindly",
      shown: pair(8),
      findings: "overtaken",
      saved: pair(8),
      rolledAt: 6,
      ages: [5, 5],
    },
    "one roll by someone else is saved, with its time and the age of the current key": {
      of: "rolled",
      shown: pair(3),
      findings: "drift: currentKey,nextKey",
      saved: pair(3),
      rolledAt: 6,
      ages: [2, undefined],
    },
    "two rolls by someone else are saved, and their age is not known": {
      of: "rolled",
      shown: pair(8),
      findings: "drift: currentKey,nextKey",
      saved: pair(8),
      rolledAt: 6,
      ages: [undefined, undefined],
    },
    "half of another pair is not saved: receivers need both": {
      of: "rolled",
      shown: { currentKey: "k8" },
      findings: "notCompared",
    },
    "a former pair changes nothing": { of: "rolled", shown: pair(1), findings: "notCompared" },
    "keys of another account are not compared": {
      of: "rolled",
      shown: pair(20),
      account: there,
      findings: "notCompared",
    },
    "keys at another address that are known ones are the same": {
      of: "rolled",
      shown: { currentKey: "k1" },
      account: there,
      findings: "notCompared",
    },
    "a roll at another address is that of the same keys": {
      of: "rolled",
      shown: pair(3),
      account: there,
      findings: "drift: currentKey,nextKey",
      saved: pair(3),
      rolledAt: 6,
      ages: [2, undefined],
    },
  };
  for (const [title, { of, hours = 6, shown, account = here, findings, saved, ...expected }] of Object.entries(reads)) {
    it(title, () => {
      const secret = secrets[of];
      const response = { record: {}, credentials: shown, exactIntegers: {}, problems: [] };
      const context = secret.context({ now: timeAt(hours), account });
      const learned = keyEvidence.afterRead(secret.state, response, context);
      const timesOf = ({ generatedAt, keys }: typeof secret.memory) => [
        keys?.rolledAt,
        generatedAt,
        keys?.nextGeneratedAt,
      ];
      assert.equal(findingsIn(learned), findings);
      assert.deepEqual(credentialsIn(learned.state), saved ?? secret.saved);
      const { memory } = learned.state;
      const [rolledAt, ...ages] = timesOf(secret.memory);
      const written = (time: number | undefined) => (time === undefined ? undefined : timeAt(time).toISOString());
      const times = [written(expected.rolledAt) ?? rolledAt, ...(expected.ages?.map(written) ?? ages)];
      assert.deepEqual(timesOf(memory), times);
      assert.equal(learned.isRolledOnce === true, title.startsWith("one roll") || title.startsWith("a roll at"));
      const isOver = findings.startsWith("settled") || findings === "overtaken";
      if (isOver) assert.notEqual(planRotation(learned.state, { version: 3 }, context).kind, "reset");
      assert.equal(memory.pending === undefined, secret.memory.pending === undefined || isOver);
      const isSame = account === here || saved !== undefined || shown.currentKey === "k1";
      assert.equal(memory.keys?.address, isSame ? account.address : here.address);
    });
  }

  it("a roll that ends a doubt is that of the former version", () => {
    const { state } = secrets.lost;
    const response = { record: {}, credentials: pair(8), exactIntegers: {}, problems: [] };
    const learned = keyEvidence.afterRead(state, response, secrets.lost.context({ now: timeAt(6), account: here }));
    assert.equal(progressOf(learned.state).outcome, "reset");
    assert.equal(learned.state.rotationCount, state.rotationCount);
  });
});
