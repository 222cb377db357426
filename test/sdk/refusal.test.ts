import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  FlowControlReset,
  getDatabasesOutput,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  getFlowControlKeysOutput,
  PasswordRotation,
} from "pulumi-rekey";
import { errorsOf, startMocks, valueOf } from "../support/pulumiMocks";

/** Calls a function as a program without type checking can. */
const untyped = (call: unknown) => call as (...args: unknown[]) => unknown;
const late = <T>(value: T) => pulumi.output(Promise.resolve(value));

const mistakes: Readonly<Record<string, { readonly make: () => unknown; readonly says: RegExp }>> = {
  "an unknown argument of a data source": {
    make: () => void untyped(getFlowControlKeys)({ serch: "a" }),
    says: /getFlowControlKeys: serch is not one of its arguments \(known: search; did you mean search\?\)\. Correct this/,
  },
  "an unknown argument of its Output form": {
    make: () => untyped(getFlowControlKeyOutput)({ flowControlKey: "a", key: "b" }),
    says: /getFlowControlKeyOutput: key is not one of its arguments \(known: flowControlKey\)/,
  },
  "an unknown option": {
    make: () => untyped(getFlowControlKeysOutput)({}, { dependOn: [] }),
    says: /getFlowControlKeysOutput: dependOn is not one of its options \(known: dependsOn; did you mean dependsOn\?\)/,
  },
  "an option of an Output form without arguments": {
    make: () => untyped(getDatabasesOutput)({ region: "global" }),
    says: /getDatabasesOutput: region is not one of its options/,
  },
  "an argument of another type": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: 5 }),
    says: /getFlowControlKey: flowControlKey must be a string, not a number\./,
  },
  "an argument of another type, known late": {
    make: () => untyped(getFlowControlKeyOutput)({ flowControlKey: late(["a"]) }),
    says: /getFlowControlKey: flowControlKey must be a string, not a list\./,
  },
  "an argument that is an Output": {
    make: () => void untyped(getFlowControlKey)({ flowControlKey: late("a") }),
    says: /getFlowControlKey: flowControlKey must not be an Output or a Promise: use getFlowControlKeyOutput, which waits/,
  },
  "arguments that are an Output": {
    make: () => void untyped(getFlowControlKeys)(late({ search: "a" })),
    says: /getFlowControlKeys: its arguments must not be an Output or a Promise: use getFlowControlKeysOutput/,
  },
  "an import": {
    make: () => new FlowControlReset("orders", { flowControlKey: "orders" }, { import: "orders" }),
    says: /FlowControlReset "orders" does not support the option `import`/,
  },
};

describe("sdk: a mistake in a program", () => {
  for (const [what, { make, says }] of Object.entries(mistakes)) {
    it(`is reported once, and no resource is registered: ${what}`, async () => {
      const registered = await startMocks();
      const errors = await errorsOf(() => {
        new PasswordRotation("first", { databaseId: "first" });
        new FlowControlReset("counters", { flowControlKey: "a" });
        make();
        new PasswordRotation("last", { databaseId: "last" });
      });
      assert.equal(errors.length, 1, errors.join("\n"));
      assert.match(errors.join(), says);
      assert.deepEqual(registered, []);
    });
  }

  it("keeps no other run from its resources", async () => {
    await startMocks();
    await errorsOf(() => untyped(getDatabasesOutput)({ region: "global" }));
    const registered = await startMocks({ stack: "other" });
    await valueOf(new PasswordRotation("sessions", { databaseId: "db" }).urn);
    assert.equal(registered.length, 1);
  });
});
