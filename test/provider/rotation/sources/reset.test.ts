import assert from "node:assert/strict";
import { queueToken, type SecretKind, signingKeys } from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { progressOf } from "../../../../provider/rotation/memory/state";
import { notSent, rejected } from "../../../support/fakeRun";
import { readProgram } from "../../../../provider/rotation/program/program";
import { planRotation } from "../../../../provider/rotation/plan/planRotation";
import { type Plan } from "../../../../provider/rotation/program/plan";
import { isLost, type PlatformDoes, resetSecret, RotatedSecret, timeAt } from "../../../support/rotatedSecret";

/** Credentials of generation n. */
const all = (n: number): Credentials => ({ password: `p${n}`, restToken: `r${n}` });
const pair = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });
const unattributed = (credentials: Credentials) => () => ({ credentials, isUnattributed: true as const });

/** What an `up` meets that resets a secret for version 2, and what comes of it. */
interface Case extends PlatformDoes {
  /** What was saved before. Default: generation 1; `nothing` for a new resource. */
  readonly from?: Credentials | "nothing";
  /** The code of its failure. Default: none. */
  readonly code?: string;
  /** Default: `unknown` if it fails, otherwise `reset`. */
  readonly outcome?: string;
  readonly saved: Credentials;
  /** What else it has delivered is kept apart. */
  readonly kept?: Credentials;
  /** What the next `up` does without another change. Default: not looked at. */
  readonly next?: Plan["kind"];
  /** What it says, as a notice or in its failure. Default: nothing. */
  readonly says?: RegExp;
}

const one = all(1);
const both = { shows: one, showsAfter: all(2) };
const stillFormer = { shows: one, showsAfter: one };
const hides = { shows: one, showsAfter: {} };
const unconfirmed = { code: "REKEY_UNCONFIRMED", saved: one } as const;
const unknown = /does not know password, restToken/;

