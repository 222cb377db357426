import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  type ConnectionArgs,
  FlowControlLimits,
  FlowControlReset,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  getFlowControlKeysOutput,
  getDatabases,
  getDatabasesOutput,
  getGlobalParallelism,
  getGlobalParallelismOutput,
  PasswordRotation,
  PasswordRotationFleet,
  PasswordVerification,
  QueueTokenRotation,
  SigningKeyRotation,
} from "pulumi-rekey";
import { errorsOf, isKnown, startMocks, valueOf } from "../support/pulumiMocks";

/** Calls a function or constructor as a program without type checking can. */
type Untyped = (...args: unknown[]) => unknown;
const untyped = (call: unknown) => call as Untyped;
const late = <T>(value: T) => pulumi.output(Promise.resolve(value));

const rotate = (args: object = {}) => new PasswordRotation("sessions", { databaseId: "db", ...args });
const rotateFleet = (args: object = {}) => new PasswordRotationFleet("caches", { databases: { one: "a" }, ...args });
const verify = (args: object) => new PasswordVerification("proof", args as never);
const withSetting = (value: string, act: () => unknown): unknown => {
  pulumi.runtime.setAllConfig({ "rekey:databaseHost": value });
  return act();
};

interface Mistake {
  readonly make: () => unknown;
  readonly says: RegExp;
}

