import assert from "node:assert/strict";
import { aclUser, databasePassword, type SecretKind, signingKeys } from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { adopted, afterRead } from "../../../../provider/rotation/lifecycle/afterRead";
import { type ReadResult } from "../../../../provider/rotation/lifecycle/source";
import { credentialsIn, outcomeOf } from "../../../../provider/rotation/memory/state";
import { messageOf, type StateChange } from "../../../../provider/rotation/messages/findings";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { lastRollAt } from "../../../../provider/rotation/plan/signingKeys";
import { readProgram } from "../../../../provider/rotation/program/program";
import { rejected } from "../../../support/fakeRun";
import { afterUp, isLost, type Made, RotatedSecret, timeAt } from "../../../support/rotatedSecret";
import { OverlappingToken } from "../sources/overlappingToken";
import { credentialsOf, fieldsIn, type Row, tableOf } from "../tables";

const at = (hours: number) => timeAt(hours).toISOString();
/** A record of generation n of a database. */
const all = (n: number): Credentials => credentialsOf(`p${n} r${n}`);
/** The pair of signing keys after n - 1 rolls. */
const pair = (n: number): Credentials => credentialsOf(`k${n} n${n + 1}`);
const adopting = { version: 1, initialRotation: false };
const here = { account: "a", address: "https://a" };
const there = { account: "b", address: "https://b" };

const adoptedSecret = (cell: string, kind?: SecretKind): Made =>
  afterUp(new RotatedSecret(kind), adopting, { shows: credentialsOf(cell), record: kind ? {} : { port: 1 } });

async function afterRefresh(secret: Made, shows: Credentials): Made {
  const next = await secret;
  await next.refresh({ shows });
  return next;
}

/** At hour 1, for version 3, nothing comes back of a reset. */
const lostAfter = (cell: string): Made =>
  afterUp(secrets.reset(), { version: 3 }, { shows: credentialsOf(cell), responds: isLost }, 1);
const resetting = { shows: all(1), showsAfter: all(2), responds: all(2), record: { port: 1 } };

/** Passwords by what happened to them. */
const secrets = {
  "with a password": () => adoptedSecret("p1"),
  "with nothing": () => adoptedSecret(""),
  reset: () => afterUp(adoptedSecret("p1 r1"), { version: 2 }, resetting),
  unread: (): Made => afterUp(secrets.reset(), { version: 3 }, { shows: all(2), showsAfter: rejected }),
  lost: (): Made => lostAfter("p2 r2"),
  "lost blindly": (): Made => lostAfter("r2"),
};

async function adoptedKeys(): Made {
  const secret = new RotatedSecret(signingKeys);
  secret.fake.queueAccount = here;
  return afterUp(secret, adopting, { shows: pair(1) });
}

const lostRoll = (shows: Credentials, from = keys.rolled()): Made =>
  afterUp(from, { version: 3 }, { shows, responds: isLost }, 5);
const rolling = { shows: pair(1), showsAfter: pair(2), responds: pair(2) };

/** Pairs of signing keys by what happened to them. Rolls were sent at hour 2 and at hour 5. */
const keys = {
  "with nothing": () => adoptedSecret("", signingKeys),
  "of no account": () => adoptedSecret("k1 n2", signingKeys),
  adopted: adoptedKeys,
  rolled: () => afterUp(adoptedKeys(), { version: 2 }, rolling, 2),
  lost: (): Made => lostRoll(pair(2)),
  "lost, of half": (): Made => lostRoll({ currentKey: "k1" }, adoptedSecret("k1", signingKeys)),
  "lost with half": (): Made => lostRoll({ currentKey: "k2" }),
  "lost blindly": (): Made => lostRoll({}),
};

/** Two tokens, `t1` that was handed out at hour 0, and the former one, `t0`. */
const tokens = {
  added: async (): Made => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    return token.secret;
  },
  retired: (): Made => afterRefresh(tokens.added(), { token: "t1" }),
  "added again": async (): Made => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(1, { version: 2 });
    return token.secret;
  },
  unproven: async (): Made => {
    const token = Object.assign(new OverlappingToken(), { isAway: true });
    await token.up(0, { version: 1 });
    return token.secret;
  },
  lost: (): Made => lostReset("t0"),
  "lost blindly": (): Made => lostReset(""),
};
const lostReset = (cell: string): Made =>
  afterUp(tokens.added(), { version: 2, overlap: "none" }, { shows: credentialsOf(cell), responds: isLost });

