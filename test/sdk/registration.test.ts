import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { FlowControlReset, PasswordRotation } from "pulumi-rekey";
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

/** Frozen: another text would be a change of every resource on an upgrade. */
const texts = {
  PasswordRotation: 'exports.handler=()=>require("pulumi-rekey/provider").passwordRotation',
  FlowControlReset: 'exports.handler=()=>require("pulumi-rekey/provider").flowControlReset',
};
const make = {
  PasswordRotation: (name: string, options?: pulumi.CustomResourceOptions) =>
    new PasswordRotation(name, { databaseId: name }, options),
  FlowControlReset: (name: string, options?: pulumi.CustomResourceOptions) =>
    new FlowControlReset(name, { flowControlKey: name }, options),
};

for (const type of ["PasswordRotation", "FlowControlReset"] as const) {
  describe(`sdk: ${type}, as the engine sees it`, () => {
    it("is of the type, and names its provider under the key, that the installed SDK would use", async () => {
      const registered = await startMocks();
      await valueOf(new Documented(type).urn);
      await valueOf(make[type]("one").urn);
      const [documented, ours] = registered;
      assert.equal(ours?.type, documented?.type);
      assert.equal(ours?.type, `pulumi-nodejs:dynamic/rekey:${type}`);
      const key = Object.keys(documented?.inputs ?? {}).filter((name) => name !== "marker");
      assert.deepEqual(key, ["__provider"]);
      assert.equal(ours.inputs["__provider"], texts[type]);
      assert.equal(typeof evaluate(documented?.inputs["__provider"] as string).handler, "function");
    });

    it("names a provider that has every function the host calls", () => {
      const host = readFileSync(require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js"), "utf8");
      const called = new Set([...host.matchAll(/\bprovider\.(\w+)\(/g)].map(([, name = ""]) => name));
      assert.ok(called.has("create") && called.has("configure") && called.size >= 7, [...called].join());
      const provider = evaluate(texts[type]).handler();
      for (const name of called) assert.equal(typeof provider[name], "function", name);
      assert.deepEqual(Object.keys(provider).sort(), [...called].sort());
      assert.equal(evaluate(texts[type]).handler(), provider);
    });

    it("is retained on delete unless the user says otherwise", async () => {
      const registered = await startMocks();
      const options = [undefined, {}, { retainOnDelete: true }, { retainOnDelete: false }];
      for (const [index, one] of options.entries()) await valueOf(make[type](`r${index}`, one).urn);
      assert.deepEqual(
        registered.map(({ retainOnDelete }) => retainOnDelete),
        [true, true, true, false],
      );
    });

    it("refuses to be imported or read, and names what adopts a database instead", async () => {
      const registered = await startMocks();
      for (const option of ["import", "id"]) {
        assert.throws(
          () => make[type]("adopted", { [option]: "db" }),
          (error: Error) =>
            pulumi.RunError.isInstance(error) &&
            error.message.includes(`${type} "adopted" cannot have the option \`${option}\``) &&
            /Nothing was sent.*initialRotation: false/.test(error.message),
        );
      }
      assert.equal(registered.length, 0);
    });

    it("has secret outputs, and those that the user adds", async () => {
      const registered = await startMocks();
      await valueOf(make[type]("a").urn);
      await valueOf(make[type]("b", { additionalSecretOutputs: ["record"] }).urn);
      const rotation = ["password", "restToken", "readOnlyRestToken", "otherFields", "attemptedTrigger"];
      const secrets = ["appliedTrigger", ...(type === "PasswordRotation" ? rotation : [])].sort();
      const [first, second] = registered.map(({ additionalSecretOutputs }) => [...additionalSecretOutputs].sort());
      assert.deepEqual(first, secrets);
      assert.deepEqual(second, [...secrets, "record"].sort());
    });

    it("sends the user's inputs and what it needs itself, no more", async () => {
      const registered = await startMocks();
      await valueOf(make[type]("a").urn);
      const more = type === "PasswordRotation" ? ["databaseId", "owner"] : ["flowControlKey"];
      assert.deepEqual(Object.keys(registered[0]?.inputs ?? {}).sort(), ["__provider", ...more].sort());
    });

    it("knows its own kind, also of another copy of this package", async () => {
      await startMocks();
      const [one, other] = [make[type]("a"), new Documented(type)];
      const { isInstance } = type === "PasswordRotation" ? PasswordRotation : FlowControlReset;
      const wrong = type === "PasswordRotation" ? make.FlowControlReset("b") : make.PasswordRotation("b");
      assert.deepEqual([one, other].map(isInstance), [true, true]);
      const others = [wrong, new Documented("Other"), undefined, null, {}, "a", { __pulumiType: texts[type] }];
      assert.ok(others.every((object) => !isInstance(object)));
    });
  });
}
