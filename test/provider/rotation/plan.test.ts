import assert from "node:assert/strict";
import { type Credentials } from "../../../provider/records/fields";
import { unknownValue } from "../../../provider/records/properties";
import { adopt } from "../../../provider/rotation/adoption";
import { withPending } from "../../../provider/rotation/evidence";
import { databasePassword, signingKeys, queueToken } from "../../../provider/platform/secretKind";
import { type Memory, type State, type Declared, withoutValues } from "../../../provider/rotation/memory";
import {
  type Context,
  type Desired,
  planRotation,
  contextOf,
  declaredIn,
  mayChange,
  type Plan,
  whyElsewhere,
} from "../../../provider/rotation/plan";
import { FakeRun } from "../../support/fakeRun";
import { contextAt, stateAfterReset } from "../../support/savedRotation";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const here = { account: "a", address: "https://a" };
const context = (hours = 1, more: Partial<Context> = {}) => {
  return contextAt(new Date(start + hours * hour), { place: here, ...more });
};
const password = { password: "p1" };
const shown = { record: {}, credentials: password, exactIntegers: {}, problems: [] };
const saved = (desired: Desired = { version: 1 }, more: Partial<Context> = {}): State =>
  stateAfterReset(desired, password, context(0, more));
const remembering = (memory: Partial<Memory>, state = saved()): State => ({
  ...state,
  memory: { ...state.memory, ...memory },
});
const lost = (desired: Desired, reason: "trigger" | "schedule" = "trigger", state = saved()): State =>
  withPending(state, desired, reason, undefined, context(1));

interface Row {
  readonly state: State | undefined;
  readonly desired: Desired;
  readonly context?: Context;
  readonly plan: string;
}

/** `reset: trigger`, `keep, waits: schedule`, `refuse: REKEY_…` */
function planOf({ state, desired, context: given = context() }: Omit<Row, "plan">): string {
  const plan = planRotation(state, desired, given);
  if (plan.kind === "reset") return `reset${plan.isAgain ? " again" : ""}: ${plan.reason}`;
  if ((plan.kind === "keep" || plan.kind === "read") && plan.waits) {
    return `${plan.kind}, waits: ${plan.waits.reason}${plan.waits.isAgain ? " again" : ""}`;
  }
  if (plan.kind === "refuse") return `refuse: ${plan.code}`;
  if (plan.kind === "maybe") return `maybe: ${plan.names.join()}`;
  return plan.kind;
}

/** After a reset whose values have left the state. */
const hidden = (memory: Partial<Memory>, declared: Declared): State =>
  withoutValues(remembering({ ...memory, declared: { ...declared, saveCredentials: false } }));

const inState = () => saved({ version: 1, rotateEvery: "7d" });
const elsewhere = context(1, { place: { account: "b" } });

