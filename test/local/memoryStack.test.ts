import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import type { ResourceProvider } from "@pulumi/pulumi/dynamic";
import { getFlowControlKey, PasswordRotation, PasswordRotationFleet, type PasswordRotationArgs } from "pulumi-rekey";
import {
  type MemoryResult,
  MemoryStack,
  MemoryStackError,
  type Platform,
  type PlatformOptions,
  startPlatform,
} from "../../local/index";

const toClose: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(toClose.splice(0).map((close) => close()));
});

async function start(options: PlatformOptions = {}): Promise<Platform> {
  const platform = await startPlatform({ databases: ["a", "b"], credentials: "always", ...options });
  toClose.push(() => platform.close());
  return platform;
}

function settingsOf(platform: Platform): MemoryStack["config"] {
  return {
    "rekey:baseUrl": platform.url,
    "rekey:queueUrl": platform.url,
    "rekey:username": platform.username,
    "rekey:password": { secret: platform.password },
    "rekey:queueToken": { secret: platform.queueToken },
  };
}

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

describe("MemoryStack with pulumi-rekey", () => {
  const rotation = (args: Partial<PasswordRotationArgs> = {}) => {
    const { password, outcome } = new PasswordRotation("a", { databaseId: "a", version: 1, ...args });
    return { password, outcome };
  };

  it("creates, keeps, updates and deletes, and changes nothing in a preview", async () => {
    const platform = await start();
    let version = 1;
    const stack = new MemoryStack(() => rotation({ version }), settingsOf(platform));
    const planned = await stack.preview();
    assert.deepEqual(planned.changes, { create: 2 });
    assert.deepEqual(planned.outputs["outcome"], { value: undefined, secret: false });
    assert.equal(platform.resetCount, 0);
    const first = await stack.up();
    assert.deepEqual(first.outputs, {
      password: { value: platform.database("a").password, secret: true },
      outcome: { value: "reset", secret: false },
    });
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    version = 2;
    assert.deepEqual((await stack.preview()).changes, { same: 1, update: 1 });
    assert.equal(platform.resetCount, 1);
    const second = await stack.up();
    assert.deepEqual(second.changes, { same: 1, update: 1 });
    assert.equal(second.outputs["password"]?.value, platform.database("a").password);
    assert.deepEqual((await stack.refresh()).changes, { same: 2 });
    assert.deepEqual((await stack.destroy()).changes, { delete: 2 });
    assert.equal(platform.resetCount, 2);
  });

  it("saves what a lost response has left, and the next up fixes it", async () => {
    const platform = await start();
    let version = 1;
    const stack = new MemoryStack(() => rotation({ version }), settingsOf(platform));
    const { outputs } = await stack.up();
    version = 2;
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    const { errors, ...result } = await failureOf(stack.up());
    assert.match(errors.join(), /^pulumi-nodejs:dynamic\/rekey:PasswordRotation \(a\): .*may have been changed/s);
    assert.equal(errors.length, 1);
    assert.deepEqual(result.outputs, outputs);
    const { changes, outputs: after } = await stack.up();
    assert.deepEqual(changes, { same: 1, update: 1 });
    assert.equal(after["password"]?.value, platform.database("a").password);
  });

  it("shows what providers print and programs log", async () => {
    const platform = await start();
    const program = () => {
      void pulumi.log.info("for your information");
      void pulumi.log.warn("be careful");
      return rotation();
    };
    const { notices } = await new MemoryStack(program, settingsOf(platform)).preview();
    assert.ok(notices.includes("for your information") && notices.includes("warning: be careful"), notices.join("\n"));
    assert.match(notices.join("\n"), /^Resets the password of database "a"/m);
  });

  it("starts a provider again for each operation, and refuses a resource that is requested twice in one", async () => {
    const platform = await start();
    const program = () => [rotation({ version: 1 })];
    const limited = { ...settingsOf(platform), "rekey:maxResetsPerRun": "1" };
    await new MemoryStack(program, limited).up();
    await new MemoryStack(program, limited).up();
    assert.equal(platform.resetCount, 2);
    const both = () => [new PasswordRotation("a", { databaseId: "a" }), new PasswordRotation("b", { databaseId: "b" })];
    const { errors } = await failureOf(new MemoryStack(both, limited).up());
    assert.match(errors.join(), /maxResetsPerRun/);
    const twice = () => [rotation(), rotation()];
    assert.match((await failureOf(new MemoryStack(twice, limited).up())).errors.join(), /Duplicate resource URN/);
  });

  it("runs fleets and data sources", async () => {
    const platform = await start({ flowControlKeys: ["orders"] });
    const program = async () => {
      const { credentials } = new PasswordRotationFleet("all", { databases: ["a", "b"], version: 1 });
      const { waitListSize } = await getFlowControlKey({ flowControlKey: "orders" });
      return { credentials, waitListSize };
    };
    const { outputs } = await new MemoryStack(program, settingsOf(platform)).up();
    assert.equal(outputs["credentials"]?.secret, true);
    for (const id of ["a", "b"]) {
      assert.ok(JSON.stringify(outputs["credentials"].value).includes(platform.database(id).password), id);
    }
    assert.deepEqual(outputs["waitListSize"], { value: 42, secret: false });
  });
});

