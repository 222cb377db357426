import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset, PasswordRotation, PasswordVerification } from "pulumi-rekey";
import { startMocks, valueOf } from "../support/pulumiMocks";

/** What the provider host of the installed SDK does with a provider's text. */
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
const evaluate = sdkRequire("require-from-string") as (text: string) => { handler(): Record<string, unknown> };

/** A resource made the documented way, of the same module and type. */
class Documented extends pulumi.dynamic.Resource {
  constructor(type: string) {
    const provider: pulumi.dynamic.ResourceProvider = { create: async () => ({ id: "1", outs: {} }) };
    super(provider, "documented", { marker: 1 }, {}, "rekey", type);
  }
}

type Options = pulumi.CustomResourceOptions;
/** What a verification needs of a rotation. */
const known = {
  databaseId: pulumi.output("db"),
  record: pulumi.output(undefined),
  password: pulumi.output(undefined),
  restToken: pulumi.output(undefined),
  rotatedAt: pulumi.output(undefined),
} as unknown as PasswordRotation;
/** The texts are frozen: another text would be a change of every resource on an upgrade. */
const resources = [
  {
    type: "PasswordRotation",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").passwordRotation',
    make: (name: string, options?: Options) => new PasswordRotation(name, { databaseId: name }, options),
    isInstance: PasswordRotation.isInstance,
    other: FlowControlReset.isInstance,
    inputs: ["__provider", "databaseId", "owner"],
    secrets: "appliedTrigger attemptedTrigger otherFields password readOnlyRestToken restToken".split(" "),
  },
  {
    type: "FlowControlReset",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").flowControlReset',
    make: (name: string, options?: Options) => new FlowControlReset(name, { flowControlKey: name }, options),
    isInstance: FlowControlReset.isInstance,
    other: PasswordRotation.isInstance,
    inputs: ["__provider", "flowControlKey"],
    secrets: ["appliedTrigger"],
  },
  {
    type: "PasswordVerification",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").passwordVerification',
    make: (name: string, options?: Options) => new PasswordVerification(name, { rotation: known }, options),
    isInstance: PasswordVerification.isInstance,
    other: PasswordRotation.isInstance,
    inputs: ["__provider", "subject", "targets"],
    secrets: ["targets"],
  },
];

for (const { type, text, make, isInstance, other, inputs, secrets } of resources) {
  describe(`sdk: ${type}, as the engine sees it`, () => {
    it("has the type, and the key of its provider, that the installed SDK would use", async () => {
      const registered = await startMocks();
      await valueOf(new Documented(type).urn);
      await valueOf(make("one").urn);
      const [documented, ours] = registered;
      assert.equal(ours?.type, documented?.type);
      assert.equal(ours?.type, `pulumi-nodejs:dynamic/rekey:${type}`);
      const key = Object.keys(documented?.inputs ?? {}).filter((name) => name !== "marker");
      assert.deepEqual(key, ["__provider"]);
      assert.equal(ours.inputs["__provider"], text);
      assert.equal(typeof evaluate(documented?.inputs["__provider"] as string).handler, "function");
    });

    it("names a provider that has every function the host calls", () => {
      const host = readFileSync(require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js"), "utf8");
      const called = new Set([...host.matchAll(/\bprovider\.(\w+)\(/g)].map(([, name = ""]) => name));
      assert.ok(called.has("create") && called.has("configure") && called.size >= 7, [...called].join());
      const provider = evaluate(text).handler();
      for (const name of called) assert.equal(typeof provider[name], "function", name);
      assert.deepEqual(Object.keys(provider).sort(), [...called].sort());
      assert.equal(evaluate(text).handler(), provider);
    });

    it("is retained on delete by default", async () => {
      const registered = await startMocks();
      const options = [undefined, {}, { retainOnDelete: true }, { retainOnDelete: false }];
      for (const [index, one] of options.entries()) await valueOf(make(`r${index}`, one).urn);
      assert.equal(registered.map(({ retainOnDelete }) => retainOnDelete).join(), "true,true,true,false");
    });

    it("refuses to be imported or read, and names the way to adopt a database", async () => {
      const registered = await startMocks();
      for (const option of ["import", "id"]) {
        assert.throws(
          () => make("adopted", { [option]: "db" }),
          (error) =>
            pulumi.RunError.isInstance(error) &&
            new RegExp(`${type} "adopted" .*\`${option}\`.*Nothing was sent.*initialRotation: false`).test(
              error.message,
            ),
        );
      }
      assert.equal(registered.length, 0);
    });

    it("has the secret outputs of its type and of the user", async () => {
      const registered = await startMocks();
      await valueOf(make("a").urn);
      await valueOf(make("b", { additionalSecretOutputs: ["record"] }).urn);
      const [first, second] = registered.map(({ additionalSecretOutputs }) => [...additionalSecretOutputs].sort());
      assert.deepEqual(first, secrets);
      assert.deepEqual(second, [...secrets, "record"].sort());
    });

    it("sends the user's inputs and those of its own", async () => {
      const registered = await startMocks();
      await valueOf(make("a").urn);
      assert.deepEqual(Object.keys(registered[0]?.inputs ?? {}).sort(), inputs);
    });

    it("recognizes its own type, also of another copy of this package", async () => {
      await startMocks();
      const own = [make("a"), new Documented(type)];
      assert.ok(own.every((one) => isInstance(one) && !other(one)));
      const others = [new Documented("Other"), undefined, null, {}, "a", { __pulumiType: text }];
      assert.ok(!others.some((object) => isInstance(object)));
    });
  });
}