/** Each row is made by its test: a state that is made while tests are loaded proves nothing of what made it. */
const rows = (): Readonly<Record<string, Row>> => ({
  "a new resource": { state: undefined, desired: {}, plan: "reset: created" },
  "a new one that is adopted": { state: undefined, desired: { initialRotation: false }, plan: "adopt" },
  "a new one, if that is not known": {
    state: undefined,
    desired: { initialRotation: unknownValue as never },
    plan: "maybe: initialRotation",
  },
  "the same version, written as text": { state: saved(), desired: { version: "1" }, plan: "keep" },
  "no version any more": { state: saved(), desired: {}, plan: "keep" },
  "another version": { state: saved(), desired: { version: 2 }, plan: "reset: trigger" },
  "a version that is not known yet": { state: saved(), desired: { version: unknownValue }, plan: "maybe: version" },
  "after an import": {
    state: remembering({ applied: undefined }, adopt({ saveCredentials: false }, undefined, context(0)).state),
    desired: { version: 7, rotatedSince: "2026-01-01", rotateEvery: "1h" },
    context: context(1000),
    plan: "read",
  },
  "after an adoption, the same version": {
    state: adopt({ version: 1 }, undefined, context(0)).state,
    desired: { version: 1 },
    plan: "keep",
  },
  "after an adoption of one that is younger than rotatedSince": {
    state: adopt({ version: 1 }, { ...shown, record: { creationTime: start / 1000 } }, context(0)).state,
    desired: { version: 1, rotatedSince: "2025-12-31" },
    plan: "keep",
  },
  "older than rotatedSince": {
    state: saved(),
    desired: { version: 1, rotatedSince: "2026-01-02" },
    context: context(48),
    plan: "reset: rotatedSince",
  },
  "of unknown age": {
    state: remembering({ made: [{}] }),
    desired: { version: 1, rotatedSince: "2020-01-01" },
    plan: "reset: rotatedSince",
  },
  "rotatedSince that was applied, whatever the clock": {
    state: remembering({
      made: [{ at: new Date(start + 999 * hour).toISOString(), since: "2026-01-02T00:00:00.000Z" }],
    }),
    desired: { version: 1, rotatedSince: "2026-01-02" },
    plan: "keep",
  },
  "a week, 61 minutes before its time": {
    state: inState(),
    desired: { rotateEvery: "7d" },
    context: context(167 - 1 / 60),
    plan: "keep",
  },
  "a week, an hour before its time": {
    state: inState(),
    desired: { rotateEvery: "7d" },
    context: context(167),
    plan: "reset: schedule",
  },
  "a schedule while schedules are off": {
    state: inState(),
    desired: { rotateEvery: "7d" },
    context: context(999, { isScheduleOn: false }),
    plan: "keep, waits: schedule",
  },
  "a version while schedules are off": {
    state: inState(),
    desired: { rotateEvery: "7d", version: 2 },
    context: context(999, { isScheduleOn: false }),
    plan: "reset: trigger",
  },
  "a changed rotateEvery that is not due": { state: inState(), desired: { rotateEvery: "30d" }, plan: "rewrite" },
  "a changed connection": {
    state: saved(),
    desired: { version: 1, connection: { port: 7000 } },
    plan: "rewrite",
  },
  "a form that is not known yet": {
    state: saved(),
    desired: { version: 1, encryptFor: [unknownValue] },
    plan: "read",
  },
  "values that a read must show before they leave": {
    state: saved(),
    desired: { version: 1, saveCredentials: false },
    plan: "read",
  },
  "values that were nowhere else when they were to leave": {
    state: remembering({ declared: { saveCredentials: false } }),
    desired: { version: 1, saveCredentials: false },
    plan: "read",
  },
  "a form of a secret that cannot be read": {
    state: saved(),
    desired: { version: 1, saveCredentials: false, encryptFor: ["age1"] },
    context: context(1, { canRead: false }),
    plan: "rewrite",
  },
  "a credential that is not known": {
    state: remembering({ current: { password: "" } }),
    desired: { version: 1 },
    plan: "read",
  },
  "a lost reset": { state: lost({ version: 2 }), desired: { version: 2 }, plan: "reset again: trigger" },
  "a lost reset whose version was removed": { state: lost({ version: 2 }), desired: {}, plan: "reset again: trigger" },
  "a lost reset, then another version": {
    state: lost({ version: 2 }),
    desired: { version: 3 },
    plan: "reset: trigger",
  },
  "three lost resets": {
    state: lost({ version: 2 }, "trigger", lost({ version: 2 }, "trigger", lost({ version: 2 }))),
    desired: { version: 2 },
    plan: "refuse: REKEY_REPEATEDLY_UNCONFIRMED",
  },
  "a lost reset at another place": {
    state: lost({ version: 2 }),
    desired: { version: 2 },
    context: elsewhere,
    plan: "refuse: REKEY_OTHER_ACCOUNT",
  },
  "a lost scheduled reset while schedules are off": {
    state: lost({ version: 1 }, "schedule"),
    desired: { version: 1 },
    context: context(2, { isScheduleOn: false }),
    plan: "keep, waits: schedule again",
  },
  "the same, if a read may settle it": {
    state: withPending(saved(), { version: 1 }, "schedule", shown, context(1)),
    desired: { version: 1 },
    context: context(2, { isScheduleOn: false }),
    plan: "read, waits: schedule again",
  },
  "a new version at another place": {
    state: saved(),
    desired: { version: 2 },
    context: elsewhere,
    plan: "reset: trigger",
  },
  "after an import that was adopted with its values, of one that cannot be read": {
    state: remembering({ applied: undefined }),
    desired: { version: 1 },
    context: context(1, { canRead: false }),
    plan: "rewrite",
  },
  "values that have left": {
    state: hidden({}, {}),
    desired: { version: 1, saveCredentials: false },
    plan: "keep",
  },
  "an age file that is no longer declared, because it was the only place": {
    state: hidden({ file: { for: ["age1"], has: {}, mark: "m" } }, {}),
    desired: { version: 1, saveCredentials: false },
    plan: "read",
  },
  "an age file that is wanted": {
    state: hidden({ file: { for: ["age1"], has: {}, mark: "m" } }, { encryptFor: ["age1"] }),
    desired: { version: 1, saveCredentials: false, encryptFor: ["age1"] },
    plan: "keep",
  },
  "of an age by a clock that was ahead": {
    state: remembering({ made: [{ at: new Date(start + 99 * hour).toISOString() }] }),
    desired: { version: 1, rotatedSince: "2026-01-01" },
    plan: "reset: rotatedSince",
  },
  "an earlier rotatedSince than the one that was applied": {
    state: remembering({ made: [{ since: "2026-01-02T00:00:00.000Z" }] }),
    desired: { version: 1, rotatedSince: "2026-01-01" },
    plan: "keep",
  },
  "a later rotatedSince than the one that was applied": {
    state: remembering({ made: [{ since: "2026-01-02T00:00:00.000Z" }] }),
    desired: { version: 1, rotatedSince: "2026-01-03" },
    plan: "reset: rotatedSince",
  },
  "credentials that are not saved, which a read before the reset hides": {
    state: saved(),
    desired: { version: 2, saveCredentials: false },
    context: context(1, { reads: [{}] }),
    plan: "refuse: REKEY_NOT_ENCRYPTED",
  },
  "credentials that are not saved, which a read before the reset shows": {
    state: saved(),
    desired: { version: 2, saveCredentials: false },
    context: context(1, { reads: [password] }),
    plan: "reset: trigger",
  },
  "credentials that are not saved, of which a read shows another one": {
    state: saved(),
    desired: { version: 2, saveCredentials: false },
    context: context(1, { reads: [{ restToken: "r1" }] }),
    plan: "refuse: REKEY_NOT_ENCRYPTED",
  },
  "credentials that are not saved, before a read": {
    state: saved(),
    desired: { version: 2, saveCredentials: false },
    plan: "reset: trigger",
  },
  "credentials that are encrypted and not saved, which a read hides": {
    state: saved(),
    desired: { version: 2, saveCredentials: false, encryptFor: ["age1"] },
    context: context(1, { reads: [{}] }),
    plan: "reset: trigger",
  },
});

