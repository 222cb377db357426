import assert from "node:assert/strict";
import { type Credentials } from "../../../provider/records/fields";
import { type SecretResponse } from "../../../provider/records/response";
import { adopt, claimedRoll } from "../../../provider/rotation/adoption";
import { withPending, confirm, judge, learn, type Verdict } from "../../../provider/rotation/evidence";
import { type Learned } from "../../../provider/rotation/messages";
import { signingKeys } from "../../../provider/platform/secretKind";
import { bestOf, marksOf, unknownIn } from "../../../provider/rotation/marks";
import { type Context, type Plan } from "../../../provider/rotation/plan";
import { credentialsIn, progressOf, type State } from "../../../provider/rotation/memory";
import { contextAt } from "../../support/savedRotation";

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000);
const here = { account: "a", address: "https://a" };
const context = (hours = 0, more: Partial<Context> = {}) => contextAt(at(hours), { place: here, ...more });
const shows = (credentials: Credentials, record = {}): SecretResponse => {
  return { record, credentials, exactIntegers: {}, problems: [] };
};
const kinds = (found: Learned) => found.findings.map(({ kind }) => kind);

/** A record of generation n of a database. */
const all = (n: number): Credentials => ({ password: `p${n}`, restToken: `r${n}` });
const keys = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });

const adopted = (): State => adopt({}, shows(all(1)), context()).state;
/** After a confirmed reset to generation 2, for version 1. */
const confirmed = (): State => {
  const pending = withPending(adopted(), { version: 1 }, "trigger", shows(all(1)), context());
  return confirm(pending, [shows(all(2))], { at: at(0).toISOString() }, context());
};
/** After one more reset, for version 2, of which nothing came back. */
const lost = (read: Credentials | undefined, from = confirmed()): State =>
  withPending(from, { version: 2 }, "trigger", read && shows(read), context(1));
/** After a reset to generation 3 before which a read has hidden everything. */
const unseen = (from = confirmed(), came = all(3)): State =>
  confirm(lost({}, from), [shows(came)], { at: at(1).toISOString() }, context(1));

