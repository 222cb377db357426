import assert from "node:assert/strict";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import {
  isElsewhere,
  isToBeRead,
  mayBeSettled,
  recordIn,
  replacedIn,
  withoutCredentials,
  withResponse,
} from "../../../provider/rotation/saved";
import { type RotationOutputs } from "../../../provider/rotation/outputs";
import { Run } from "../../../provider/run";
import { FakeRun } from "../../support/fakeRun";

describe("rotation: the mark of an account", () => {
  const cases = [
    { saved: "1:a", current: "1:b", isOther: true },
    { saved: "1:a", current: "1:a", isOther: false },
    { saved: "1:a", current: undefined, isOther: false },
    { saved: undefined, current: "1:b", isOther: false },
    { saved: "2:a", current: "1:b", isOther: false },
    { saved: 7, current: "1:b", isOther: false },
  ];
  for (const { saved, current, isOther } of cases) {
    it(`${String(saved)} is ${isOther ? "" : "not known to be "}another account than ${String(current)}`, () => {
      const fake = new FakeRun();
      fake.account = current;
      assert.equal(isElsewhere(databasePassword, { account: saved as string }, fake.start()), isOther);
    });
  }

  it("of a run is not read for a state without one", () => {
    const run = new Run({ ...new FakeRun().start().options, account: () => assert.fail("read") });
    assert.equal(isElsewhere(databasePassword, undefined, run), false);
  });
});

describe("rotation: the saved state", () => {
  const state = (more: Partial<RotationOutputs>): RotationOutputs => ({ outcome: "reset", rotationCount: 1, ...more });
  const salt = "A".repeat(22);
  const pending = `1:0:${salt}::${"B".repeat(16)}`;

  it("is read for missing credentials only if no reset is unconfirmed, and may settle one that is comparable", () => {
    const fake = new FakeRun();
    fake.canRead = true;
    const run = fake.start();
    const judged = (saved: RotationOutputs) => [
      isToBeRead(databasePassword, saved, run),
      mayBeSettled(databasePassword, saved, run),
    ];
    const missing = { missingCredentials: ["password"] } as const;
    assert.deepEqual(judged(state(missing)), [true, false]);
    assert.deepEqual(judged(state({})), [false, false]);
    assert.deepEqual(judged(state({ formerMarks: pending })), [false, false]);
    assert.deepEqual(judged(state({ ...missing, outcome: "unknown" })), [false, false]);
    assert.deepEqual(judged(state({ ...missing, outcome: "unknown", formerMarks: pending })), [false, true]);
    fake.canRead = false;
    assert.deepEqual(judged(state({ ...missing, formerMarks: pending })), [false, false]);
  });

  it("of a record are the fields that a response leaves out, and their exact integers", () => {
    const saved = recordIn(state({ record: { port: 1, size: 2 }, exactIntegers: { port: "1", size: "2" } }));
    assert.deepEqual(saved.problems, []);
    const { record, exactIntegers, otherFields } = withResponse(saved, {
      record: { port: 3, limit: 4 },
      credentials: {},
      exactIntegers: { limit: "4" },
      problems: [],
    });
    assert.deepEqual(record, { port: 3, size: 2, limit: 4 });
    assert.deepEqual(exactIntegers, { size: "2", limit: "4" });
    assert.equal(otherFields, undefined);
    assert.deepEqual(recordIn(undefined), { exactIntegers: {}, problems: [] });
  });

  it("has neither credentials nor their marks without them", () => {
    const saved = state({ password: "p", restToken: "r", currentMarks: "m", formerMarks: "f" });
    assert.deepEqual(withoutCredentials(saved), state({ formerMarks: "f" }));
  });

  it("in a run, of replaced credentials, is separate for each secret", () => {
    const run = new FakeRun().start();
    const of = (id: string) => replacedIn({ kind: databasePassword, id }, run);
    assert.deepEqual(of("a"), []);
    of("a").push({ password: "p" });
    assert.deepEqual([of("a"), of("b")], [[{ password: "p" }], []]);
  });
});