describe("plan: what is due", () => {
  for (const [what, { plan }] of Object.entries(rows())) {
    it(`${what}: ${plan}`, () => assert.equal(planOf(rows()[what] ?? assert.fail()), plan));
  }

  it("a refusal ends with a read only if that may settle it, or show that keys are the same by another address", () => {
    const other: Plan = { kind: "refuse", code: "REKEY_OTHER_ACCOUNT", why: "" };
    const open = withPending(saved(), { version: 2 }, "trigger", shown, context(1));
    const ofKeys = (canRead: boolean) => context(1, { kind: signingKeys, canRead });
    const reads: readonly [first: boolean, mayChange: boolean][] = [
      [mayChange(saved(), other, ofKeys(true)), true],
      [mayChange(saved(), other, ofKeys(false)), false],
      [mayChange(saved(), other, context()), false],
      [mayChange(saved(), { ...other, code: "REKEY_ROLLED_RECENTLY" }, ofKeys(true)), false],
      [mayChange(open, { ...other, code: "REKEY_REPEATEDLY_UNCONFIRMED" }, context()), true],
      [mayChange(open, { kind: "keep" }, context()), true],
      [mayChange(open, { kind: "keep" }, context(1, { canRead: false })), false],
    ];
    for (const [seen, expected] of reads) assert.equal(seen, expected);
  });

  it("a refusal at another place names the settings of its own kind", () => {
    for (const [kind, settings] of [
      [databasePassword, /rekey:baseUrl or rekey:username\. If the database of/],
      [signingKeys, /^it belongs to https:\/\/a, .*rekey:queueUrl or rekey:queueUserId, or give/],
    ] as const) {
      assert.match(whyElsewhere(saved().memory, { ...elsewhere, kind }), settings);
    }
  });

  it("what the program says is remembered as it is written in any order, once, without what is not set", () => {
    const given = { encryptFor: ["b", "a", "b"], connection: { host: "h", port: null }, rotateEvery: null };
    assert.deepEqual(declaredIn(given), { encryptFor: ["a", "b"], connection: { host: "h" } });
    assert.deepEqual(declaredIn({ saveCredentials: true, encryptFor: [], connection: {} }), {});
  });

  it("no change of an unknown input can be missed, and none is decided by its marker", () => {
    for (const name of ["version", "triggers", "rotateEvery", "rotatedSince", "minInterval"]) {
      assert.equal(planOf({ state: saved(), desired: { [name]: unknownValue } }), `maybe: ${name}`);
    }
  });
});

