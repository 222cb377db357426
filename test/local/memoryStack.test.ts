import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import type { ResourceProvider } from "@pulumi/pulumi/dynamic";
import { type MemoryResult, MemoryStack, MemoryStackError } from "../../local/index";

type Properties = Record<string, unknown>;

const type = "pulumi-nodejs:dynamic/test:Thing";
const text = "exports.handler = () => globalThis.testProvider";

/** A resource of a dynamic provider that each test may change. */
class Thing extends pulumi.CustomResource {
  declare readonly made: pulumi.Output<number | undefined>;
  declare readonly size: pulumi.Output<number>;
  constructor(name: string, size: pulumi.Input<unknown>, options?: pulumi.CustomResourceOptions) {
    super(type, name, { size, made: undefined, __provider: text }, options);
  }
}

/** A resource of another provider. */
class Bucket extends pulumi.CustomResource {}

/** The result of an operation that must fail. */
async function failureOf(operation: Promise<MemoryResult>): Promise<MemoryResult> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof MemoryStackError) return error.result;
    throw error;
  }
  return assert.fail("the operation succeeded");
}

// With the providers of pulumi-rekey: examples/testing, and every test that uses test/support/memory.ts.
describe("MemoryStack", () => {
  /** The calls of the provider, in their order. */
  let calls: string[];
  let provider: Partial<ResourceProvider<Properties, Properties>>;
  let size: number;

  beforeEach(() => {
    calls = [];
    size = 1;
    provider = {
      check: async (olds, news) => {
        calls.push(`check ${JSON.stringify(olds["size"] ?? null)} ${JSON.stringify(news["size"])}`);
        return { inputs: news };
      },
      diff: async (_id, olds, news) => ({ changes: olds["size"] !== news["size"] }),
      create: async ({ size }) => {
        calls.push(`create ${String(size)}`);
        return { id: `id-${String(size)}`, outs: { size, made: 1 } };
      },
      update: async (id, olds, { size }) => {
        calls.push(`update ${id} ${JSON.stringify(olds["made"])} ${String(size)}`);
        return { outs: { size, made: Number(olds["made"]) + 1 } };
      },
      read: async (id, props = {}) => ({ id, props }),
      delete: async (id) => void calls.push(`delete ${id}`),
    };
    (globalThis as { testProvider?: unknown }).testProvider = provider;
  });

  const one = () => new MemoryStack(() => ({ made: new Thing("a", size).made }));

  it("ends a run whose resource failed, without what depends on it, and keeps the stack's outputs", async () => {
    let applied = 0;
    const stack = new MemoryStack(async () => {
      const a = new Thing("a", size);
      const b = new Thing("b", a.made);
      a.size.apply(() => applied++);
      // Waits permanently if a fails.
      await new Promise((resolve) => a.made.apply(resolve));
      return { size, made: b.made };
    });
    const { outputs } = await stack.up();
    provider.update = async () => {
      throw new Error("no");
    };
    size = 2;
    calls = [];
    const { errors, ...result } = await failureOf(stack.up());
    assert.deepEqual([errors, result.outputs], [[`${type} (a): no`], outputs]);
    assert.deepEqual([applied, calls], [1, ["check 1 2"]]);
    assert.deepEqual((await stack.destroy()).changes, { delete: 3 });
  });

  it("deletes resources that the program has dropped, dependents first, unless they are retained", async () => {
    let declare = (): unknown => {
      const { made } = new Thing("a", 1);
      new Thing("kept", 9, { retainOnDelete: true });
      return new Thing(
        "b",
        made.apply(() => 2),
      );
    };
    const stack = new MemoryStack(() => void declare());
    await stack.up();
    declare = () => undefined;
    calls = [];
    assert.deepEqual((await stack.up()).changes, { same: 1, delete: 3 });
    assert.deepEqual(calls, ["delete id-2", "delete id-1"]);
  });

  it("marks secrets: inputs, their outputs, and outputs that are declared or marked", async () => {
    const program = () => {
      const a = new Thing("a", pulumi.secret(1));
      const b = new Thing("b", 2, { additionalSecretOutputs: ["made"] });
      return { plain: b.size, input: a.size, declared: b.made, other: a.made };
    };
    const { outputs } = await new MemoryStack(program).up();
    const secret = Object.keys(outputs).filter((name) => outputs[name]?.secret);
    assert.deepEqual([secret.sort(), outputs["input"]?.value], [["declared", "input"], 1]);
  });

  it("refuses what a check finds, and a resource that is requested twice", async () => {
    provider.check = async (_, inputs) => ({ inputs, failures: [{ property: "", reason: "too large" }] });
    assert.deepEqual((await failureOf(one().up())).errors, [`${type} (a): has a problem: too large`]);
    delete provider.check;
    const twice = new MemoryStack(() => [new Thing("a", 1), new Thing("a", 2)]);
    assert.match((await failureOf(twice.up())).errors.join(), /Duplicate resource URN/);
  });

  it("collects printed and logged lines, and errors that are thrown, rejected, logged or of an apply", async () => {
    const program = async () => {
      new Thing("a", 1).made.apply(() => {
        throw new Error("in apply");
      });
      void Promise.reject(new Error("rejected"));
      void pulumi.log.error("logged");
      void pulumi.log.warn("be careful");
      console.error("printed by %s", "a provider");
      await sleep(10);
      throw new pulumi.RunError("thrown");
    };
    const { errors, changes, notices } = await failureOf(new MemoryStack(program).up());
    assert.deepEqual([...errors].sort(), ["in apply", "logged", "rejected", "thrown"]);
    assert.deepEqual(changes, { create: 2 });
    assert.deepEqual([...notices].sort(), ["printed by a provider", "warning: be careful"]);
    const waiting = new MemoryStack(() => ({ id: new Thing("a", Promise.reject(new Error("late"))).id }));
    assert.match((await failureOf(waiting.up())).errors.join("\n"), /late/);
  });

  it("gives a program its settings and names, and the inputs of other providers; the provider the settings", async () => {
    provider.configure = async ({ config }) => void calls.push(`configure ${config.get("shop:token")}`);
    const program = () => {
      const config = new pulumi.Config();
      const group = new pulumi.ComponentResource("test:index:Group", "g");
      const child = new Thing("a", 1, { parent: group });
      const other = new Bucket("aws:s3/bucket:Bucket", "logs", { name: "x" });
      const names = `${pulumi.getProject()}/${pulumi.getStack()}`;
      return {
        setting: config.require("size"),
        secret: config.requireSecret("token"),
        names,
        urn: child.urn,
        id: other.id,
      };
    };
    const config = { size: "5", "shop:token": { secret: "t" } };
    const stack = new MemoryStack(program, config, { project: "shop", stack: "prod" });
    const { outputs, changes } = await stack.up();
    assert.deepEqual(changes, { create: 4 });
    const values = Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, output?.value]));
    const urn = `urn:pulumi:prod::shop::test:index:Group$${type}::a`;
    assert.deepEqual(values, { setting: "5", secret: "t", names: "shop/prod", urn, id: "logs" });
    assert.equal(outputs["secret"]?.secret, true);
    assert.equal(stack.resources.find(({ id }) => id === "logs")?.outputs["name"], "x");
    assert.equal(calls[0], "configure t");
  });
});