describe("MemoryStack with a dynamic provider", () => {
  type Properties = Record<string, unknown>;
  type Provider = ResourceProvider<Properties, Properties>;
  /** The calls of the provider, in their order. */
  let calls: string[];
  let provider: Partial<Provider>;
  const text = "exports.handler = () => globalThis.testProvider";

  class Thing extends pulumi.CustomResource {
    declare readonly made: pulumi.Output<number | undefined>;
    declare readonly size: pulumi.Output<number>;
    constructor(name: string, size: pulumi.Input<unknown>, options?: pulumi.CustomResourceOptions) {
      super("pulumi-nodejs:dynamic/test:Thing", name, { size, made: undefined, __provider: text }, options);
    }
  }

  class Bucket extends pulumi.CustomResource {
    declare readonly name: pulumi.Output<string>;
  }

  beforeEach(() => {
    calls = [];
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

  it("checks with the old inputs, and gives old outputs to diff and update", async () => {
    let size = 1;
    const stack = new MemoryStack(() => ({ made: new Thing("a", size).made }));
    await stack.up();
    size = 2;
    const { outputs } = await stack.up();
    assert.deepEqual(calls, ["check null 1", "create 1", "check 1 2", "update id-1 1 2"]);
    assert.deepEqual(outputs["made"], { value: 2, secret: false });
  });

  for (const [title, deleteFirst, order] of [
    ["creates a replacement, then deletes", false, ["create 2", "delete id-1"]],
    ["deletes, then creates a replacement", true, ["delete id-1", "create 2"]],
  ] as const) {
    it(`${title}, as the provider or the program asks`, async () => {
      provider.diff = async (_id, olds, news) => ({
        changes: olds["size"] !== news["size"],
        replaces: ["size"],
        deleteBeforeReplace: deleteFirst,
      });
      for (const options of [undefined, { deleteBeforeReplace: deleteFirst }]) {
        let size = 1;
        const stack = new MemoryStack(() => ({ id: new Thing("a", size, options).id }));
        await stack.up();
        size = 2;
        calls = [];
        const { changes, outputs } = await stack.up();
        assert.deepEqual(changes, { same: 1, replace: 1 });
        assert.equal(outputs["id"]?.value, "id-2");
        assert.deepEqual(calls, ["check 1 2", "check null 2", ...order]);
      }
    });
  }

  it("saves the outputs of an init error with the old inputs, and updates in the next up", async () => {
    let size = 1;
    const stack = new MemoryStack(() => ({ made: new Thing("a", size).made }));
    await stack.up();
    const { update } = provider;
    provider.update = async (id) => {
      throw Object.assign(new Error("no"), {
        id,
        properties: { size: 2, made: 7, __provider: text },
        reasons: ["slow"],
      });
    };
    size = 2;
    assert.deepEqual((await failureOf(stack.up())).errors, ["pulumi-nodejs:dynamic/test:Thing (a): slow"]);
    assert.deepEqual(stack.resources.at(-1), {
      urn: "urn:pulumi:dev::test::pulumi-nodejs:dynamic/test:Thing::a",
      id: "id-1",
      outputs: { size: 2, made: 7, __provider: text },
    });
    provider.update = update!;
    calls = [];
    const { changes } = await stack.up();
    assert.deepEqual(changes, { same: 1, update: 1 });
    assert.deepEqual(calls, ["check 1 2", "update id-1 7 2"]);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
  });

  it("ends a run whose resource failed, without what depends on it, and keeps the stack's outputs", async () => {
    let size = 1;
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
    assert.equal(applied, 1);
    provider.update = async () => {
      throw new Error("no");
    };
    size = 2;
    calls = [];
    const { errors, ...result } = await failureOf(stack.up());
    assert.deepEqual(errors, ["pulumi-nodejs:dynamic/test:Thing (a): no"]);
    assert.deepEqual(result.outputs, outputs);
    assert.deepEqual([applied, calls], [1, ["check 1 2"]]);
    assert.deepEqual((await stack.destroy()).changes, { delete: 3 });
  });

  it("applies ignoreChanges, and finds a resource by its alias", async () => {
    let declare = (): unknown => new Thing("a", 1);
    const stack = new MemoryStack(() => void declare());
    await stack.up();
    declare = () => new Thing("a", 2, { ignoreChanges: ["size"] });
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    declare = () => new Thing("b", 1, { aliases: [{ name: "a" }] });
    assert.deepEqual((await stack.up()).changes, { same: 2 });
  });

  it("deletes what is not in the program any more, dependents first, unless it is retained", async () => {
    let declare = (): unknown => {
      const a = new Thing("a", 1);
      new Thing("kept", 9, { retainOnDelete: true });
      return new Thing(
        "b",
        a.made.apply(() => 2),
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
    assert.deepEqual(secret.sort(), ["declared", "input"]);
    assert.equal(outputs["input"]?.value, 1);
  });

  it("removes in a refresh what no longer exists, and shows what has changed", async () => {
    const stack = new MemoryStack(() => [new Thing("a", 1), new Thing("b", 2)]);
    await stack.up();
    provider.read = async (id, props = {}) => (id === "id-1" ? { id: "" } : { id, props: { ...props, made: 5 } });
    assert.deepEqual((await stack.refresh()).changes, { same: 1, delete: 1, update: 1 });
    assert.deepEqual((await stack.preview()).changes, { same: 2, create: 1 });
  });

  it("collects the errors of a program: thrown, rejected, of an apply, and logged", async () => {
    const program = async () => {
      const a = new Thing("a", 1);
      a.made.apply(() => {
        throw new Error("in apply");
      });
      void Promise.reject(new Error("rejected"));
      void pulumi.log.error("logged");
      await sleep(10);
      throw new pulumi.RunError("thrown");
    };
    const stack = new MemoryStack(program);
    const { errors, ...result } = await failureOf(stack.up());
    assert.deepEqual([...errors].sort(), ["in apply", "logged", "rejected", "thrown"]);
    assert.deepEqual(result.changes, { create: 2 });
    await sleep(50);
  });

  it("ends a run whose program waits for a resource that cannot be registered", async () => {
    const program = () => ({ id: new Thing("a", Promise.reject(new Error("late"))).id });
    const { errors, changes } = await failureOf(new MemoryStack(program).up());
    assert.match(errors.join("\n"), /late/);
    assert.deepEqual(changes, { create: 1 });
  });

  it("gives a program its settings, names, components and the inputs of other providers", async () => {
    const program = () => {
      const config = new pulumi.Config();
      const group = new pulumi.ComponentResource("test:index:Group", "g");
      const child = new Thing("a", 1, { parent: group });
      const other = new Bucket("aws:s3/bucket:Bucket", "logs", { name: "x" });
      return {
        setting: config.require("size"),
        secret: config.requireSecret("token"),
        names: `${pulumi.getProject()}/${pulumi.getStack()}`,
        urn: child.urn,
        bucket: other.name,
        id: other.id,
      };
    };
    const config = { size: "5", "shop:token": { secret: "t" } };
    const stack = new MemoryStack(program, config, { project: "shop", stack: "prod" });
    const { outputs, changes } = await stack.up();
    assert.deepEqual(changes, { create: 4 });
    const values = Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, output?.value]));
    assert.deepEqual(values, {
      setting: "5",
      secret: "t",
      names: "shop/prod",
      urn: "urn:pulumi:prod::shop::test:index:Group$pulumi-nodejs:dynamic/test:Thing::a",
      bucket: "x",
      id: "logs",
    });
    assert.equal(outputs["secret"]?.secret, true);
  });
});
