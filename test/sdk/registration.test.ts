import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { inspect } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { FlowControlLimits, FlowControlReset, PasswordRotation, PasswordVerification, RekeyError } from "pulumi-rekey";
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
  __pulumiCustomResource: true,
  __pulumiType: "pulumi-nodejs:dynamic/rekey:PasswordRotation",
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
    inputs: ["__provider", "databaseId", "owner"],
    secrets:
      "account appliedTrigger attemptedTrigger baseline currentMarks formerMarks otherFields password readOnlyRestToken restToken saving".split(
        " ",
      ),
  },
  {
    type: "FlowControlReset",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").flowControlReset',
    make: (name: string, options?: Options) => new FlowControlReset(name, { flowControlKey: name }, options),
    isInstance: FlowControlReset.isInstance,
    inputs: ["__provider", "flowControlKey"],
    secrets: ["appliedTrigger"],
  },
  {
    type: "FlowControlLimits",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").flowControlLimits',
    make: (name: string, options?: Options) =>
      new FlowControlLimits(name, { flowControlKey: name, paused: true }, options),
    isInstance: FlowControlLimits.isInstance,
    inputs: ["__provider", "flowControlKey", "owner", "paused"],
    secrets: [],
    // Its removal unpins, for which the engine needs the provider.
    retained: "false,false,true,false",
  },
  {
    type: "PasswordVerification",
    text: 'exports.handler=()=>require("pulumi-rekey/provider").passwordVerification',
    make: (name: string, options?: Options) => new PasswordVerification(name, { rotation: known }, options),
    isInstance: PasswordVerification.isInstance,
    inputs: ["__provider", "subject", "targets"],
    secrets: ["targets"],
  },
];

for (const { type, text, make, isInstance, inputs, secrets, retained = "true,true,true,false" } of resources) {
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

    it("has the inputs and secret outputs of its type, those of the user, and the default of retainOnDelete", async () => {
      const registered = await startMocks();
      const secretRecord = { additionalSecretOutputs: ["record"] };
      const options = [undefined, secretRecord, { retainOnDelete: true }, { retainOnDelete: false }];
      for (const [index, one] of options.entries()) await valueOf(make(`r${index}`, one).urn);
      assert.equal(registered.map(({ retainOnDelete }) => retainOnDelete).join(), retained);
      const [first, second] = registered.map(({ additionalSecretOutputs }) => [...additionalSecretOutputs].sort());
      assert.deepEqual({ first, second }, { first: secrets, second: [...secrets, "record"].sort() });
      assert.deepEqual(Object.keys(registered[0]?.inputs ?? {}).sort(), inputs);
    });

    it("refuses to be imported or read, and names the way to adopt a database", async () => {
      const registered = await startMocks();
      for (const option of ["import", "id"]) {
        assert.throws(
          () => make("adopted", { [option]: "db" }),
          (error) =>
            pulumi.RunError.isInstance(error) &&
            error instanceof RekeyError &&
            error.code === "REKEY_IMPORT_UNSUPPORTED" &&
            // Pulumi would print a stack trace.
            !/ at /.test(inspect(error, { colors: true })) &&
            new RegExp(`${type} "adopted" .*\`${option}\`.*Nothing was sent.*initialRotation: false`).test(
              error.message,
            ),
        );
      }
      assert.equal(registered.length, 0);
    });

    it("recognizes its own type, also of another copy of this package", async () => {
      await startMocks();
      const own = [make("a"), new Documented(type)];
      const recognizing = resources.filter((one) => own.every(one.isInstance)).map((one) => one.type);
      assert.deepEqual(recognizing, [type]);
      const others = [new Documented("Other"), undefined, null, {}, "a", { __pulumiType: text }];
      assert.ok(!others.some((object) => isInstance(object)));
    });
  });
}