describe("evidence: what a record proves", () => {
  const verdictOf = ({ memory }: State, credentials: Credentials, when = context(2)): Verdict =>
    judge(memory, marksOf(memory, credentials), when);
  const ofKeys = (hours: number) => context(hours, { kind: signingKeys });
  /** After a roll from the first pair, and before one of which nothing came back. */
  const keysLost = (read: Credentials): State => {
    const first = adopt({}, shows(keys(1)), ofKeys(0)).state;
    const sent = withPending(first, { version: 1 }, "trigger", shows(keys(1)), ofKeys(0));
    const rolled = confirm(sent, [shows(keys(2))], { at: at(0).toISOString() }, ofKeys(0));
    return withPending(rolled, { version: 2 }, "trigger", shows(read), ofKeys(1));
  };
  /** After a reset before which only a token was shown. */
  const tokenBefore = (): State => {
    const first = adopt({}, shows({ restToken: "r1" }), context()).state;
    const pending = withPending(first, { version: 1 }, "trigger", shows({ restToken: "r1" }), context());
    return confirm(pending, [shows(all(2))], { at: at(0).toISOString() }, context());
  };
  // Each row is made by its test: a state that is made while tests are loaded proves nothing of what made it.
  const rows = (): readonly [what: string, state: State, shown: Credentials, verdict: Verdict, when?: Context][] => [
    ["what is current", confirmed(), all(2), "same"],
    ["what a reset has replaced", confirmed(), all(1), "stale"],
    ["what a reset has replaced, days later", confirmed(), all(1), "stale", context(50)],
    ["a former token alone", tokenBefore(), { restToken: "r1" }, "stale"],
    ["a former token with a new password", tokenBefore(), { password: "p3", restToken: "r1" }, "new"],
    ["what only was shown before a lost reset", lost(all(3)), all(3), "same"],
    [
      "what was shown before the first of two lost resets",
      withPending(lost(all(3)), { version: 2 }, "trigger", shows(all(4)), context(1)),
      all(3),
      "same",
    ],
    ["the next keys, if only the current one was shown before", keysLost({ currentKey: "k2" }), keys(3), "new"],
    ["half of another pair after a lost roll", keysLost(keys(2)), { currentKey: "k8" }, "hidden"],
    ["another pair after a lost roll", keysLost(keys(2)), keys(8), "foreign"],
    ["half of another pair", learn(keysLost(keys(2)), shows(keys(3)), ofKeys(2)).state, { currentKey: "k8" }, "hidden"],
    ["a former password with the current token", confirmed(), { ...all(2), ...{ password: "p1" } }, "stale"],
    ["a new password with a former token", confirmed(), { password: "p3", restToken: "r1" }, "new"],
    ["other credentials", confirmed(), all(3), "new"],
    ["a token without the password", confirmed(), { restToken: "r2" }, "hidden"],
    ["a former password alone", confirmed(), { password: "p1" }, "stale"],
    ["nothing", confirmed(), {}, "hidden"],
    ["what a reset has replaced, before which it was hidden", unseen(), all(2), "stale"],
    [
      "what was shown only before a lost reset, after another one",
      unseen(withPending(undefined, { version: 2 }, "created", shows(all(1)), context())),
      all(1),
      "stale",
    ],
    [
      "another token, after a read that hid the password",
      learn(unseen(adopted(), { restToken: "r3" }), shows({ restToken: "r3" }), context(2)).state,
      { restToken: "r1" },
      "hidden",
    ],
    ["what was current before a lost reset", lost(all(2)), all(2), "same"],
    ["others after a lost reset", lost(all(2)), all(3), "new"],
    ["others after a lost reset before which nothing was shown", lost({}), all(3), "hidden"],
    ["others, before which only others were shown", lost({ restToken: "r3" }), all(3), "hidden"],
    ["others, before which a consistent part was shown", lost({ restToken: "r2" }), all(3), "new"],
  ];
  for (const [index, [what, , , verdict]] of rows().entries()) {
    it(`${what}: ${verdict}`, () => {
      const [, state, shown, , when] = rows()[index] ?? assert.fail();
      assert.equal(verdictOf(state, shown, when), verdict);
    });
  }

  it("a former key: stale for less than a day", () => {
    const { memory } = learn(keysLost(keys(2)), shows(keys(3)), ofKeys(2)).state;
    const verdicts = [24.9, 25].map((hours) => judge(memory, marksOf(memory, keys(2)), ofKeys(hours)));
    assert.deepEqual(verdicts, ["stale", "new"]);
  });

  it("another place: elsewhere, unless it shows something that is known", () => {
    const there = context(2, { place: { account: "b" } });
    assert.equal(verdictOf(confirmed(), all(9), there), "elsewhere");
    assert.equal(verdictOf(confirmed(), {}, there), "elsewhere");
    assert.equal(verdictOf(confirmed(), all(2), there), "same");
    assert.equal(verdictOf(confirmed(), all(1), there), "stale");
  });
});