const passwords: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  "a response with a new password": {
    confirms: { ...both, responds: all(2), saved: all(2) },
    "confirms on a platform that cannot be read": { responds: all(2), saved: all(2) },
    "confirms, and a read shows the token that it lacks": { ...both, responds: { password: "p2" }, saved: all(2) },
    "confirms, and the token is not known if only late reads show one": {
      ...stillFormer,
      responds: { password: "p2" },
      saved: { password: "p2" },
      next: "read",
      says: /does not know restToken, because the platform still shows the old one/,
    },
    "confirms, and the token is not known if it cannot be read": {
      responds: { password: "p2" },
      saved: { password: "p2" },
      says: /does not know restToken/,
    },
    "confirms, and what someone else has changed before does not matter": {
      shows: { password: "p7" },
      showsAfter: all(2),
      responds: all(2),
      saved: all(2),
    },
    "confirms although the token is repeated": {
      responds: { password: "p2", restToken: "r1" },
      saved: { password: "p2", restToken: "r1" },
    },
  },
  "a response with the former password": {
    "confirms if a read shows a new one": { ...both, responds: one, saved: all(2) },
    "does not confirm if reads still show it": { ...stillFormer, responds: one, ...unconfirmed, says: /the old one/ },
    "does not confirm if reads hide it": { ...hides, responds: one, ...unconfirmed, says: /contains the old one/ },
    "confirms if a read shows a new one, and nothing else of it is taken for current": {
      shows: one,
      showsAfter: { password: "p2" },
      responds: { password: "p1", restToken: "r9" },
      saved: { password: "p2" },
      says: /does not know restToken/,
    },
    "does not confirm, and what else it has is kept apart": {
      responds: { password: "p1", restToken: "r9" },
      ...unconfirmed,
      kept: { restToken: "r9" },
      says: /contains the old one/,
    },
    "does not confirm on a platform that cannot be read": {
      responds: one,
      ...unconfirmed,
      says: /contains the old one\. The password may have been changed\..* Run `up` again right away, .* resets again, which/s,
    },
  },
  "a response without the password": {
    "confirms if a read shows a new one": { ...both, saved: all(2) },
    "confirms if no read shows one, which is then not known": { ...hides, saved: {}, says: unknown },
    "confirms on a platform that cannot be read": { saved: {}, says: unknown },
    "confirms, and what else it has is saved": {
      ...hides,
      responds: { restToken: "r2" },
      saved: { restToken: "r2" },
      says: /does not know password, because the platform neither returned it nor shows it/,
    },
    "confirms, and what it has is saved in addition to what a read shows": {
      shows: one,
      showsAfter: { password: "p2" },
      responds: { restToken: "r2" },
      saved: all(2),
    },
    "confirms, and what a new resource has never shown is not known": {
      from: "nothing",
      shows: {},
      saved: {},
      next: "keep",
      says: /does not know the new value/,
    },
    "confirms, and nothing is said if a platform that cannot be read has never shown any": {
      from: "nothing",
      saved: {},
    },
    "does not confirm if reads show the former one, and what it has is kept apart": {
      ...stillFormer,
      responds: { restToken: "r2" },
      ...unconfirmed,
      kept: { restToken: "r2" },
      says: /reads still show/,
    },
    "confirms, and what it repeats is not taken for current": {
      responds: { restToken: "r1" },
      saved: {},
      says: unknown,
    },
    "does not confirm if reads still show the former one": { ...stillFormer, ...unconfirmed, says: /reads still show/ },
  },
  "a response that may be that of another request": {
    "confirms if a read shows the same": { ...both, responds: unattributed(all(2)), saved: all(2) },
    "confirms if a read shows another one, which is current": {
      ...both,
      responds: unattributed(all(3)),
      saved: all(2),
    },
    "confirms if a read shows the same password, and its token is saved": {
      shows: one,
      showsAfter: { password: "p2" },
      responds: unattributed(all(2)),
      saved: all(2),
    },
    "confirms if a read shows another password, and its token is not saved": {
      shows: one,
      showsAfter: { password: "p2" },
      responds: unattributed(all(3)),
      saved: { password: "p2" },
      says: /does not know restToken/,
    },
    "confirms, and its password is saved, if reads show only the token, which is the same": {
      ...{ from: { restToken: "r1" }, shows: { restToken: "r1" }, showsAfter: { restToken: "r2" } },
      ...{ responds: unattributed(all(2)), saved: all(2) },
    },
    "confirms, and its password is saved, if reads mask the password that was known": {
      ...{ shows: { restToken: "r1" }, showsAfter: { restToken: "r2" } },
      ...{ responds: unattributed(all(2)), saved: all(2) },
    },
    "does not confirm if the token that reads show was known before": {
      ...{ shows: { restToken: "r1" }, responds: unattributed({ password: "p2", restToken: "r1" }), ...unconfirmed },
      ...{ kept: { password: "p2", restToken: "r1" }, says: /may belong to another request/ },
    },
    "does not confirm otherwise": {
      ...stillFormer,
      responds: unattributed(all(2)),
      ...unconfirmed,
      kept: all(2),
      says: /may belong to another request.* otherFields .* does not reset again without a new version/s,
    },
  },
  "a lost response": {
    "is settled by a read that shows a new password": {
      ...both,
      responds: isLost,
      saved: all(2),
      says: /^was reset\. The platform did not confirm it \(it broke\), but/,
    },
    "is settled by a read that hides the token": {
      shows: one,
      showsAfter: { password: "p2" },
      responds: isLost,
      saved: { password: "p2" },
      says: /did not confirm it \(it broke\), but.*\n.*does not know restToken, because the platform does not show it/,
    },
    "leaves it open if reads show the former one": {
      ...stillFormer,
      responds: isLost,
      ...unconfirmed,
      says: /it reads the password first, and resets again only if/,
    },
    "leaves it open if reads hide it": { ...hides, responds: isLost, ...unconfirmed, says: /reads the password first/ },
    "leaves it open on a platform that cannot be read": {
      responds: isLost,
      ...unconfirmed,
      says: /Until an `up` succeeds.*: it resets again, which returns new credentials/s,
    },
    "leaves it open if the read before it has hidden the password": {
      shows: { restToken: "r1" },
      showsAfter: all(2),
      responds: isLost,
      ...unconfirmed,
      says: /: it resets again/,
    },
    "of which Rekey itself is the cause is settled by a read, too": {
      ...both,
      responds: () => {
        throw new TypeError("p2");
      },
      saved: all(2),
      says: /did not confirm it \(its result was lost\), but/,
    },
    "of which Rekey itself is the cause is one": {
      responds: () => {
        throw new TypeError("p2");
      },
      code: "REKEY_INTERNAL",
      saved: one,
      says: /failed unexpectedly \(TypeError.*The password may have been changed/s,
    },
  },
  "a reset that is rejected": {
    "changes nothing": { responds: rejected, code: "REKEY_REJECTED", outcome: "reset", saved: one, says: /it broke/ },
    "changes nothing, as one that is not sent": {
      responds: notSent,
      code: "REKEY_NOT_SENT",
      outcome: "reset",
      saved: one,
      says: /it broke/,
    },
    "changes nothing, and a new resource is not saved": {
      from: "nothing",
      responds: rejected,
      code: "REKEY_REJECTED",
      outcome: "nothing",
      saved: {},
      says: /it broke/,
    },
  },
  "a password that only the response shows": {
    "is saved by a new resource, although the token stays": {
      from: "nothing",
      shows: { restToken: "r1" },
      responds: { password: "p2", restToken: "r1" },
      saved: { password: "p2", restToken: "r1" },
    },
    "is saved by one whose token was known, although it stays": {
      from: { restToken: "r1" },
      shows: { restToken: "r1" },
      responds: { password: "p2", restToken: "r1" },
      saved: { password: "p2", restToken: "r1" },
    },
    "is saved on a platform that cannot be read, although the token stays": {
      from: { restToken: "r1" },
      responds: { password: "p2", restToken: "r1" },
      saved: { password: "p2", restToken: "r1" },
    },
    "is saved if reads mask it, and it was known before": {
      shows: { restToken: "r1" },
      responds: { password: "p2", restToken: "r1" },
      saved: { password: "p2", restToken: "r1" },
    },
  },
};

