import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import * as rekey from "pulumi-rekey";
import { kinds } from "../../provider/domain/secretKind";
import { type ResourceType, resources } from "../../provider/engine/resources";
import { type AnyResource } from "../../provider/resource/resource";
import { secretOutputs } from "../support/secretOutputs";
import { evaluate, type Registration, startMocks, valueOf } from "./pulumiMocks";

/** A resource made the documented way, of the same module and type. */
class Documented extends pulumi.dynamic.Resource {
  constructor(type: string) {
    const provider: pulumi.dynamic.ResourceProvider = { create: async () => ({ id: "1", outs: {} }) };
    super(provider, "documented", { marker: 1 }, {}, "rekey", type);
  }
}

type Options = pulumi.CustomResourceOptions;
/** A class of the SDK. */
interface Class {
  new (name: string, args: object, options?: Options): pulumi.CustomResource;
  isInstance(object: unknown): boolean;
}
const classes = Object.entries<AnyResource>(resources).map(([type, resource]) => {
  return { type, resource, Class: rekey[type as keyof typeof rekey] as unknown as Class };
});
/** Inputs that no check compares here: the registration is that of each resource. */
const argsOf = (name: string) => ({
  ...Object.fromEntries(kinds.map(({ idInput }) => [idInput, name])),
  flowControlKey: name,
});

/** Their removal unpins limits, retires, or says that two are valid. Others can be removed after the package. */
const needProviderForRemoval = ["AclUserRotation", "FlowControlLimits", "QueueTokenRotation", "Retirement"];

for (const { type, resource, Class } of classes) {
  // Frozen: another text would be a change of every resource on an upgrade.
  const text = `exports.handler=()=>require("pulumi-rekey/provider").${type}`;
  const make = (name: string, options?: Options) => new Class(name, argsOf(name), options);

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
      assert.equal(typeof evaluate(documented?.inputs["__provider"] as string).handler, "function");
      const named = type === "RotationTrigger" && { name: "one" };
      assert.deepEqual(ours.inputs, { ...argsOf("one"), ...named, __provider: text });
    });

    it("names a provider that has every function the host calls", () => {
      const host = readFileSync(require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js"), "utf8");
      const called = new Set([...host.matchAll(/\bprovider\.(\w+)\(/g)].map(([, name = ""]) => name));
      assert.ok(called.has("create") && called.has("configure") && called.size >= 7, [...called].join());
      const provider = evaluate(text).handler() as object;
      assert.deepEqual(Object.keys(provider).sort(), [...called].sort());
      assert.equal(evaluate(text).handler(), provider);
    });

    it("has the secret outputs of its type, those of the user, and the default of retainOnDelete", async () => {
      const isRetained = !needProviderForRemoval.includes(type);
      assert.equal(resource.remove === undefined, isRetained);
      const registered: Registration[] = [];
      const given = { retainOnDelete: type === "Retirement" ? false : !isRetained };
      for (const options of [undefined, { additionalSecretOutputs: ["record"] }, given]) {
        const ours = await startMocks();
        await valueOf(make("a", options).urn);
        registered.push(...ours);
      }
      assert.deepEqual(
        registered.map(({ retainOnDelete }) => retainOnDelete),
        [isRetained, isRetained, given.retainOnDelete],
      );
      const [first, second] = registered.map(({ additionalSecretOutputs }) => [...additionalSecretOutputs].sort());
      const secrets = secretOutputs[type as ResourceType];
      assert.deepEqual({ first, second }, { first: secrets, second: [...secrets, "record"].sort() });
    });

    it("refuses to be imported or read, and names the way to adopt a secret", async () => {
      const registered = await startMocks();
      for (const option of ["import", "id"]) {
        assert.throws(
          () => make("adopted", { [option]: "db" }),
          (error) =>
            pulumi.RunError.isInstance(error) &&
            error instanceof rekey.RekeyError &&
            error.code === "REKEY_IMPORT_UNSUPPORTED" &&
            // Pulumi would print a stack trace.
            !/ at /.test(inspect(error, { colors: true })) &&
            new RegExp(`${type} "adopted" .*\`${option}\`.*initialRotation: false.*No request was made`).test(
              error.message,
            ),
        );
      }
      assert.equal(registered.length, 0);
    });

    it("recognizes its own objects", async () => {
      await startMocks();
      const own = make("a");
      assert.deepEqual(
        classes.filter((one) => one.Class.isInstance(own)).map((one) => one.type),
        [type],
      );
      assert.ok(![new Documented(type), undefined, {}].some((object) => Class.isInstance(object)));
    });
  });
}
