import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  FlowControlLimits,
  FlowControlReset,
  PasswordRotation,
  SigningKeyRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { errorsOf, type MockOptions, type Registration, startMocks, valueOf } from "../support/pulumiMocks";

/** Another copy of this package, as a library of the program may have it. */
function otherCopy(): typeof import("pulumi-rekey") {
  const own = { ...require.cache };
  const folder = require.resolve("pulumi-rekey").replace(/sdk.*/, "");
  for (const file of Object.keys(own)) if (file.startsWith(folder)) delete require.cache[file];
  const copy = require("pulumi-rekey") as typeof import("pulumi-rekey");
  Object.assign(require.cache, own);
  return copy;
}

const rotate = (name: string, databaseId: pulumi.Input<string>) => new PasswordRotation(name, { databaseId });
const late = <T>(value: T, milliseconds = 0) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), milliseconds));

async function run(program: () => unknown, options?: MockOptions) {
  const registered = await startMocks(options);
  const errors = await errorsOf(program);
  return { errors, names: registered.map(({ name }: Registration) => name) };
}

describe("sdk: two resources of a program for one secret or key", () => {
  const pairs: Readonly<Record<string, { readonly make: () => unknown; readonly message: RegExp }>> = {
    "a database": {
      make: () => [rotate("a", "db"), rotate("b", "db")],
      message: /PasswordRotation "b": database "db" already belongs to PasswordRotation "a": each reset .* Remove one/,
    },
    "a database whose id is an Output": {
      make: () => [rotate("a", "db"), rotate("b", pulumi.secret("db"))],
      message: /\[REKEY_DUPLICATE_DATABASE\]$/,
    },
    "a database of another copy of the package": {
      make: () => [rotate("a", "db"), new (otherCopy().PasswordRotation)("b", { databaseId: "db" })],
      message: /PasswordRotation "b": database "db" already belongs to PasswordRotation "a"/,
    },
    "the signing keys": {
      make: () => [new SigningKeyRotation("a"), new SigningKeyRotation("b")],
      message: /the pair of signing keys already belongs to SigningKeyRotation "a".*\[REKEY_DUPLICATE_SECRET\]$/,
    },
    "a flow-control key": {
      make: () => ["a", "b"].map((name) => new FlowControlLimits(name, { flowControlKey: "orders", rate: 1 })),
      message: /flow-control key "orders" already belongs to FlowControlLimits "a".*\[REKEY_DUPLICATE_KEY\]$/,
    },
  };
  for (const [what, { make, message }] of Object.entries(pairs)) {
    it(`stop it before any resource is registered: ${what}`, async () => {
      const { errors, names } = await run(() => {
        new FlowControlReset("counters", { flowControlKey: "orders" });
        make();
        rotate("last", "other");
      });
      assert.deepEqual({ errors: errors.length, names }, { errors: 1, names: [] }, errors.join("\n"));
      assert.match(errors.join(), message);
    });
  }

  it("stop the second one if its id is known late, also those that come later", async () => {
    const { errors, names } = await run(async () => {
      const parent = new pulumi.ComponentResource("my:own:Component", "parent");
      const one = new PasswordRotation("a", { databaseId: "db" }, { parent });
      const two = new PasswordRotation("c", { databaseId: "db2" }, { parent });
      await Promise.all([one, two].map(({ urn }) => valueOf(urn)));
      rotate("b", Promise.resolve("db"));
      await late(undefined, 1);
      rotate("d", "other");
    });
    assert.match(errors.join(), /^RekeyError: PasswordRotation "b": database "db" already belongs/);
    assert.deepEqual(names, ["parent", "a", "c"]);
  });

  it("are not two kinds with one id, ids that are unknown in a preview, or ids that are missing", async () => {
    const missing = { databaseId: undefined as unknown as string };
    const { errors, names } = await run(
      () => {
        rotate("a", "same");
        new VectorTokenRotation("b", { indexId: "same" });
        const { resetAt } = new FlowControlReset("c", { flowControlKey: "same" });
        for (const name of ["d", "e"]) rotate(name, resetAt as pulumi.Output<string>);
        for (const name of ["f", "g"]) new PasswordRotation(name, missing);
      },
      { preview: true },
    );
    assert.deepEqual({ errors, names: names.sort() }, { errors: [], names: ["a", "b", "c", "d", "e", "f", "g"] });
  });
});