/** `drift: password,restToken; notCompared` */
function findingsIn({ findings }: StateChange): string {
  return findings.map(({ kind, names = [] }) => kind + (names.length > 0 ? `: ${names.join()}` : "")).join("; ");
}

const columns = ["secret", "title", "shows", "findings", "saved", "more", "says"] as const;
type ReadRow = Row<(typeof columns)[number]>;

/** Reads each row of a table: what it finds, what is saved then (by default, what was saved before), what it says. */
function testReads(
  makers: Readonly<Record<string, () => Made>>,
  text: string,
  read: (secret: RotatedSecret, row: ReadRow, result: ReadResult) => StateChange,
): void {
  for (const row of tableOf(columns, text)) {
    it(`${row.secret}: ${row.title}`, async () => {
      const secret = await (makers[row.secret] ?? assert.fail(row.secret))();
      const result = { record: {}, credentials: credentialsOf(row.shows), exactIntegers: {}, problems: [] };
      const learned = read(secret, row, result);
      assert.equal(findingsIn(learned), row.findings);
      assert.deepEqual(credentialsIn(learned.state), row.saved ? credentialsOf(row.saved) : secret.saved);
      const isSettled = row.findings.startsWith("settled");
      const isEnded = isSettled || /^drift: (token|currentKey)/.test(row.findings);
      assert.equal(learned.state.memory.attempt !== undefined, secret.memory.attempt !== undefined && !isEnded);
      const isApplied = learned.state.memory.applied !== secret.memory.applied;
      assert.equal(isApplied, isSettled, "otherwise, a version counts as not applied");
      const said = learned.findings.map((one) => messageOf(one, secret.kind).text).join("\n");
      assert.match(said, new RegExp(row.says));
    });
  }
}

describe("afterRead: passwords", () => {
  testReads(
    secrets,
    `
    reset           | what is unchanged is not said                   | p2 r2 |                                     |  | port: 1
    reset           | a field that differs is named                   | p2 r2 | drift: port                         |  | port: 2
    reset           | another token is saved                          | p2 r3 | drift: restToken                    | p2 r3
    reset           | a token that is hidden stays                    | p2    | notCompared
    reset           | without the password, only fields are taken     | r3    | drift: port; notCompared            |  | port: 2
    reset           | what is hidden is named                         |       | notCompared                         |  |  | does not show password, restToken\\. If it was changed
    reset           | another password is saved                       | p3 r3 | drift: password,restToken           | p3 r3
    reset           | another password without a token is saved alone | p3    | drift: password; unknown: restToken | p3
    reset           | a former password changes nothing               | p1 r1 | notCompared                         |  |  | ^was read, but could not be compared: .* still shows an old credential.* set a new ver
    with a password | a token is saved                                | p1 r1 |                                     | p1 r1
    with nothing    | both are saved                                  | p1 r1 |                                     | p1 r1
    unread          | what is hidden is not known                     |       | unknown
    unread          | what is shown is saved                          | p3 r3 |                                     | p3 r3
    lost            | another password settles it                     | p3 r3 | settled                             | p3 r3
    lost            | another password without a token settles it     | p3    | settled; unknown: restToken         | p3
    lost            | what it is to replace leaves it open            | p2 r2
    lost            | what was replaced before leaves it open         | p1 r1 | notCompared
    lost            | another token leaves it open                    | r3
    lost blindly    | another password leaves it open                 | p3 r3
    `,
    (secret, { more }, result) => {
      const record = fieldsIn(more);
      return afterRead(secret.state, { ...result, record }, secret.context());
    },
  );

  it("of several lost resets in a row, the first gives the age, the reason and the trigger, the last the schedule", async () => {
    const secret = await secrets.lost();
    secret.hours = 4;
    const desired = { version: 3, rotateEvery: "1d" };
    await secret.up(desired, { shows: all(2), responds: isLost });
    secret.hours = 6;
    await secret.refresh({ shows: all(3) });
    const { rotatedAt, rotationReason, rotationCount, memory } = secret.state;
    assert.deepEqual([rotatedAt, memory.current.generatedAt, memory.scheduledFrom], [at(1), at(1), at(4)]);
    assert.deepEqual([rotationReason, rotationCount], ["trigger", 2]);
    assert.equal(planRotation(secret.state, readProgram(desired, databasePassword), secret.context()).kind, "keep");
  });

  it("a clock that was a day ahead when a lost reset was sent proves no age", async () => {
    const secret = await secrets.reset();
    secret.hours = 25;
    await secret.up({ version: 3 }, { shows: all(2), responds: isLost });
    secret.hours = 1;
    await secret.refresh({ shows: all(3) });
    assert.equal(secret.state.rotatedAt, at(1));
  });
});