const rolled = { shows: pair(1), showsAfter: pair(2) };
const keys: Readonly<Record<string, Case>> = {
  "is confirmed by the next pair": { ...rolled, responds: pair(2), saved: pair(2) },
  "is a normal one if only reads show keys": { ...rolled, saved: pair(2) },
  "is confirmed by a read if the response repeats the former pair": { ...rolled, responds: pair(1), saved: pair(2) },
  "is not confirmed if the response and all reads show the former pair": {
    shows: pair(1),
    responds: pair(1),
    code: "REKEY_UNCONFIRMED",
    saved: pair(1),
    says: /contains the old one.* Run `up` again once minInterval has passed/s,
  },
  "makes the next key the current one, although nothing shows it": {
    saved: { currentKey: "k2" },
    says: /does not know nextKey/,
  },
  "makes the next key the current one, although the response has only another next one": {
    responds: { nextKey: "k3" },
    saved: pair(2),
  },
  "makes the next key of the read before it the current one, although its response is from before it": {
    shows: { nextKey: "k3" },
    responds: pair(2),
    showsAfter: pair(3),
    saved: pair(3),
  },
  "is saved as the response shows it, although reads before and after it show an outdated pair": {
    shows: pair(1),
    responds: pair(3),
    showsAfter: pair(2),
    saved: pair(3),
    says: /was rolled more than once/,
  },
  "is the first of a new resource": { from: "nothing", responds: pair(2), saved: pair(2) },
  "does not know the current key if no next one was known": {
    from: { currentKey: "k1" },
    saved: {},
    says: /does not know currentKey/,
  },
  "is saved as the response shows it, and warns, although that is not the known next key": {
    responds: pair(8),
    saved: pair(8),
    says: /was rolled more than once.*give them both keys now/,
  },
};