const mistakes: Readonly<Record<string, Mistake>> = {
  "an unknown argument of a verification": {
    make: () => verify({ rotation: rotate(), withinSecond: 1 }),
    says: /PasswordVerification "proof": withinSecond is not one of its arguments \(known: rotation, .*withinSeconds/,
  },
  "a verification of a rotation and a fleet": {
    make: () => verify({ rotation: rotate(), fleet: rotateFleet() }),
    says: /"proof": rotation or fleet must be set to the resource to verify, not both/,
  },
  "a verification of nothing": {
    make: () => verify({ rotation: null }),
    says: /"proof": rotation or fleet must be set/,
  },
  "a verification of a text": {
    make: () => verify({ rotation: "sessions" }),
    says: /"proof": rotation must be a PasswordRotation, .* or QueueTokenRotation, the resource itself\./,
  },
  "a verification of another resource": {
    make: () => verify({ fleet: rotate() }),
    says: /"proof": fleet must be a PasswordRotationFleet\./,
  },
  "a verification of signing keys": {
    make: () => verify({ rotation: new SigningKeyRotation("keys") }),
    says: /"proof": rotation must not be a SigningKeyRotation: the read after its roll already shows/,
  },
  "a port of the queue": {
    make: () => verify({ rotation: new QueueTokenRotation("queue", { queueUserId: "user" }), port: 1 }),
    says: /"proof": port is for databases only: a QueueTokenRotation has its own address/,
  },
  "no time for a verification": {
    make: () => verify({ rotation: rotate(), withinSeconds: 0 }),
    says: /"proof": withinSeconds must be a number of seconds above 0/,
  },
  "a time for a verification that is known late": {
    make: () => verify({ rotation: rotate(), withinSeconds: late("30") }),
    says: /"proof": withinSeconds must be a number/,
  },
  "a port of a verification": {
    make: () => verify({ rotation: rotate(), port: 0 }),
    says: /"proof": port must be a whole number from 1 to 65535/,
  },
  "a host of a rotation that is not used": {
    make: () => rotate({ host: "a b" }),
    says: /PasswordRotation "sessions": host must be a host name/,
  },
  "a port of a rotation that is known late": {
    make: () => rotate({ port: late(0) }),
    says: /PasswordRotation "sessions": port must be a whole number/,
  },
  "plain text to another machine": {
    make: () => rotate({ tls: false, host: "{id}.example.com" }),
    says: /"sessions": tls must not be false unless host is this machine/,
  },
  "plain text to the host of a rotation": {
    make: () => verify({ rotation: rotate({ host: "db.example.com" }), tls: false }),
    says: /"proof": tls must not be false unless host is this machine/,
  },
  "plain text to the host of a setting": {
    make: () => withSetting("{endpoint}.example.com", () => rotate({ tls: false })),
    says: /"sessions": tls must not be false unless host is this machine/,
  },
  "a setting that is not a host": {
    make: () => withSetting("a b", () => verify({ rotation: rotate() })),
    says: /rekey:databaseHost must be a host name.*REKEY_SETTING_INVALID/,
  },
  "an input that only the SDK sets": {
    make: () => rotate({ otherOwners: [] }),
    says: /PasswordRotation "sessions": otherOwners is not an input of this resource\. Correct this/,
  },
  "a connection that only the SDK sets": {
    make: () => rotate({ connection: { host: "example.com" }, encryptFor: [] }),
    says: /"sessions": connection is not an input of this resource/,
  },
  "an owner of other tokens": {
    make: () => new QueueTokenRotation("queue", { queueUserId: "user", ...({ owner: "me" } as object) }),
    says: /QueueTokenRotation "queue": owner is not an input/,
  },
  "an owner of limits": {
    make: () => new FlowControlLimits("orders", { flowControlKey: "a", ...({ owner: late("me") } as object) }),
    says: /FlowControlLimits "orders": owner is not an input/,
  },
  "an unknown argument of a fleet": {
    make: () => rotateFleet({ verison: 1 }),
    says: /PasswordRotationFleet "caches": verison is not one of its arguments \(known: databases, version, /,
  },
  "an unknown argument of a database of a fleet": {
    make: () => rotateFleet({ databases: { one: { databaseId: "a", vesion: 1 }, two: "b" } }),
    says: /"caches": databases\["one"\]: vesion is not one of its arguments \(known: .*, triggers; did you mean version\?\)/,
  },
  "an unknown argument of a database that is known late": {
    make: () => rotateFleet({ databases: late({ one: { databaseId: "a", vesion: 1 } }) }),
    says: /databases\["one"\]: vesion is not one of its arguments/,
  },
  "an unusable port of a fleet": {
    make: () => rotateFleet({ port: 0 }),
    says: /PasswordRotationFleet "caches": port must be a whole number/,
  },
  "a verification of a fleet without records": {
    make: () => verify({ fleet: rotateFleet() }),
    says: /"proof": host is unknown, because the fleet saves no records\. Set includeRecords: true on the fleet/,
  },
  "URLs of a fleet without records or a port": {
    make: () => rotateFleet({ host: "{id}.example.com" }).connectionUrls,
    says: /"caches": port is unknown, because the fleet saves no records/,
  },
  "an unknown argument of getFlowControlKey": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: "a", key: "b" }),
    says: /getFlowControlKey: key is not one of its arguments \(known: flowControlKey\)/,
  },
  "a key that is not a string": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: 5 }),
    says: /getFlowControlKey: flowControlKey must be a string, not a number\./,
  },
  "a key that is not a string, and known late": {
    make: () => untyped(getFlowControlKeyOutput)({ flowControlKey: late(["a"]) }),
    says: /getFlowControlKey: flowControlKey must be a string, not a list\./,
  },
  "no key": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: null }),
    says: /getFlowControlKey: flowControlKey is required\./,
  },
  "a key that is an Output": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: late("a") }),
    says: /getFlowControlKey: flowControlKey must not be an Output or a Promise: use getFlowControlKeyOutput, which waits/,
  },
  "no arguments": {
    make: () => void untyped(getFlowControlKey)(),
    says: /getFlowControlKey: its arguments must be an object, not undefined\./,
  },
  "arguments that are an Output": {
    make: () => void untyped(getFlowControlKeys)(late({ search: "a" })),
    says: /getFlowControlKeys: its arguments must not be an Output or a Promise: use getFlowControlKeysOutput/,
  },
  "a search that is an Output": {
    make: () => void untyped(getFlowControlKeys)({ search: late("a") }),
    says: /getFlowControlKeys: search must not be an Output or a Promise: use getFlowControlKeysOutput/,
  },
  "a search that is a list": {
    make: () => void untyped(getFlowControlKeys)({ search: ["a"] }),
    says: /getFlowControlKeys: search must be a string, not a list\./,
  },
  "a search that is not well-formed Unicode": {
    make: () => void untyped(getFlowControlKeys)({ search: "a\ud800" }),
    says: /getFlowControlKeys: search must be well-formed Unicode\./,
  },
  "an argument of getGlobalParallelism that is not an object": {
    make: () => void untyped(getGlobalParallelism)("a"),
    says: /getGlobalParallelism: its arguments must be an object, not a string\./,
  },
  "options that are not an object": {
    make: () => untyped(getFlowControlKeysOutput)({}, []),
    says: /getFlowControlKeysOutput: its options must be an object, not a list\./,
  },
  "an unknown argument of getFlowControlKeyOutput": {
    make: () => untyped(getFlowControlKeyOutput)({ flowControlKey: "a", key: "b" }),
    says: /getFlowControlKeyOutput: key is not one of its arguments/,
  },
  "an unknown argument of getFlowControlKeys": {
    make: () => void untyped(getFlowControlKeys)({ serch: "a" }),
    says: /getFlowControlKeys: serch is not one of its arguments \(known: search; did you mean search\?\)/,
  },
  "an unknown argument of getFlowControlKeysOutput": {
    make: () => untyped(getFlowControlKeysOutput)({ serch: late("a") }),
    says: /getFlowControlKeysOutput: serch is not one of its arguments/,
  },
  "an unknown option of getFlowControlKeysOutput": {
    make: () => untyped(getFlowControlKeysOutput)({}, { dependOn: [] }),
    says: /getFlowControlKeysOutput: dependOn is not one of its options \(known: dependsOn; did you mean dependsOn\?\)/,
  },
  "an argument of getGlobalParallelism": {
    make: () => void untyped(getGlobalParallelism)({ search: "a" }),
    says: /getGlobalParallelism: search is not one of its arguments \(known: none\)/,
  },
  "an argument of getDatabases": {
    make: () => void untyped(getDatabases)({ region: "global" }),
    says: /getDatabases: region is not one of its arguments \(known: none\)/,
  },
  "an unknown option of getDatabasesOutput": {
    make: () => untyped(getDatabasesOutput)({ region: "global" }),
    says: /getDatabasesOutput: region is not one of its options/,
  },
  "an unknown option of getGlobalParallelismOutput": {
    make: () => untyped(getGlobalParallelismOutput)({ search: "a" }),
    says: /getGlobalParallelismOutput: search is not one of its options/,
  },
  "an import": {
    make: () => new FlowControlReset("orders", { flowControlKey: "orders" }, { import: "orders" }),
    says: /FlowControlReset "orders" does not support the option `import`/,
  },
};

