import assert from "node:assert/strict";
import { flowControlReset } from "../../../provider/flowControl/flowControlReset";
import { resources } from "../../../provider/engine/resources";
import { type AnyResource, checkFailures, messagesOf } from "../../../provider/resource";
import { FakeRun, passwordRotation } from "../../support/fakeRun";
import { presets } from "../../../provider/settings/presets";
import { unknownValue } from "../../../provider/records/properties";

type Inputs = Record<string, unknown>;
const none: ReadonlySet<string> = new Set();

const checkOf =
  (resource: AnyResource) =>
  (inputs: Inputs, unknown = none, run = new FakeRun().start()) =>
    checkFailures(resource, inputs, unknown, run);
const checkRotation = checkOf(passwordRotation);
const checkReset = checkOf(flowControlReset);

/** Inputs of both resources; `ID` means the input that identifies what is reset. */
const shared: readonly { readonly name: string; readonly value: unknown; readonly reason: RegExp }[] = [
  { name: "ID", value: undefined, reason: /is required$/ },
  { name: "ID", value: null, reason: /is required$/ },
  { name: "ID", value: "", reason: /must not be empty$/ },
  { name: "ID", value: "..", reason: /must not be ".."/ },
  { name: "ID", value: "a\ud800", reason: /well-formed/ },
  { name: "ID", value: 7, reason: /must be a string, not a number$/ },
  { name: "ID", value: ["a"], reason: /must be a string, not a list$/ },
  { name: "version", value: true, reason: /must be a string or a number, not a boolean$/ },
  { name: "version", value: {}, reason: /not an object$/ },
  { name: "version", value: [1], reason: /not a list$/ },
  { name: "version", value: NaN, reason: /not a number that is not finite$/ },
  {
    name: "version",
    value: 2 ** 53,
    reason: /must not be a number beyond 2\^53, .*as text, .* new version once$/,
  },
  { name: "version", value: -1e30, reason: /beyond 2\^53/ },
  { name: "version", value: 2026.1, reason: /must not be a fraction, .*: write it as text$/ },
  {
    name: "triggers",
    value: { a: 1, b: 2 ** 53 },
    reason: /must not hold a number beyond 2\^53, .* but "b" is one: .*as text/,
  },
  { name: "triggers", value: "a", reason: /must be a map of names to values, not a string$/ },
  { name: "triggers", value: ["a"], reason: /not a list$/ },
  { name: "triggers", value: { a: { b: 1 } }, reason: /strings, numbers and booleans only, but "a" is an object$/ },
  { name: "triggers", value: { "a\n": ["canary"] }, reason: /but "a\\n" is a list$/ },
  { name: "triggers", value: { a: Infinity }, reason: /not finite$/ },
  { name: "triggers", value: JSON.parse('{"__proto__":{}}'), reason: /but "__proto__" is an object$/ },
  { name: "verison", value: 1, reason: /is not an input of this resource \(did you mean version\?\)$/ },
  { name: "__proto__x", value: 1, reason: /is not an input/ },
  { name: "toString", value: 1, reason: /is not an input of this resource$/ },
  { name: "Triggers", value: {}, reason: /\(did you mean triggers\?\)$/ },
];

const rotationOnly: typeof shared = [
  { name: "rotateEvery", value: 30, reason: /must be a duration written as a string, not a number$/ },
  { name: "rotateEvery", value: "", reason: /must be a duration: ISO 8601/ },
  { name: "rotateEvery", value: "canary", reason: /must be a duration: ISO 8601 \(P30D, PT12H\), or 30d, 12h$/ },
  { name: "rotateEvery", value: "6m", reason: /P6M for months, or PT6M for minutes$/ },
  { name: "rotateEvery", value: "30s", reason: /must be a duration: ISO 8601/ },
  { name: "rotateEvery", value: "P1M-30D", reason: /must be a duration above zero/ },
  { name: "rotatedSince", value: "2026-04-19T18:30+23:00", reason: /a date and time with a zone/ },
  { name: "rotateEvery", value: "P0D", reason: /must be a duration above zero that ends before the year 10000$/ },
  { name: "initialRotation", value: "false", reason: /must be true or false, not a string$/ },
  { name: "initialRotation", value: 0, reason: /not a number$/ },
];