describe("reset: what follows from its response", () => {
  const test = (title: string, known: Credentials, kind: SecretKind | undefined, given: Case): void => {
    const { from = known, code, saved, kept, next, says, outcome = code ? "unknown" : "reset", ...does } = given;
    it(title, async () => {
      const made = from === "nothing" ? new RotatedSecret(kind) : await resetSecret({ version: 1 }, from, { kind });
      const secret = made.copy();
      secret.hours = 5;
      const came = await secret.up({ version: 2 }, does);
      assert.equal(came.code, code, came.message);
      assert.equal(secret.outputs ? progressOf(secret.state).outcome : "nothing", outcome);
      assert.deepEqual(secret.saved, saved);
      if (secret.outputs) {
        const { rotationCount, otherFields } = secret.state;
        assert.equal(rotationCount, (from === "nothing" ? 0 : 1) + (code ? 0 : 1));
        assert.deepEqual(otherFields && JSON.parse(otherFields), kept);
      }
      if (next) {
        assert.equal(
          planRotation(secret.state, readProgram({ version: 2 }, secret.context().kind), secret.context()).kind,
          next,
        );
      }
      const said = [came.message, came.said].join("\n").trim();
      if (says) assert.match(said, says);
      else assert.equal(said, "");
      assert.equal(came.sent, 1);
      assert.doesNotMatch(said, /\b[pr][12]\b/, "no credential is in a text");
    });
  };
  for (const [what, cases] of Object.entries(passwords)) {
    describe(what, () => {
      for (const [title, given] of Object.entries(cases)) test(title, one, undefined, given);
    });
  }
  describe("a roll of signing keys", () => {
    for (const [title, given] of Object.entries(keys)) test(title, pair(1), signingKeys, given);
  });
});

