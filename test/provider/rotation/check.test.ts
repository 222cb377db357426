import assert from "node:assert/strict";
import * as flowControlReset from "../../../provider/flowControl/flowControlReset";
import * as passwordRotation from "../../../provider/rotation/passwordRotation";
import { FakeRun } from "../../support/fakeRun";
import { unknownValue } from "../../../provider/records/properties";

type Inputs = Record<string, unknown>;
const none: ReadonlySet<string> = new Set();

const checkRotation = (inputs: Inputs, unknown = none, run = new FakeRun().start()) =>
  passwordRotation.check(inputs as unknown as passwordRotation.PasswordRotationInputs, unknown, run);
const checkReset = (inputs: Inputs, unknown = none) =>
  flowControlReset.check(inputs as unknown as flowControlReset.FlowControlResetInputs, unknown);

/** Inputs of both resources; `ID` means the input that identifies what is reset. */
const shared: readonly (readonly [property: string, value: unknown, reason: RegExp])[] = [
  ["ID", undefined, /is required$/],
  ["ID", null, /is required$/],
  ["ID", "", /must not be empty$/],
  ["ID", "..", /must not be ".."/],
  ["ID", "a\ud800", /well-formed/],
  ["ID", 7, /must be a string, not a number$/],
  ["ID", ["a"], /must be a string, not a list$/],
  ["version", true, /must be a string or a number, not a boolean$/],
  ["version", {}, /not an object$/],
  ["version", [1], /not a list$/],
  ["version", NaN, /not a number that is not finite$/],
  ["triggers", "a", /must be a map of names to values, not a string$/],
  ["triggers", ["a"], /not a list$/],
  ["triggers", { a: { b: 1 } }, /strings, numbers and booleans only, but "a" is an object$/],
  ["triggers", { "a\n": ["canary"] }, /but "a\\n" is a list$/],
  ["triggers", { a: Infinity }, /not finite$/],
  ["triggers", JSON.parse('{"__proto__":{}}'), /but "__proto__" is an object$/],
  ["verison", 1, /is not an input of this resource$/],
  ["__proto__x", 1, /is not an input/],
  ["toString", 1, /is not an input/],
];

const rotationOnly: typeof shared = [
  ["rotateEvery", 30, /must be a duration written as a string, not a number$/],
  ["rotateEvery", "", /cannot be used: "" is no/],
  ["rotateEvery", "monthly", /cannot be used: "monthly" is not a duration/],
  ["rotateEvery", "P0D", /a duration above zero/],
  ["initialRotation", "false", /must be true or false, not a string$/],
  ["initialRotation", 0, /not a number$/],
];

const good: readonly Inputs[] = [
  {},
  { version: 1 },
  { version: "" },
  { version: null, triggers: null },
  { triggers: {} },
  { triggers: { a: 1, b: "x", c: false, d: null } },
];

describe("lifecycle: check", () => {
  for (const [resource, id, check, rows] of [
    ["PasswordRotation", "databaseId", checkRotation, [...shared, ...rotationOnly]],
    ["FlowControlReset", "flowControlKey", checkReset, shared],
  ] as const) {
    for (const [name, value, reason] of rows) {
      const property = name === "ID" ? id : name;
      it(`${resource} refuses ${property} ${JSON.stringify(value)}`, () => {
        const [failure, ...more] = check({ [id]: "a", [property]: value });
        assert.deepEqual([failure?.property, more], [property, []]);
        assert.match(failure?.reason ?? "", reason);
        assert.ok(failure?.reason.startsWith(`${property} `));
      });
    }

    it(`${resource} passes what may be written`, () => {
      for (const inputs of good) assert.deepEqual(check({ [id]: "a", ...inputs }), []);
    });

    it(`${resource} passes in a preview what is not known yet`, () => {
      const names = [id, "version", "triggers"];
      const inputs = Object.fromEntries(names.map((name) => [name, unknownValue]));
      assert.deepEqual(check(inputs, new Set(names)), []);
      assert.deepEqual(check({ [id]: "a", triggers: { a: unknownValue } }, new Set(["triggers"])), []);
    });

    it(`${resource} names every input that is wrong`, () => {
      const failures = check({ version: {}, later: 1 });
      assert.deepEqual(failures.map(({ property }) => property).sort(), [id, "version", "later"].sort());
    });
  }
});

describe("lifecycle: check of owners", () => {
  const one = { databaseId: "db", owner: "urn:one" };
  const two = { databaseId: "db", owner: "urn:two" };
  const failure = {
    property: "databaseId",
    reason:
      'database "db" is already rotated by urn:one: each reset by one invalidates the password of the other. Remove one of them. If both have reset it, the saved password of one is stale: set a new version on the one that stays',
    code: "REKEY_DUPLICATE_DATABASE",
  };

  it("refuses the second owner of a database in one run, each time", () => {
    const run = new FakeRun().start();
    assert.deepEqual(checkRotation(one, none, run), []);
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(checkRotation(two, none, run), [failure]);
    }
  });

  it("does not refuse a replacement, which is checked twice, nor another database, nor another run", () => {
    const run = new FakeRun().start();
    for (let time = 0; time < 2; time++) assert.deepEqual(checkRotation(one, none, run), []);
    assert.deepEqual(checkRotation({ ...two, databaseId: "other" }, none, run), []);
    assert.deepEqual(checkRotation(two, none, new FakeRun().start()), []);
  });

  it("refuses the first one too where the program knows of the second", () => {
    assert.deepEqual(checkRotation({ ...two, otherOwners: ["urn:one", "urn:three"] }), [failure]);
  });

  it("claims nothing while the database or the owner is not known, or an input is wrong", () => {
    const run = new FakeRun().start();
    const unknown = { owner: unknownValue, otherOwners: unknownValue };
    assert.deepEqual(checkRotation({ ...one, ...unknown }, new Set(["owner", "otherOwners"]), run), []);
    const noDatabase = { ...one, databaseId: unknownValue, otherOwners: unknownValue };
    assert.deepEqual(checkRotation(noDatabase, new Set(["databaseId", "otherOwners"]), run), []);
    assert.deepEqual(checkRotation({ databaseId: unknownValue, owner: "urn:two" }, new Set(["databaseId"]), run), []);
    assert.equal(checkRotation({ ...one, version: true }, none, run).length, 1);
    assert.deepEqual(checkRotation(two, none, run), []);
    assert.deepEqual(checkRotation({ databaseId: "db" }, none, run), [], "no owner is said");
  });
});
