import assert from "node:assert/strict";
import {
  aclUser,
  databasePassword,
  queueToken,
  type SecretKind,
  signingKeys,
} from "../../../../provider/domain/secretKind";
import { type Credentials } from "../../../../provider/records/fields";
import { withAttempt, formerOf, handOver, type Made } from "../../../../provider/rotation/lifecycle/handOver";
import { marksOf, triggerMark } from "../../../../provider/rotation/memory/marks";
import { type Attempt, emptyMemory, type Former, type Memory } from "../../../../provider/rotation/memory/memory";
import { type Context, type Rotation } from "../../../../provider/rotation/program/plan";
import { readProgram, type RotationInputs } from "../../../../provider/rotation/program/program";
import { type State } from "../../../../provider/rotation/memory/state";
import { timeAt } from "../../../support/rotatedSecret";
import { fieldsIn, tableOf } from "../tables";

const at = (hours: number) => timeAt(hours).toISOString();
const now = at(5);
const empty = { ...emptyMemory(timeAt(0)), salt: "salt" };
const marks = (credentials: Credentials) => marksOf(empty, credentials);
const mark = (token: string) => marks({ token }).token ?? "";
const trigger = (version: number) => triggerMark(empty, readProgram({ version }, queueToken).trigger);
const contextOf = (kind: SecretKind, inputs?: RotationInputs): Context => ({
  ...{ kind, now: timeAt(5), canRead: true, isScheduleOn: true },
  program: inputs && readProgram(inputs, kind),
});

/** A state with credentials that were made at hour 0, with the marks of a kind. */
function stateOf(credentials: Credentials, more: Partial<Memory> = {}, identity = Object.keys(credentials)[0]): State {
  const current = { marks: marks(credentials), identity: identity as never, generatedAt: at(0), form: {} };
  return { ...credentials, rotationCount: 1, memory: { ...empty, applied: trigger(1), current, ...more } };
}

const sent: Attempt = {
  ...{ trigger: trigger(2), reason: "trigger", count: 1 },
  ...{ firstSentAt: at(3), lastSentAt: at(4) },
};
const attempted = (state: State, attempt = sent) => ({ ...state, memory: { ...state.memory, attempt } });
const due: Rotation = { kind: "rotate", reason: "trigger" };