describe("reset: what follows from one that was not confirmed", () => {
  it("what could not be attributed is in otherFields, however credentials are saved, until a new version resets", async () => {
    for (const form of [{}, { saveCredentials: false }]) {
      const secret = await resetSecret({ version: 1 }, one);
      const desired = { version: 2, ...form };
      await secret.up(desired, { ...stillFormer, responds: unattributed(all(2)) });
      assert.deepEqual(JSON.parse(String(secret.outputs?.["otherFields"])), all(2), JSON.stringify(form));
      const refused = await secret.up(desired, stillFormer);
      assert.deepEqual([refused.code, refused.sent], ["REKEY_REPEATEDLY_UNCONFIRMED", 0]);
      const { sent } = await secret.copy().up({ ...desired, version: 3 }, { ...both, responds: all(2) });
      assert.equal(sent, 1);
      await secret.up(desired, { shows: all(2) });
      assert.equal(progressOf(secret.state).outcome, "reset");
      assert.equal(secret.outputs?.["otherFields"], undefined);
    }
  });

  it("a read that fails after one that has shown the former password proves nothing else", async () => {
    let nth = 0;
    const secret = await resetSecret({ version: 1 }, one);
    const showsAfter = () => (nth++ === 0 ? one : rejected());
    const { code, message = "", reads } = await secret.up({ version: 2 }, { shows: one, showsAfter });
    assert.deepEqual([code, reads, secret.saved], ["REKEY_UNCONFIRMED", 3, one]);
    assert.match(message, /reads still show the old one/);
  });

  it("neither its date nor its schedule counts", async () => {
    const secret = await resetSecret({ version: 1 }, one);
    secret.hours = 48;
    const desired = { version: 1, rotatedSince: "2026-01-02", rotateEvery: "1d" };
    await secret.up(desired, { ...stillFormer, responds: one });
    const { memory, outputs } = secret;
    const started = "2026-01-01T00:00:00.000Z";
    assert.deepEqual(
      [memory.current.generatedAt, memory.scheduledFrom, outputs?.["rotatedAt"]],
      [started, started, started],
    );
    const { sent } = await secret.up(desired, { ...both, responds: all(2) });
    assert.equal(sent, 1);
    assert.equal((await secret.up(desired, { shows: all(2) })).sent, 0);
  });

  it("what someone else has changed before it is saved, and told", async () => {
    const secret = await resetSecret({ version: 1 }, one);
    const { said } = await secret.up({ version: 2 }, { shows: all(7), responds: isLost });
    assert.match(said, /was changed outside of Rekey \(password, restToken\)/);
    assert.deepEqual(secret.saved, all(7));
    const later = await secret.refresh({ shows: all(8) });
    assert.match(later.said, /a read now shows new credentials/);
  });

  it("one that is rejected saves what someone else has changed before it, and may be sent again in the run", async () => {
    const secret = await resetSecret({ version: 1 }, one);
    const { code, sent } = await secret.up({ version: 2 }, { shows: all(7), responds: rejected, calls: 2 });
    assert.deepEqual([code, sent, secret.saved], ["REKEY_REJECTED", 2, all(7)]);
  });

  it("one for a date that is rejected does not undo the adoption before it", async () => {
    const secret = new RotatedSecret();
    const { code } = await secret.up({ initialRotation: false, rotatedSince: "2025-01-01" }, { responds: rejected });
    assert.deepEqual([code, progressOf(secret.state).outcome], ["REKEY_REJECTED", "adopted"]);
  });

  it("one of several may be older than a date, so that one more is sent", async () => {
    const secret = await resetSecret({ version: 1 }, one);
    await secret.up({ version: 2 }, { responds: isLost });
    secret.hours = 5;
    const desired = { version: 2, rotatedSince: timeAt(3).toISOString() };
    const { said } = await secret.up(desired, { ...both, responds: isLost });
    assert.match(
      said,
      /may have made it, so it may still be older than rotatedSince\. The next `up` resets it once more/,
    );
    assert.equal((await secret.up(desired, { shows: all(2), showsAfter: all(3), responds: all(3) })).sent, 1);
  });

  it("of a new resource settles with the next read after two were lost, as that of a saved one does", async () => {
    for (const secret of [new RotatedSecret(), await resetSecret({ version: 1 }, one)]) {
      const desired = { version: 2 };
      await secret.up(desired, { ...stillFormer, responds: isLost });
      assert.equal((await secret.up(desired, { ...both, responds: isLost })).code, undefined);
      assert.deepEqual(secret.saved, all(2));
    }
  });

  it("the third in a row says that no other one is sent", async () => {
    const secret = await resetSecret({ version: 1 }, one);
    const messages: (string | undefined)[] = [];
    for (let nth = 1; nth <= 3; nth++) {
      messages.push((await secret.up({ version: 2 }, { responds: isLost })).message);
    }
    assert.match(messages[1] ?? "", /it resets again/);
    assert.match(messages[2] ?? "", /does not reset/);
    assert.doesNotMatch(messages[2] ?? "", /resets again/);
  });

  it("the next key of a lost roll may be the current one before the roll that repeats it", async () => {
    const secret = await resetSecret({ version: 1 }, pair(0), { kind: signingKeys });
    secret.hours = 3;
    await secret.up({ version: 2 }, { responds: pair(1) });
    secret.hours = 5;
    await secret.up({ version: 3 }, { shows: {}, responds: isLost });
    secret.hours = 10;
    const { said } = await secret.up({ version: 3 }, { shows: { currentKey: "k2" }, showsAfter: {} });
    assert.match(said, /does not know currentKey, nextKey/);
    assert.deepEqual(secret.saved, {});
  });

  it("a lost roll, after which a read shows someone else's, fails, and is due again once minInterval is over", async () => {
    const secret = (await resetSecret({ version: 1 }, pair(1), { kind: signingKeys })).copy();
    secret.hours = 5;
    const does = { shows: pair(1), showsAfter: pair(8), responds: isLost, calls: 2 };
    const { said, code, message = "", sent } = await secret.up({ version: 2 }, does);
    assert.equal(sent, 1, "also if the engine repeats the call");
    assert.match(said, /^was changed outside of Rekey \(currentKey, nextKey\)/);
    assert.match(
      message,
      /not confirmed \(it broke\), and a read shows another current key than the next one: someone else/,
    );
    assert.doesNotMatch(message, /reads the|three unconfirmed/);
    assert.deepEqual([code, secret.saved], ["REKEY_UNCONFIRMED", pair(8)]);
    assert.equal((await secret.up({ version: 2 }, { shows: pair(8) })).code, "REKEY_ROLLED_RECENTLY");
    secret.hours = 7;
    const next = { shows: pair(8), showsAfter: pair(9), responds: pair(9) };
    assert.deepEqual([(await secret.up({ version: 2 }, next)).sent, secret.saved], [1, pair(9)]);
  });

  it("a first roll for rotatedSince says when the second one may be made", async () => {
    const secret = await resetSecret({ version: 1 }, pair(1), { kind: signingKeys });
    secret.hours = 48;
    const desired = { version: 1, rotatedSince: "2026-01-02" };
    const { said } = await secret.up(desired, { shows: pair(1), showsAfter: pair(2), responds: pair(2) });
    assert.match(said, /still older than rotatedSince.* after 2026-01-03T01:00:00.000Z to roll a second time/);
    secret.hours = 49;
    const second = await secret.up(
      { ...desired, minInterval: "PT30M" },
      { shows: pair(2), showsAfter: pair(3), responds: pair(3) },
    );
    assert.deepEqual([second.sent, second.said], [1, ""]);
    assert.equal((await secret.up(desired, { shows: pair(3) })).sent, 0);
  });
});