describe("afterRead: signing keys", () => {
  const noticedOnce = "rolledAt: 6, ages: [2]";
  const others = "rolledAt: 6, ages: []";
  const drift = "drift: currentKey,nextKey";
  testReads(
    keys,
    `
    with nothing   | the first pair is saved, and no roll is noticed                    | k1 n2 |                                     | k1 n2
    of no account  | one roll by someone else is saved                                  | k2 n3 | ${drift}                            | k2 n3 | ${others}
    lost, of half  | another current key settles it, if no next one was known           | k2 n3 | settled                             | k2 n3 | ages: [null, 5]
    lost           | what it is to replace leaves it open                               | k2 n3
    lost           | the next pair settles it                                           | k3 n4 | settled                             | k3 n4 | ages: [2, 5]
    lost           | another pair ends it: someone else has rolled                      | k8 n9 | ${drift}                            | k8 n9 | ${others}
    lost           | half of another pair ends it, too, and the next key is not known   | k8    | drift: currentKey; unknown: nextKey | k8    | ${others}
    lost with half | the next key as the current one settles it                         | k3    | settled; unknown: nextKey           | k3    | ages: [2, 5]
    lost blindly   | the next pair leaves it open                                       | k3 n4
    lost blindly   | another pair ends it: someone else has rolled                      | k8 n9 | ${drift}                            | k8 n9 | ${others}
    rolled         | one roll by someone else is saved, with the age of the current key | k3 n4 | ${drift}                            | k3 n4 | ${noticedOnce}
    rolled         | two rolls by someone else are saved                                | k8 n9 | ${drift}                            | k8 n9 | ${others}
    rolled         | a former pair changes nothing                                      | k1 n2 | notCompared
    rolled         | another pair of another account is not compared                    | k7 n8 | notCompared                         |       | isThere: true | read with different settings than before, and may be a different pair
    rolled         | a known pair of another account shows that both are the same       | k2 n3 |                                     |       | isThere: true
    rolled         | the next pair of another account, too                              | k3 n4 | ${drift}                            | k3 n4 | isThere: true, ${noticedOnce}
    `,
    (secret, { findings, more }, result) => {
      const { rolledAt, ages, isThere } = fieldsIn(more) as { rolledAt?: number; ages?: number[]; isThere?: true };
      const account = isThere ? there : here;
      const learned = afterRead(secret.state, result, secret.context({ now: timeAt(6), account }));
      const { memory } = learned.state;
      const { current, kindFacts: before } = secret.memory;
      // When the keys were last rolled, and how old both are, as far as known: by default as before.
      assert.equal(lastRollAt(memory), rolledAt === undefined ? lastRollAt(secret.memory) : at(rolledAt));
      const known = ages && [ages[0], ages[1]].map((age) => (typeof age === "number" ? at(age) : undefined));
      const found = [memory.current.generatedAt, memory.kindFacts.nextGeneratedAt];
      assert.deepEqual(found, known ?? [current.generatedAt, before.nextGeneratedAt]);
      const isTaken = findings.startsWith("settled") || (before.address !== undefined && findings !== "notCompared");
      assert.equal(memory.kindFacts.address, isTaken ? account.address : before.address);
      const isDrift = findings.startsWith("drift: currentKey");
      const isOneRoll = memory.current.marks.currentKey === current.marks.nextKey;
      assert.equal(learned.isForeign === true, isDrift && !isOneRoll, "nothing is rolled in that run");
      if (isDrift) assert.equal(memory.scheduledFrom, at(6));
      return learned;
    },
  );
});

