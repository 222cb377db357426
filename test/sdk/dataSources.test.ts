import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  FlowControlReset,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  getFlowControlKeysOutput,
  getGlobalParallelism,
  getGlobalParallelismOutput,
  PasswordRotation,
} from "pulumi-rekey";
import { type Platform, startPlatform } from "../../local/platform/index";
import { isKnown, startMocks, valueOf } from "../support/pulumiMocks";

const orders = {
  flowControlKey: "orders",
  waitListSize: 4,
  parallelismCount: 0,
  rateCount: 3,
  rateMax: 3,
  ratePeriod: 60,
};
const idle = { flowControlKey: "idle", waitListSize: 0, parallelismCount: 0, rateCount: 0, exists: true };

describe("sdk: data sources", () => {
  let platform: Platform;
  const others: Platform[] = [];
  const configure = ({ url, queueToken }: Pick<Platform, "url" | "queueToken">): void =>
    pulumi.runtime.setAllConfig({ "rekey:queueUrl": url, "rekey:queueToken": queueToken });
  const start = async (): Promise<Platform> => {
    const started = await startPlatform({ flowControlKeys: [orders, { flowControlKey: "idle" }] });
    others.push(started);
    return started;
  };
  beforeEach(async () => {
    await startMocks();
    configure((platform = await start()));
  });
  afterEach(async () => {
    pulumi.runtime.setAllConfig({});
    await Promise.all(others.splice(0).map((one) => one.close()));
  });

  it("read one key, all keys, those that match, and the global parallelism", async () => {
    assert.deepEqual(await getFlowControlKey({ flowControlKey: "orders" }), { ...orders, exists: true });
    const gone = { ...idle, flowControlKey: "gone", exists: false };
    assert.deepEqual(await getFlowControlKey({ flowControlKey: "gone" }), gone);
    assert.deepEqual(await getFlowControlKeys(), [{ ...orders, exists: true }, idle]);
    assert.deepEqual(await getFlowControlKeys({ search: "dl" }), [idle]);
    assert.deepEqual(await getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 0 });
    assert.ok(platform.requests.every(({ authorized }) => authorized));
  });

  it("read the same as outputs, from values that come later", async () => {
    const flowControlKey = pulumi.output(Promise.resolve("orders"));
    assert.deepEqual(await valueOf(getFlowControlKeyOutput({ flowControlKey })), { ...orders, exists: true });
    assert.deepEqual(await valueOf(getFlowControlKeysOutput()), [{ ...orders, exists: true }, idle]);
    assert.deepEqual(await valueOf(getFlowControlKeysOutput({ search: Promise.resolve("idle") })), [idle]);
    assert.deepEqual(await valueOf(getGlobalParallelismOutput()), { parallelismMax: 100, parallelismCount: 0 });
    const secret = getFlowControlKeyOutput({ flowControlKey: pulumi.secret("orders") });
    assert.equal(await pulumi.isSecret(secret), true);
  });

  it("share one list where a program reads many keys at once, as outputs or not", async () => {
    const flowControlKeys = Array.from({ length: 1000 }, (_, index) => `key-${index}`);
    const many = await startPlatform({ flowControlKeys });
    others.push(many);
    configure(many);
    const outputs = flowControlKeys.map((flowControlKey) =>
      getFlowControlKeyOutput({ flowControlKey: Promise.resolve(flowControlKey) }),
    );
    const read = await Promise.all([
      ...flowControlKeys.map((flowControlKey) => getFlowControlKey({ flowControlKey })),
      ...outputs.map(valueOf),
    ]);
    assert.deepEqual(
      read.map(({ flowControlKey, exists }) => exists && flowControlKey),
      [...flowControlKeys, ...flowControlKeys],
    );
    assert.ok(many.requests.length <= 2, `${many.requests.length} requests`);
  });

  it("fail, naming what is missing, where the program has no settings", async () => {
    await startMocks();
    pulumi.runtime.setAllConfig({});
    await assert.rejects(getFlowControlKeys(), /rekey:queueUrl is not set.*REKEY_QUEUE_URL/);
  });

  it("take settings from the program's environment where its configuration has none", async () => {
    await startMocks();
    pulumi.runtime.setAllConfig({ "rekey:queueToken": platform.queueToken });
    process.env["REKEY_QUEUE_URL"] = platform.url;
    try {
      assert.equal((await getFlowControlKeys()).length, 2);
    } finally {
      delete process.env["REKEY_QUEUE_URL"];
    }
  });

  it("fail with what the platform says, and without the token", async () => {
    await startMocks();
    configure({ url: platform.url, queueToken: "canary-token" });
    await assert.rejects(getFlowControlKeys(), (error: Error) => {
      assert.match(error.message, /answered 401.*Check rekey:queueToken/);
      assert.ok(!pulumi.log.hasErrors() && !error.stack?.includes("canary"));
      return true;
    });
  });

  it("of another run in this process use that run's settings", async () => {
    await getFlowControlKeys();
    const other = await start();
    await startMocks({ stack: "other" });
    configure(other);
    await getFlowControlKeys();
    assert.deepEqual([platform.requests.length, other.requests.length], [1, 1]);
  });

  describe("that depend on something", () => {
    const slowly = (wait: Promise<unknown>) => ({
      outputs: async (type: string): Promise<object> => {
        if (type.endsWith("FlowControlReset")) await wait;
        return { resetAt: "2026-11-21T12:00:00.000Z", resetCount: 1 };
      },
    });
    class Holder extends pulumi.ComponentResource {
      constructor() {
        super("my:own:Holder", "holder");
        new FlowControlReset("inner", { flowControlKey: "orders" }, { parent: this });
        this.registerOutputs();
      }
    }
    const dependencies: Readonly<
      Record<string, () => pulumi.Input<pulumi.Resource> | pulumi.Input<pulumi.Resource>[]>
    > = {
      "a reset": () => new FlowControlReset("a", { flowControlKey: "orders" }),
      "a list with a reset": () => [new FlowControlReset("a", { flowControlKey: "orders" })],
      "a reset that comes later": () => Promise.resolve(new FlowControlReset("a", { flowControlKey: "orders" })),
      "what is inside a component": () => new Holder(),
    };
    for (const [what, make] of Object.entries(dependencies)) {
      it(`read after ${what}`, async () => {
        let finish = (): void => undefined;
        await startMocks(slowly(new Promise<void>((resolve) => (finish = resolve))));
        configure(platform);
        const read = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: make() });
        await new Promise((resolve) => setTimeout(resolve, 30));
        assert.equal(platform.requests.length, 0);
        finish();
        assert.equal((await valueOf(read)).waitListSize, 4);
      });

      it(`do not read in a preview that resets ${what}`, async () => {
        await startMocks({ preview: true });
        configure(platform);
        const outputs = [
          getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: make() }),
          getFlowControlKeysOutput({}, { dependsOn: make() }),
          getGlobalParallelismOutput({ dependsOn: make() }),
        ];
        assert.deepEqual(await Promise.all(outputs.map(isKnown)), [false, false, false]);
        assert.equal(platform.requests.length, 0);
      });
    }

    it("do not read while an argument is unknown", async () => {
      await startMocks({ preview: true });
      configure(platform);
      const { resetAt } = new FlowControlReset("a", { flowControlKey: "orders" });
      const outputs = [
        getFlowControlKeyOutput({ flowControlKey: resetAt }),
        getFlowControlKeysOutput({ search: pulumi.interpolate`a${resetAt}` }),
      ];
      assert.deepEqual(await Promise.all(outputs.map(isKnown)), [false, false]);
      assert.equal(platform.requests.length, 0);
    });

    it("read in a preview that changes nothing they wait for", async () => {
      await startMocks({ preview: true, outputs: () => ({ resetAt: "2026-11-21T12:00:00.000Z" }) });
      configure(platform);
      const dependsOn = [
        new FlowControlReset("a", { flowControlKey: "orders" }),
        new PasswordRotation("b", { databaseId: "db" }),
      ];
      const read = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn });
      assert.equal((await valueOf(read)).rateCount, 3);
    });
  });
});