describe("reset: its requests", () => {
  it("it asks for a new connection unless the read before has shown the identifying credential", async () => {
    for (const [shows, isNew] of [
      [all(1), false],
      [{ restToken: "r1" }, false],
      [{ readOnlyRestToken: "o1" }, true],
      [undefined, true],
    ] as const) {
      const secret = new RotatedSecret();
      await secret.up({ version: 1 }, { ...(shows && { shows }), responds: all(2) });
      assert.deepEqual(secret.fake.newConnections, [isNew]);
    }
  });

  it("it is read before it, and after it only if something is missing", async () => {
    const readsOf = async (does: PlatformDoes, desired = {}): Promise<number> => {
      const secret = await resetSecret({ version: 1 }, one);
      return (await secret.up({ version: 2, ...desired }, does)).reads;
    };
    assert.equal(await readsOf({ ...both, responds: all(2) }), 1);
    assert.equal(await readsOf({ ...both, responds: { password: "p2" } }), 2);
    assert.equal(await readsOf({ ...both, responds: all(2) }, { saveCredentials: false }), 2);
    assert.equal(await readsOf({ responds: { password: "p2" } }), 0);
  });

  it("an adoption that becomes a reset, because its age is not known, does not say that it was adopted", async () => {
    const secret = new RotatedSecret();
    const desired = { initialRotation: false, rotatedSince: "2025-01-01" };
    const does = { shows: {}, showsAfter: all(2), responds: all(2), calls: 2 };
    const { said, sent } = await secret.up(desired, does);
    assert.deepEqual([said, sent], ["", 1]);
  });

  it("a new token of the queue is used once it is confirmed, and a failure to use it loses nothing", async () => {
    const used: unknown[] = [];
    const parts = { useQueueToken: (...token: unknown[]) => void used.push(token) };
    const secret = await resetSecret({ version: 1, overlap: "none" }, { token: "t1" }, { kind: queueToken, id: "u" });
    await secret.up({ version: 2, overlap: "none" }, { responds: { token: "t1" }, parts });
    assert.deepEqual(used, []);
    await secret.up({ version: 3, overlap: "none" }, { responds: { token: "t2" }, parts });
    assert.deepEqual(used, [["u", "t2"]]);
    for (const [nth, useQueueToken] of [() => assert.fail("broken"), notSent].entries()) {
      const broken = { responds: { token: `t${nth + 3}` }, parts: { useQueueToken } };
      const { code, message = "" } = await secret.up({ version: nth + 4, overlap: "none" }, broken);
      assert.deepEqual([code, secret.saved], ["REKEY_INTERNAL", { token: `t${nth + 3}` }]);
      assert.match(message, /^Could not rotate the token of queue user "u".*The token may have been changed/);
      assert.equal(progressOf(secret.state).outcome, "unknown");
    }
  });
});