describe("evidence: a reset whose response is lost", () => {
  it("is applied if a read shows other credentials than before it", () => {
    const found = learn(lost(all(2)), shows(all(3)), context(2));
    assert.deepEqual(kinds(found), ["settled"]);
    const { rotationCount, rotatedAt, memory, ...rest } = found.state;
    const { outcome } = progressOf(found.state);
    assert.deepEqual(
      { outcome, rotationCount, rotatedAt },
      { outcome: "reset", rotationCount: 2, rotatedAt: at(1).toISOString() },
    );
    assert.deepEqual(credentialsIn(rest), all(3));
    assert.equal(memory.pending, undefined);
    assert.notEqual(memory.applied, confirmed().memory.applied);
  });

  it("is not settled by what someone else had changed before it, however much of that was hidden", () => {
    for (const read of [{}, { restToken: "r3" }]) {
      const state = lost(read);
      const found = learn(state, shows(all(3)), context(2));
      assert.equal(found.state, state);
      assert.equal(found.state.memory.pending?.before, undefined);
    }
  });

  it("is not settled by a read at another place, by nothing, or by what was current before", () => {
    const state = lost(all(2));
    const there = context(2, { place: { account: "b" } });
    for (const found of [
      learn(state, shows(all(9)), there),
      learn(state, shows({}), context(2)),
      learn(state, shows(all(2)), context(2)),
      learn(state, shows(all(1)), context(2)),
    ]) {
      assert.deepEqual(found.state.memory.pending, state.memory.pending);
      assert.deepEqual(credentialsIn(found.state), all(2));
    }
  });

  it("of several in a row keeps the reason and the trigger of the first, whose age counts, and the time of the last", () => {
    const once = lost(all(2)).memory.pending ?? assert.fail();
    const state = { ...lost(all(2)) };
    const again = withPending(
      { ...state, memory: { ...state.memory, pending: once } },
      { rotatedSince: "2026-01-01" },
      "schedule",
      shows(all(2)),
      context(5),
    );
    const { count, at: first, since, reason, trigger } = again.memory.pending ?? assert.fail();
    const expected = { count: 2, first: at(1).toISOString(), since: undefined, reason: "trigger" };
    assert.deepEqual({ count, first, since, reason }, expected);
    assert.equal(trigger, once.trigger);
    const { rotatedAt, memory } = learn(again, shows(all(3)), context(6)).state;
    const times = [rotatedAt, memory.made[0]?.at, memory.scheduledFrom];
    assert.deepEqual(
      times,
      [at(1), at(1), at(5)].map((time) => time.toISOString()),
    );
  });

  it("of another version is the first of its own, and a clock that was set back counts", () => {
    const { memory } = withPending(
      lost(all(2)),
      { version: 3, rotatedSince: "2026-01-01" },
      "trigger",
      undefined,
      context(0),
    );
    const { before, trigger, ...pending } = memory.pending ?? assert.fail();
    const sent = at(0).toISOString();
    assert.deepEqual(pending, { reason: "trigger", count: 1, at: sent, since: undefined, lastAt: sent });
    assert.notEqual(trigger, lost(all(2)).memory.pending?.trigger);
    assert.equal(before, undefined);
    assert.equal(learn(lost(all(2)), shows(all(3)), context(0)).state.rotatedAt, at(0).toISOString());
  });

  it("remembers what was shown before it, and nothing that is not true", () => {
    const { memory } = lost({ password: "p2", restToken: "r9" });
    assert.deepEqual(memory.pending?.before, marksOf(memory, { password: "p2", restToken: "r9" }));
    assert.deepEqual([memory.maybeFormer, memory.rolledAt, memory.place], [[], undefined, here]);
    assert.deepEqual(
      withPending(confirmed(), {}, "trigger", undefined, context(1, { place: undefined })).memory.place,
      here,
    );
    const stale = lost(all(1)).memory;
    assert.deepEqual(stale.pending?.before, stale.current);
    const again = withPending(lost(all(2)), { version: 2 }, "trigger", shows(all(1)), context(1)).memory;
    assert.equal(again.pending?.before, undefined);
    const part = lost({ restToken: "r2" }).memory;
    assert.deepEqual(part.pending?.before, part.current);
    assert.equal(withPending(undefined, {}, "created", undefined, context()).memory.applied, "");
  });

  it("names what a read that settles it does not show", () => {
    const { findings } = learn(lost(all(2)), shows({ password: "p3" }), context(2));
    assert.deepEqual(findings, [{ kind: "settled" }, { kind: "unknown", names: ["restToken"] }]);
  });
});

describe("evidence: what is saved of a response", () => {
  const after = (response: Credentials, read?: Credentials, before: Credentials | undefined = all(2)) => {
    const state = confirm(
      lost(before),
      [shows(response), ...(read ? [shows(read)] : [])],
      { at: at(1).toISOString() },
      context(1),
    );
    return { saved: credentialsIn(state), missing: unknownIn(state.memory.current) };
  };
  const rows = () => ({
    "all of it": [after(all(3)), { saved: all(3), missing: [] }],
    "a new password, although the token is repeated": [
      after({ password: "p3", restToken: "r2" }),
      { saved: { password: "p3", restToken: "r2" }, missing: [] },
    ],
    "nothing of a record from before": [after(all(2)), { saved: {}, missing: ["password", "restToken"] }],
    "nothing of a record from before an earlier reset": [
      after(all(1)),
      { saved: {}, missing: ["password", "restToken"] },
    ],
    "a token that differs, without the password": [
      after({ restToken: "r3" }),
      { saved: { restToken: "r3" }, missing: ["password"] },
    ],
    "no token that does not differ, without the password": [
      after({ restToken: "r2" }),
      { saved: {}, missing: ["password", "restToken"] },
    ],
    "what a read has shown": [after({ password: "p3" }, all(3)), { saved: all(3), missing: [] }],
  });
  for (const what of Object.keys(rows()) as (keyof ReturnType<typeof rows>)[]) {
    it(what, () => {
      const [seen, expected] = rows()[what];
      assert.deepEqual(seen, expected);
    });
  }

  it("what it replaces is former, and nothing else is left of it", () => {
    const { memory, problems } = confirmed();
    assert.deepEqual(memory.former, [marksOf(memory, { password: "p1" }).password]);
    assert.deepEqual([memory.maybeFormer, memory.made, problems], [[], [{ at: at(0).toISOString() }], []]);
  });
});