describe("afterRead: tokens of which two are valid", () => {
  testReads(
    tokens,
    `
    added        | the former one is still valid                                | t0 |              |    | former: valid
    added        | the former one is still valid, although no next one is shown | t0 |              |    | former: valid, hasNext: false
    added        | the former one was retired                                   | t1
    added        | another one is someone else's                                | t9 | drift: token | t9 |                                       | was changed outside of Rekey \\(token\\)
    added        | a token that is hidden shows nothing                         |    | notCompared  |    | former: valid                         | the platform does not show token
    added        | a token that is hidden is the only one without a next one    |    | notCompared  |    | hasNext: false
    added        | what the queue refuses is to be read again                   | t0 | warning      |    | former: valid, goneReason: it is gone | ^it is gone\\.$
    retired      | the former one is an old one                                 | t0 | notCompared  |    |                                       | still shows an old credential
    added again  | one that is older than the former one is an old one          | t0 | notCompared  |    | former: valid                         | still shows an old credential
    unproven     | the current one leaves it open                               | t0
    unproven     | another one ends it: someone else has reset both             | t9 | drift: token | t9
    lost         | the former one shows that it was not applied                 | t0 |              |    | former: valid
    lost         | another one settles it                                       | t2 | settled      | t2
    lost blindly | another one leaves it open                                   | t2 |              |    | former: valid
    `,
    (secret, { more }, result) => {
      const { former, ...facts } = fieldsIn(more) as { former?: "valid" } & Partial<ReadResult>;
      const learned = afterRead(secret.state, { ...result, ...facts }, secret.context({ now: timeAt(6) }));
      const { formers, current, scheduledFrom } = learned.state.memory;
      assert.equal(
        formers.some(({ retireHash }) => retireHash !== undefined),
        former === "valid",
      );
      assert.equal(current.mustRead, facts.goneReason && true);
      if (learned.findings[0]?.kind === "drift") assert.equal(scheduledFrom, at(0), "a schedule goes on");
      return learned;
    },
  );
});

describe("afterRead: an adoption", () => {
  const hidden: ReadResult = { record: {}, credentials: {}, exactIntegers: {}, problems: [] };
  const adoptions: Readonly<Record<string, readonly [kind: SecretKind, read: ReadResult | undefined, says: RegExp]>> = {
    "of what is not shown": [
      databasePassword,
      hidden,
      /^was adopted without .*, because the platform does not show them/,
    ],
    "of what cannot be read": [databasePassword, undefined, /because this platform cannot be read without rekey:data/],
    "of what is shown": [databasePassword, { ...hidden, credentials: all(1) }, /^$/],
    "of a user": [aclUser, hidden, /because a Redis shows only hashes of passwords/],
  };
  for (const [title, [kind, read, says]] of Object.entries(adoptions)) {
    it(`${title} says what is not known, and why`, () => {
      const context = { kind, now: timeAt(0), canRead: true, isScheduleOn: true };
      const { findings } = adopted(readProgram(adopting, kind), read, context);
      assert.match(findings.map((one) => messageOf(one, kind).text).join("\n"), says);
    });
  }

  it("has a time until the first reset", async () => {
    const secret = await secrets["with a password"]();
    assert.deepEqual([outcomeOf(secret.state), secret.state.adoptedAt], ["adopted", at(0)]);
    await secret.up({ version: 2 }, { responds: all(2) });
    assert.deepEqual([outcomeOf(secret.state), secret.state.adoptedAt], ["reset", undefined]);
    const ofKeys = await keys.adopted();
    ofKeys.hours = 6;
    await ofKeys.refresh({ shows: pair(2) });
    assert.deepEqual([ofKeys.state.adoptedAt, ofKeys.memory.scheduledFrom], [at(0), at(6)]);
  });

  it("is as old as the database, if the platform says so, until the first reset", async () => {
    const ageOf = async (creationTime: unknown, from = secrets["with a password"]()): Promise<string | undefined> => {
      const secret = await from;
      await secret.refresh({ shows: secret.saved, record: { creationTime } });
      return secret.memory.current.generatedAt;
    };
    const seconds = timeAt(-24).getTime() / 1000;
    assert.equal(await ageOf(seconds), at(-24));
    for (const unusable of [undefined, String(seconds), 1e20, timeAt(1).getTime() / 1000]) {
      assert.equal(await ageOf(unusable), undefined, String(unusable));
    }
    assert.equal(await ageOf(seconds, afterRefresh(secrets.reset(), all(3))), at(0));
  });
});