describe("handOver: an attempt", () => {
  const overlapOf = (adds: boolean): RotationInputs => (adds ? {} : { overlap: "none" });
  const first = { trigger: trigger(2), reason: "trigger", count: 1, firstSentAt: now, lastSentAt: now };
  /** What is special of the last attempt, if there was one, and how the next one differs from a first one. */
  const rows = tableOf(
    ["title", "last", "inputs", "more", "expected"],
    `
    is the first of its trigger
    may have none                                                    |                                                                   | version: null                    | reason: schedule | trigger: "", reason: schedule
    is as old as the date that asks for it, if the clock is behind   |                                                                   | version: 2, rotatedSince: hour 6 |                  | firstSentAt: hour 6, lastSentAt: hour 6
    is not as old as an earlier date                                 |                                                                   | version: 2, rotatedSince: hour 1
    repeats the last one, whose time and reason it keeps             | reason: schedule                                                  |                                  |                  | count: 2, firstSentAt: hour 3, reason: schedule
    repeats the last one without a version                           | count: 1                                                          | version: null                    |                  | count: 2, firstSentAt: hour 3
    is the first for another version, and what was made may be older | count: 3                                                          | version: 3                       |                  | trigger: of 3, firstSentAt: hour 3
    has the earlier time, if a clock was set back                    | firstSentAt: hour 9                                               |                                  |                  | count: 2
    that only adds repeats what is not proven, with its own reason   | adds: true, reason: schedule, expects: hash, isOfUnknownAge: true |                                  | adds: true       | adds: true, count: 2, firstSentAt: hour 3, expects: hash, isOfUnknownAge: true
    that only adds repeats what is not proven, for another version   | adds: true                                                        | version: 3                       | adds: true       | adds: true, count: 2, trigger: of 3, firstSentAt: hour 3
    that only adds repeats none that replaces                        | count: 1                                                          |                                  | adds: true       | adds: true
    that replaces repeats none that only adds                        | adds: true, expects: hash
    `,
  );
  for (const { title, last, ...row } of rows) {
    it(title, () => {
      const { adds = false, ...more } = fieldsIn(row.more) as { adds?: boolean };
      const state = {
        ...stateOf({ token: "t1" }, last ? { attempt: { ...sent, ...fieldsIn(last) } } : {}),
        waits: "it is due",
      };
      const program = readProgram({ version: 2, ...overlapOf(adds), ...fieldsIn(row.inputs) }, queueToken);
      const next = withAttempt(state, { ...due, ...more }, program, {}, contextOf(queueToken));
      const expected = { ...first, ...fieldsIn(row.expected) };
      if (expected.trigger === "of 3") expected.trigger = trigger(3);
      assert.deepEqual(JSON.parse(JSON.stringify(next.memory.attempt)), expected);
      const others = { ...state.memory, attempt: undefined };
      assert.deepEqual({ ...next.memory, attempt: undefined }, others, "nothing else has changed");
      assert.equal(next.waits, undefined);
    });
  }

  const reset = (state: State, shown: Credentials, kind = queueToken, adds = false) =>
    withAttempt(state, due, readProgram(overlapOf(adds), kind), marks(shown), contextOf(kind)).memory;

  it("can be settled by a read if it replaces, and the one before it has shown what is current, or a valid former one", () => {
    const past = [mark("t0")];
    const credential = { name: "token", mark: mark("t0") } as const;
    const former = { credential, retireHash: "hash", since: at(1), validFor: "none" };
    const canSettle = (shown: Credentials, more: Partial<Memory> = {}, adds = false) =>
      reset(stateOf({ token: "t1" }, more), shown, queueToken, adds).attempt?.canSettle;
    assert.equal(canSettle({ token: "t1" }), true);
    assert.equal(canSettle({}), undefined);
    assert.equal(canSettle({ token: "t1" }, {}, true), undefined);
    assert.equal(canSettle({ token: "t0" }, { past }), undefined);
    assert.equal(canSettle({ token: "t0" }, { past, formers: [former] }), true);
  });

  it("remembers what a read shows just before it, and by what it is compared", () => {
    const unknown = stateOf({});
    const { past, current } = reset(unknown, { token: "t7" });
    assert.deepEqual([past, current.identity], [[mark("t7")], "token"]);
    assert.deepEqual(reset(stateOf({ token: "t1" }), { token: "t1" }).past, [], "the current one is not replaced yet");
    assert.deepEqual(reset(unknown, { token: "t7" }, queueToken, true).past, [], "it stays valid");
  });

  it("of keys expects the next one, unless that has been current already", () => {
    const expected = (known: Credentials, shown: Credentials = {}, past: string[] = []) =>
      reset(stateOf(known, { past }, "currentKey"), shown, signingKeys).attempt?.expects;
    const [k2, k3] = [marks({ nextKey: "k2" }).nextKey, marks({ nextKey: "k3" }).nextKey];
    assert.equal(expected({ currentKey: "k1", nextKey: "k2" }), k2);
    assert.equal(expected({ currentKey: "k1", nextKey: "k2" }, { currentKey: "k2", nextKey: "k3" }), k3);
    assert.equal(expected({ currentKey: "k1", nextKey: "k2" }, { currentKey: "k2" }), undefined);
    assert.equal(expected({ currentKey: "k1", nextKey: "k2" }, {}, [k2 ?? ""]), undefined);
    assert.equal(expected({ currentKey: "k1" }), undefined);
    assert.equal(expected({ nextKey: "k2" }), undefined, "the current one may be any");
  });

  it("of keys replaces the next one, too, if a read shows that someone has rolled the pair", () => {
    const past = (known: Credentials, shown: Credentials) =>
      reset(stateOf(known, {}, "currentKey"), shown, signingKeys).past;
    const pair = { currentKey: "k1", nextKey: "k2" };
    assert.deepEqual(past(pair, { nextKey: "k3" }), [marks(pair).nextKey]);
    assert.deepEqual(past(pair, pair), []);
    assert.deepEqual(past({ currentKey: "k1" }, { nextKey: "k3" }), []);
  });
});