describe("evidence: what a read shows, if no reset is pending", () => {
  it("what someone else has changed is saved", () => {
    const found = learn(confirmed(), shows(all(3)), context(2));
    assert.deepEqual(credentialsIn(found.state), all(3));
    assert.deepEqual(found.findings, [{ kind: "drift", names: ["password", "restToken"] }]);
  });

  it("each difference is named once, by what it is", () => {
    const known = { ...confirmed(), record: { port: 1 } };
    const part = confirm(lost(all(2)), [shows({ password: "p3" })], { at: at(1).toISOString() }, context(1));
    const rows: readonly [state: State, read: SecretResponse, findings: Learned["findings"]][] = [
      [known, shows(all(2), { port: 1 }), []],
      [known, shows(all(2), { port: 2 }), [{ kind: "drift", names: ["port"] }]],
      [known, shows({ ...all(2), restToken: "r3" }), [{ kind: "drift", names: ["restToken"] }]],
      [
        known,
        shows({}, { port: 2 }),
        [
          { kind: "drift", names: ["port"] },
          { kind: "unseen", names: ["password", "restToken"] },
        ],
      ],
      [known, shows({ password: "p2" }), [{ kind: "unseen", names: ["restToken"] }]],
      [
        known,
        shows({ password: "p3", readOnlyRestToken: "o3" }),
        [
          { kind: "drift", names: ["password"] },
          { kind: "unknown", names: ["restToken"] },
        ],
      ],
      [part, shows(all(3)), [{ kind: "read", names: ["restToken"] }]],
      [
        part,
        shows({}),
        [
          { kind: "unknown", names: ["restToken"] },
          { kind: "unseen", names: ["password"] },
        ],
      ],
    ];
    for (const [state, read, findings] of rows) assert.deepEqual(learn(state, read, context(2)).findings, findings);
  });

  it("what they have replaced is remembered, and is not former", () => {
    const { memory } = learn(confirmed(), shows(all(3)), context(2)).state;
    const [p1, p2] = ["p1", "p2"].map((password) => marksOf(memory, { password }).password);
    assert.deepEqual([memory.maybeFormer, memory.former], [[p2], [p1]]);
    assert.deepEqual([memory.rolledAt, memory.made], [undefined, confirmed().memory.made]);
    const token = learn(confirmed(), shows({ ...all(2), restToken: "r3" }), context(2)).state.memory;
    assert.deepEqual(token.maybeFormer, []);
    const back = learn({ ...confirmed(), memory }, shows(all(2)), context(3)).state.memory;
    assert.deepEqual(back.maybeFormer, [marksOf(memory, { password: "p3" }).password]);
  });

  it("what they have replaced may return", () => {
    const changed = learn(confirmed(), shows(all(3)), context(2)).state;
    assert.deepEqual(credentialsIn(learn(changed, shows(all(2)), context(3)).state), all(2));
  });

  it("another token without the password is named, and nothing is saved of it", () => {
    const found = learn(confirmed(), shows({ restToken: "r3" }), context(2));
    assert.deepEqual(credentialsIn(found.state), all(2));
    assert.deepEqual(found.findings, [{ kind: "unseen", names: ["restToken", "password"] }]);
  });

  it("another token with the same password replaces nothing else", () => {
    const state = learn(confirmed(), shows({ ...all(2), readOnlyRestToken: "o2" }), context(2)).state;
    const found = learn(state, shows({ password: "p2", restToken: "r3" }), context(3));
    assert.deepEqual(credentialsIn(found.state), { password: "p2", restToken: "r3", readOnlyRestToken: "o2" });
  });

  it("a delivered token stays if a read shows only the password that was missing", () => {
    const state = confirm(lost(all(2)), [shows({ restToken: "r3" })], { at: at(1).toISOString() }, context(1));
    const found = learn(state, shows({ password: "p3" }), context(2));
    assert.deepEqual(credentialsIn(found.state), all(3));
  });

  it("a read at another address that shows what is known makes that the place", () => {
    const there = context(2, { place: { account: "b", address: "https://b" } });
    assert.deepEqual(learn(confirmed(), shows(all(2)), there).state.memory.place, there.place);
    const other = learn(confirmed(), shows(all(9)), there);
    assert.deepEqual(kinds(other), ["elsewhere"]);
    assert.deepEqual(other.state.memory.place, here);
  });

  it("at another place, a reset begins a new memory", () => {
    const there = context(2, { place: { account: "b" } });
    const state = withPending(confirmed(), { version: 2 }, "trigger", shows(all(9)), there);
    assert.deepEqual(state.memory.former, []);
    assert.notEqual(state.memory.salt, confirmed().memory.salt);
    assert.equal(bestOf(state), undefined);
  });
});