describe("plan: signing keys", () => {
  const ofKeys = (hours: number, more: Partial<Context> = {}) => context(hours, { kind: signingKeys, ...more });
  const rolled = (desired: Desired = { version: 1 }): State =>
    stateAfterReset(desired, { currentKey: "k1", nextKey: "k2" }, ofKeys(0));
  const plan = (desired: Desired, given: Context, state = rolled(desired)) =>
    planOf({ state, desired, context: given });
  const version2 = (given: Context, more: Desired = {}) =>
    planOf({ state: rolled(), desired: { version: 2, ...more }, context: given });

  it("are not rolled twice within minInterval", () => {
    assert.equal(version2(ofKeys(0.9)), "refuse: REKEY_ROLLED_RECENTLY");
    assert.equal(version2(ofKeys(1)), "reset: trigger");
    assert.equal(version2(ofKeys(0.9), { minInterval: "PT10M" }), "reset: trigger");
    assert.equal(plan({ version: 1, rotateEvery: "PT30M" }, ofKeys(0.9)), "keep, waits: schedule");
    const tooOld = { state: rolled(), desired: { version: 1, rotatedSince: "2026-01-02" }, context: ofKeys(0.9) };
    assert.equal(planOf(tooOld), "keep, waits: rotatedSince");
    const refused = planRotation(rolled(), { version: 2 }, ofKeys(0.9));
    assert.match(
      refused.kind === "refuse" ? refused.why : "",
      /at 2026-01-01T00:00.* after 2026-01-01T01:00.*minInterval/,
    );
  });

  it("minInterval 0s compares nothing, and a clock that was ahead locks nothing", () => {
    assert.equal(version2(ofKeys(0), { minInterval: "0s" }), "reset: trigger");
    assert.equal(version2(ofKeys(-0.05), { minInterval: "PT0S" }), "reset: trigger");
    assert.equal(version2(ofKeys(-24)), "reset: trigger");
    assert.equal(version2(ofKeys(-0.05)), "refuse: REKEY_ROLLED_RECENTLY");
  });

  it("at another address or account nothing is rolled, whatever asks for it, and nothing is due by itself", () => {
    const there = { place: { account: "b", address: "https://b" } };
    assert.equal(version2(ofKeys(50, there)), "refuse: REKEY_OTHER_ACCOUNT");
    assert.equal(plan({ version: 1, rotateEvery: "12h" }, ofKeys(50, there)), "refuse: REKEY_OTHER_ACCOUNT");
    assert.equal(plan({ version: 1, rotatedSince: "2026-01-02" }, ofKeys(50, there)), "refuse: REKEY_OTHER_ACCOUNT");
    assert.equal(plan({ version: 1 }, ofKeys(50, there)), "keep");
    const refused = planRotation(rolled(), { version: 2 }, ofKeys(50, there));
    assert.match(refused.kind === "refuse" ? refused.why : "", /https:\/\/a.*https:\/\/b/);
  });
});