describe("handOver: what was made", () => {
  const response = (credentials: Credentials, more: Partial<Made["responses"][number]> = {}) => ({
    ...{ record: {}, credentials, exactIntegers: {}, problems: [] },
    ...more,
  });
  const made = (credentials: Credentials, more: Partial<Made> = {}): Made => ({
    ...{ responses: [response(credentials)], generatedAt: at(4), formers: [] },
    ...more,
  });
  const former: Former = { retireHash: "hash", since: at(1), validFor: "retirement" };
  const known = ({ attempt = sent, ...more }: Partial<Memory> = {}) => ({
    ...attempted(stateOf({ password: "p1", restToken: "r1" }, { formers: [former], ...more }), attempt),
    ...{ formerRetiredAt: at(2), otherFields: "old", problems: ["old"], encryptedCredentials: "file" },
    ...{ record: { port: 1, state: "active" }, exactIntegers: { port: "1" } },
  });

  it("sets all that is about the current one, and keeps the rest", () => {
    const before = known({ program: { rotateEvery: "1d" }, kindFacts: { isUnsaved: true }, scheduledFrom: at(0) });
    const responses = [
      response({ password: "p2" }, { record: { port: 2 }, problems: ["odd"] }),
      response({ password: "p9", restToken: "r2" }),
    ];
    const file = { has: [], mark: "file" };
    const memory = { ...before.memory, current: { ...before.memory.current, file, mustRead: true } } as const;
    const inputs = { version: 2, saveCredentials: false };
    const both = made({}, { responses, mustRead: true });
    const { memory: after, ...outputs } = handOver({ ...before, memory }, both, contextOf(databasePassword, inputs));
    assert.deepEqual(outputs, {
      ...{ password: "p2", restToken: "r2", record: { port: 2, state: "active" }, exactIntegers: {}, problems: [] },
      ...{ otherFields: undefined, encryptedCredentials: "file", adoptedAt: undefined, formerRetiredAt: undefined },
      ...{ rotatedAt: at(4), rotationCount: 2, rotationReason: "trigger" },
    });
    assert.deepEqual(after, {
      ...{ salt: "salt", applied: sent.trigger, attempt: undefined, formers: [], scheduledFrom: at(4) },
      current: {
        ...{ marks: marks({ password: "p2", restToken: "r2" }), identity: "password", generatedAt: at(4) },
        ...{ form: { saveCredentials: false }, file, mustRead: true },
      },
      past: Object.values(marks({ password: "p1", restToken: "r1" })),
      ...{ program: { rotateEvery: "1d" }, kindFacts: { isUnsaved: true } },
    });
  });

  it("keeps the form in a refresh, the applied trigger if there is no other one, and the identity if none is shown", () => {
    const state = known({ attempt: { ...sent, trigger: "", reason: "schedule" } });
    const { memory, rotationReason } = handOver(state, made({}), contextOf(databasePassword));
    assert.deepEqual([memory.current.form, memory.applied, rotationReason], [{}, trigger(1), "schedule"]);
    assert.deepEqual([memory.current.identity, memory.current.marks], ["password", {}]);
  });

  it("has the time of the last request, but no later one than now, and of what is of unknown age that of the request", () => {
    const times = (attempt: Partial<Attempt>, generatedAt?: string) => {
      const before = known({ attempt: { ...sent, ...attempt } });
      const state = handOver(before, made({}, { generatedAt }), contextOf(databasePassword));
      return [state.rotatedAt, state.memory.current.generatedAt, state.memory.scheduledFrom];
    };
    assert.deepEqual(times({}, at(3)), [at(3), at(3), at(4)]);
    assert.deepEqual(times({}), [at(4), undefined, at(4)]);
    assert.deepEqual(times({ lastSentAt: at(99) }, at(99)), [at(99), at(99), now]);
    assert.deepEqual(times({ adds: true, firstSentAt: at(1) }, at(1)), [at(4), at(1), at(4)]);
  });

  it("of what only adds keeps the other fields, which are those of the record", () => {
    const state = known({ attempt: { ...sent, adds: true } });
    assert.equal(handOver(state, made({ token: "t2" }), contextOf(queueToken)).otherFields, "old");
  });

  it("takes what the source remembers of what was made, and keeps the rest", () => {
    const kindFacts = { hash: "old", passwordCount: 2, unknown: ["someone"] };
    const own = { hash: "new", passwordCount: undefined };
    const { memory } = handOver(known({ kindFacts }), made({}, { kindFacts: own }), contextOf(aclUser));
    assert.deepEqual(memory.kindFacts, { ...own, unknown: ["someone"] });
  });

  describe("of keys", () => {
    const pair = (n: number): Credentials => ({ currentKey: `k${n}`, nextKey: `k${n + 1}` });
    const { nextKey: k2 = "" } = marks(pair(1));
    const after = (shown: Credentials, expects: string | undefined = k2, before = stateOf(pair(1))) => {
      const kindFacts = { nextGeneratedAt: at(2), account: "old" };
      const state = { ...before, memory: { ...before.memory, attempt: { ...sent, expects }, kindFacts } };
      const account = { account: "a", address: "https://a" };
      const { memory, currentKey, nextKey } = handOver(state, made(shown), { ...contextOf(signingKeys), account });
      return { shown: { currentKey, nextKey }, memory };
    };

    it("the expected one is the current one, as old as the roll that made it the next one", () => {
      const { shown, memory } = after(pair(2));
      assert.deepEqual(shown, pair(2));
      assert.equal(memory.current.generatedAt, at(2));
      assert.deepEqual(memory.kindFacts, { nextGeneratedAt: at(4), account: "a", address: "https://a" });
      assert.deepEqual(memory.past, [marks(pair(1)).currentKey]);
    });

    it("another one is of unknown age, and both keys before it are past", () => {
      const { memory } = after(pair(8));
      assert.deepEqual([memory.current.generatedAt, memory.past], [undefined, Object.values(marks(pair(1)))]);
    });

    it("that are not shown are those that were expected, with the value if that is saved", () => {
      assert.deepEqual(after({ nextKey: "k3" }).shown, pair(2));
      const other = { ...stateOf(pair(1)), nextKey: "other" };
      assert.equal(
        "currentKey" in handOver(attempted(other, { ...sent, expects: k2 }), made({}), contextOf(signingKeys)),
        false,
      );
      const unsaved = { ...stateOf(pair(1)), nextKey: undefined } as unknown as State;
      const { shown, memory } = after({}, k2, unsaved);
      assert.deepEqual(shown, { currentKey: undefined, nextKey: undefined });
      assert.deepEqual(memory.current.marks, { currentKey: k2 });
    });
  });
});

describe("handOver: what becomes former", () => {
  const credential = { name: "token", mark: mark("t1"), username: undefined } as const;

  it("is not valid, unless something retires it", () => {
    const state = stateOf({ token: "t1" });
    const replaced = { retireHash: undefined, since: now, validFor: "none", generatedAt: at(0) };
    assert.deepEqual(formerOf(state, now, contextOf(databasePassword)), { credential: undefined, ...replaced });
    assert.deepEqual(formerOf(state, now, contextOf(queueToken)), { credential, ...replaced });
  });

  it("is valid until something retires it by its hash", () => {
    const state = stateOf({ token: "t1" }, { attempt: sent });
    const kept = formerOf(state, now, contextOf(queueToken, {}), "hash");
    assert.deepEqual(kept, { credential, retireHash: "hash", since: now, validFor: "retirement", generatedAt: at(0) });
  });
});