describe("evidence: signing keys", () => {
  const ofKeys = (hours: number, more: Partial<Context> = {}) => context(hours, { kind: signingKeys, ...more });
  const adopted = (): State => adopt({ version: 1 }, shows(keys(1)), ofKeys(0)).state;
  const rolled = (): State =>
    confirm(
      withPending(adopted(), { version: 2 }, "trigger", shows(keys(1)), ofKeys(1)),
      [shows(keys(2))],
      { at: at(1).toISOString() },
      ofKeys(1),
    );
  const pending = (): State => withPending(rolled(), { version: 3 }, "trigger", shows(keys(2)), ofKeys(5));

  it("a lost roll was applied if the current key is the next one of before it", () => {
    const found = learn(pending(), shows(keys(3)), ofKeys(6));
    assert.deepEqual(kinds(found), ["settled"]);
    assert.deepEqual(credentialsIn(found.state), keys(3));
  });

  it("the next key becomes the current one, although a roll shows nothing: consumers keep a key that is known", () => {
    const made = { at: at(5).toISOString() };
    const blind = withPending(rolled(), { version: 3 }, "trigger", shows({}), ofKeys(5));
    const state = confirm(blind, [shows({})], made, ofKeys(5));
    assert.deepEqual(credentialsIn(state), { currentKey: "k3" });
    assert.deepEqual(unknownIn(state.memory.current), ["nextKey"]);
    const part = confirm(blind, [shows({ nextKey: "k4" })], made, ofKeys(5));
    assert.deepEqual(credentialsIn(part), keys(3));
    assert.deepEqual(credentialsIn(confirm(blind, [shows(keys(8))], made, ofKeys(5))), keys(8));
    // It was current before this roll, because the one before was applied, or someone else had skipped it.
    const former = withPending(blind, { version: 3 }, "trigger", shows({ currentKey: "k3" }), ofKeys(5));
    assert.deepEqual(credentialsIn(confirm(former, [shows({})], made, ofKeys(5))), {});
    const other = withPending(rolled(), { version: 3 }, "trigger", shows(keys(6)), ofKeys(5));
    assert.deepEqual(credentialsIn(confirm(other, [shows({})], made, ofKeys(5))), {});
  });

  it("a read after a roll that differs from what its response has delivered is older", () => {
    const sent = withPending(rolled(), { version: 3 }, "trigger", shows(keys(2)), ofKeys(5));
    const came = [shows({ nextKey: "k5" }), shows(keys(3))];
    assert.equal(confirm(sent, came, { at: at(5).toISOString() }, ofKeys(5)).nextKey, "k5");
  });

  it("each key is as old as the roll that made it", () => {
    const [first, second] = [at(1), at(5)].map((time) => time.toISOString());
    const state = confirm(pending(), [shows(keys(3))], { at: second ?? "" }, ofKeys(5));
    assert.deepEqual(state.memory.made, [{ at: first }, { at: second }]);
    const noticed = (read: Credentials) => learn(state, shows(read), ofKeys(9)).state.memory;
    assert.deepEqual(noticed(keys(4)).made, [{ at: second }, {}]);
    assert.deepEqual(noticed(keys(8)).made, [{}, {}]);
    assert.equal(noticed(keys(4)).rolledAt, at(9).toISOString());
    assert.deepEqual(noticed(keys(4)).maybeFormer.length, 1);
    assert.deepEqual(noticed(keys(8)).maybeFormer.length, 2);
  });

  it("a next key that someone else has skipped is a former one after a roll", () => {
    const changed = learn(rolled(), shows(keys(4)), ofKeys(5)).state;
    const sent = withPending(changed, { version: 3 }, "trigger", shows(keys(4)), ofKeys(9));
    const state = confirm(sent, [shows(keys(5))], { at: at(9).toISOString() }, ofKeys(9));
    assert.deepEqual(kinds(learn(state, shows(keys(3)), ofKeys(10))), ["stale"]);
  });

  it("a roll that was noticed counts as that of a new version, and of nothing else that asks for one", () => {
    const before = rolled();
    const noticed = learn(before, shows(keys(3)), ofKeys(6));
    const isClaimed = (plan: Plan) => claimedRoll(plan, before.memory, noticed, { version: 3 }) !== undefined;
    const plans: readonly Plan[] = [
      { kind: "reset", reason: "trigger" },
      { kind: "reset", reason: "schedule" },
      { kind: "reset", reason: "rotatedSince" },
      { kind: "keep" },
    ];
    assert.deepEqual(plans.map(isClaimed), [true, false, false, false]);
    // One that settles an unconfirmed roll is that one.
    const open = pending();
    const settled = learn(open, shows(keys(3)), ofKeys(6));
    assert.equal(claimedRoll(plans[0] ?? assert.fail(), open.memory, settled, { version: 4 }), undefined);
    // The current key is enough to show it.
    const half = learn(before, shows({ currentKey: "k3" }), ofKeys(6));
    const claimed = claimedRoll(plans[0] ?? assert.fail(), before.memory, half, { version: 3 }) ?? assert.fail();
    assert.deepEqual(claimed.findings, [{ kind: "claimed" }, { kind: "unknown", names: ["nextKey"] }]);
    assert.deepEqual(credentialsIn(claimed.state), { currentKey: "k3" });
  });

  it("keys of neither before nor after it end the doubt, are saved, and no roll is due from it", () => {
    const before = pending();
    const found = learn(before, shows(keys(8)), ofKeys(6));
    assert.deepEqual(kinds(found), ["overtaken"]);
    assert.deepEqual(credentialsIn(found.state), keys(8));
    const { memory } = found.state;
    assert.equal(progressOf(found.state).outcome, "reset");
    assert.equal(memory.pending, undefined);
    assert.equal(memory.applied, before.memory.applied);
    assert.equal(memory.rolledAt, at(6).toISOString());
  });

  it("a read of earlier keys is late for a day, because no roll returns to them", () => {
    const lost = (before?: State) => withPending(before, {}, "created", shows(keys(1)), ofKeys(5));
    // What several lost rolls in a row may have replaced may be current.
    const { memory } = lost(lost(lost()));
    assert.deepEqual(memory.pending?.before, marksOf(memory, keys(1)));
    const overtaken = learn(lost(), shows(keys(8)), ofKeys(6));
    const changed = learn(rolled(), shows(keys(3)), ofKeys(6));
    const half = learn(rolled(), shows({ currentKey: "k3" }), ofKeys(6));
    for (const [{ state }, late] of [
      [overtaken, keys(1)],
      [changed, keys(2)],
      [half, { currentKey: "k2" }],
    ] as const) {
      const [early, later] = [28, 30].map((hours) => learn(state, shows(late), ofKeys(hours)));
      assert.equal(early?.state, state);
      assert.deepEqual(later && credentialsIn(later.state), late);
    }
  });

  it("one key of a pair that is not theirs proves nothing: receivers need both", () => {
    const before = pending();
    assert.equal(learn(before, shows({ currentKey: "k8" }), ofKeys(6)).state, before);
  });

  it("a former key is stale for a day, and current if it is still shown then", () => {
    assert.deepEqual(kinds(learn(rolled(), shows(keys(1)), ofKeys(2))), ["stale"]);
    const later = learn(rolled(), shows(keys(1)), ofKeys(26));
    assert.deepEqual(credentialsIn(later.state), keys(1));
  });

  it("a new current key without a next one is saved only if no pair is known: receivers need both", () => {
    const half = shows({ currentKey: "k9" });
    const found = learn(rolled(), half, ofKeys(6));
    assert.deepEqual(credentialsIn(found.state), keys(2));
    assert.ok(kinds(found).includes("unseen"));
    const part = confirm(pending(), [shows({})], { at: at(5).toISOString() }, ofKeys(5));
    assert.deepEqual(credentialsIn(part), { currentKey: "k3" });
    assert.deepEqual(credentialsIn(learn(part, half, ofKeys(6)).state), { currentKey: "k9" });
  });

  it("elsewhere, nothing is compared or saved, and back here, everything is as before", () => {
    const there = ofKeys(2, { place: { account: "b", address: "https://b" } });
    const state = rolled();
    const found = learn(state, shows(keys(20)), there);
    assert.deepEqual(kinds(found), ["elsewhere"]);
    assert.equal(found.state, state);
    assert.deepEqual(learn(state, shows(keys(2)), ofKeys(3)).state.memory, state.memory);
  });
});