describe("plan: the queue's own token", () => {
  const ofToken = (more: Partial<Context> = {}) => context(1, { kind: queueToken, ownToken: "own", ...more });
  const saves = (token: string) => stateAfterReset({ version: 1 }, { token }, ofToken());
  const desired = { version: 2 };
  const plan = (state: State | undefined, given: Context) => planOf({ state, desired, context: given });

  it("is not reset while it is a setting of this run, nor if it is not known which one it is", () => {
    assert.equal(plan(saves("own"), ofToken()), "refuse: REKEY_QUEUE_TOKEN_IN_USE");
    const why = (state: State | undefined, given: Context) => {
      const refused = planRotation(state, desired, given);
      return refused.kind === "refuse" ? refused.why : "";
    };
    assert.match(why(saves("own"), ofToken()), /^it is rekey:queueToken, which .* Set rekey:queueUserId/);
    assert.match(why(undefined, ofToken({ reads: [{}] })), /^it is not shown, and may be rekey:queueToken/);
    assert.equal(plan(saves("other"), ofToken({ reads: [{ token: "other" }] })), "reset: trigger");
    // Another run was killed after its reset, and a read has shown that before this one, which hides it.
    assert.equal(plan(saves("other"), ofToken({ reads: [{ token: "own" }, {}] })), "refuse: REKEY_QUEUE_TOKEN_IN_USE");
    assert.equal(plan(undefined, ofToken({ reads: [{}] })), "refuse: REKEY_QUEUE_TOKEN_IN_USE");
    // In another account, the memory says nothing of it, and only the read shows it.
    const elsewhere = (shown: Credentials) => ofToken({ reads: [shown], place: { account: "b" } });
    assert.equal(plan(saves("other"), elsewhere({ token: "own" })), "refuse: REKEY_QUEUE_TOKEN_IN_USE");
    assert.equal(plan(saves("other"), elsewhere({})), "refuse: REKEY_QUEUE_TOKEN_IN_USE");
    assert.equal(plan(saves("own"), elsewhere({ token: "third" })), "reset: trigger");
    assert.equal(plan(saves("own"), contextAt(new Date(start), { kind: databasePassword })), "reset: trigger");
  });

  it("is known from the settings, unless each process reads it", () => {
    const runWith = (settings: FakeRun["settings"]) => Object.assign(new FakeRun(), { settings }).start();
    const own = runWith({ queueToken: "own", queueUserId: undefined });
    const tokens = [
      contextOf({ kind: queueToken }, own),
      contextOf({ kind: databasePassword }, own),
      contextOf({ kind: queueToken }, runWith({ queueToken: "own", queueUserId: "user" })),
      contextOf({ kind: queueToken }, runWith({ queueUserId: undefined })),
    ].map(({ ownToken }) => ownToken);
    assert.deepEqual(tokens, ["own", undefined, undefined, undefined]);
  });
});