describe("sdk: a mistake in a program", () => {
  afterEach(() => pulumi.runtime.setAllConfig({}));

  for (const [what, { make, says }] of Object.entries(mistakes)) {
    it(`is reported once, and nothing is reset: ${what}`, async () => {
      const registered = await startMocks();
      const errors = await errorsOf(() => {
        new PasswordRotation("first", { databaseId: "first" });
        new PasswordRotationFleet("others", { databases: ["other"] });
        new FlowControlReset("counters", { flowControlKey: "a" });
        make();
        new PasswordRotation("last", { databaseId: "last" });
      });
      assert.equal(errors.length, 1, errors.join("\n"));
      assert.match(errors.join(), says);
      const resets = registered.filter(({ type }) =>
        /(PasswordRotation|Shard|FlowControlReset|FlowControlLimits)$/.test(type),
      );
      assert.deepEqual(resets, []);
    });
  }

  it("keeps no other run from its resets", async () => {
    await startMocks();
    await errorsOf(() => verify({}));
    const registered = await startMocks({ stack: "other" });
    await valueOf(rotate().urn);
    assert.equal(registered.length, 1);
  });

  it("is neither an argument without a value nor one that is unknown in a preview", async () => {
    const registered = await startMocks({ preview: true });
    const unknown = new FlowControlReset("orders", { flowControlKey: "orders" }).resetAt;
    const args = { host: unknown, port: unknown, tls: false, withinSeconds: unknown, within: undefined, fleet: null };
    const errors = await errorsOf(() => verify({ rotation: rotate({ host: unknown, tls: false }), ...args }));
    assert.deepEqual(errors, []);
    assert.equal(registered.length, 3);
  });

  describe("that shows after the reset", () => {
    const errorOf = async (record: object, args: ConnectionArgs, use: (rotation: PasswordRotation) => unknown) => {
      const outputs = { record, password: "p", outcome: "reset" };
      const registered = await startMocks({ outputs: (type) => (type.endsWith(":PasswordRotation") ? outputs : {}) });
      const errors = await errorsOf(() => use(rotate(args)));
      assert.equal(registered.length, 1, "the rotation");
      return errors.join("\n");
    };
    const remote = { endpoint: "cache.example.com", port: 6379, tls: true };
    const shown: Readonly<Record<string, { record: object; args?: ConnectionArgs; says: RegExp }>> = {
      "a record without a port": {
        record: { endpoint: "cache.example.com" },
        says: /^\w+Error: \w+ "\w+": port is unknown for database "db": the platform's record has none\. Set port\. /,
      },
      "a record without an endpoint": {
        record: { port: 6379 },
        says: /^\w+Error: \w+ "\w+": host is unknown for database "db": the platform's record has none\. Set host or /,
      },
      "plain text to the endpoint": {
        record: remote,
        args: { tls: false },
        says: /^\w+Error: \w+ "\w+": tls must not be false unless host is this machine/,
      },
    };
    for (const [what, { record, args = {}, says }] of Object.entries(shown)) {
      it(`names the resource, and does not deny the reset: ${what}`, async () => {
        const ofVerification = await errorOf(record, args, (rotation) => verify({ rotation }));
        assert.match(ofVerification, says);
        assert.match(ofVerification, /PasswordVerification "proof".*already sent is saved with its new password/);
        const ofUrl = await errorOf(record, args, (rotation) => rotation.connectionUrl);
        assert.match(ofUrl, says);
        assert.match(ofUrl, /PasswordRotation "sessions"/);
        assert.doesNotMatch(ofVerification + ofUrl, /[Nn]othing was sent|targets|subject/);
      });
    }

    it("is not plain text to this machine", async () => {
      const outputs = { record: { endpoint: "127.0.0.1", port: 6379 }, password: "p", outcome: "reset" };
      await startMocks({ outputs: () => outputs });
      const { connectionUrl } = rotate({ tls: false });
      assert.equal(await isKnown(connectionUrl), true);
      assert.equal(await valueOf(connectionUrl), "redis://default:p@127.0.0.1:6379");
    });
  });
});