const good: readonly Inputs[] = [
  {},
  { version: 1 },
  { version: Number.MAX_SAFE_INTEGER, triggers: { a: -Number.MAX_SAFE_INTEGER, b: 0.1 } },
  { version: "9007199254740993" },
  { version: "2026.10" },
  { version: "" },
  { version: null, triggers: null },
  { triggers: {} },
  { triggers: { a: 1, b: "x", c: false, d: null } },
];

describe("rotation: check", () => {
  for (const [resource, id, check, rows] of [
    ["PasswordRotation", "databaseId", checkRotation, [...shared, ...rotationOnly]],
    ["FlowControlReset", "flowControlKey", checkReset, shared],
  ] as const) {
    for (const { name, value, reason } of rows) {
      const property = name === "ID" ? id : name;
      it(`${resource} refuses ${property} ${JSON.stringify(value)}`, () => {
        const [failure, ...more] = check({ [id]: "a", [property]: value });
        assert.deepEqual({ property: failure?.property, more }, { property, more: [] });
        assert.match(failure?.reason ?? "", reason);
        assert.doesNotMatch(failure?.reason ?? "", /canary|P0D/);
        assert.ok(failure?.reason.startsWith(`${property} `));
      });
    }

    if (resource === "FlowControlReset") {
      it("refuses a key that the platform of the preset does not accept, and knows of no other platform", () => {
        for (const flowControlKey of ["a/b", "a b", "größe", "a:b"]) {
          const fake = new FakeRun();
          assert.deepEqual(check({ flowControlKey }, none, fake.start()), []);
          fake.preset = presets.upstash;
          const [failure] = check({ flowControlKey }, none, fake.start());
          assert.match(failure?.reason ?? "", /^flowControlKey must contain letters, digits, hyphens/);
          const limits = checkOf(resources.FlowControlLimits)({ flowControlKey, paused: true }, none, fake.start());
          assert.deepEqual(limits, [failure]);
          assert.deepEqual(check({ flowControlKey }, new Set(["flowControlKey"]), fake.start()), []);
          assert.deepEqual(check({ flowControlKey: "Orders_1.eu-west" }, none, fake.start()), []);
        }
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

describe("rotation: check of ids", () => {
  const addresses = ["redis://default:canary@host:6379", "canary@host", "canary/1", "canary 1", "\tcanary"];
  const saved = { databaseId: "a/b", outcome: "adopted", rotationCount: 0 } as const;

  it("refuses what may be an address with a password, without showing it", () => {
    for (const type of ["PasswordRotation", "VectorTokenRotation", "SearchTokenRotation"] as const) {
      const { idInput } = resources[type];
      for (const address of addresses) {
        const failures = checkOf(resources[type])({ [idInput]: address });
        assert.match(messagesOf(failures).join(), new RegExp(`^${idInput} must be an id, for Upstash a UUID, not an `));
        assert.doesNotMatch(JSON.stringify(failures), /canary/);
      }
    }
  });

  it("accepts any other id, and such a key", () => {
    const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
    for (const databaseId of [uuid, "db-sessions", "ü:1"]) assert.deepEqual(checkRotation({ databaseId }), []);
    for (const flowControlKey of addresses) assert.deepEqual(checkReset({ flowControlKey }), []);
  });

  it("does not keep a saved resource with such an id from being refreshed", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    const { outputs } = (await passwordRotation.refresh?.(saved, fake.start())) ?? assert.fail();
    assert.equal(outputs.password, "password-0");
  });
});

describe("rotation: check of owners", () => {
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
