import assert from "node:assert/strict";
import { inspect } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import {
  FlowControlReset,
  getDatabasesOutput,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  getFlowControlKeysOutput,
  getGlobalParallelism,
  getGlobalParallelismOutput,
  InputError,
  PasswordRotation,
  RequestError,
} from "pulumi-rekey";
import { type FlowControlRecord } from "../../local/platform/flowControl";
import { type Platform, startPlatform } from "../../local/platform/index";
import { functions } from "../../provider/engine/functions";
import { isKnown } from "../../provider/engine/pulumiInternals";
import { errorsOf, type MockOptions, startMocks, valueOf } from "./pulumiMocks";

const ratePeriodStart = 1_764_000_000;
const limits = { parallelismCount: 0, rateCount: 3, rateMax: 3, ratePeriod: 60, ratePeriodStart };
const flags = { isPaused: false, isPinnedParallelism: false, isPinnedRate: false };
const orders = { flowControlKey: "orders", waitListSize: 4, ...limits, ...flags };
const unknown = { waitListSize: 0, parallelismCount: 0, rateCount: 0, exists: false };
const idleKey = { flowControlKey: "idle", ratePeriod: 1, ratePeriodStart };
const idle = { ...idleKey, ...unknown, ...flags, exists: true };
const ordersKey = { flowControlKey: "orders" };
const resetOf = () => new FlowControlReset("a", { ...ordersKey, initialReset: false });

describe("sdk: data sources", () => {
  let platform: Platform;
  const started: Platform[] = [];
  const configure = ({ url, queueToken }: Pick<Platform, "url" | "queueToken">): void =>
    pulumi.runtime.setAllConfig({ "rekey:queueUrl": url, "rekey:queueToken": queueToken }, ["rekey:queueToken"]);
  const start = async (
    flowControlKeys: readonly (string | FlowControlRecord)[] = [orders, idleKey],
  ): Promise<Platform> => {
    const one = await startPlatform({ flowControlKeys });
    started.push(one);
    return one;
  };
  /** A program with the platform's settings. */
  const startProgram = async (options?: MockOptions): Promise<void> => {
    await startMocks(options);
    configure(platform);
  };
  beforeEach(async () => {
    platform = await start();
    await startProgram();
  });
  afterEach(async () => {
    pulumi.runtime.setAllConfig({});
    await Promise.all(started.splice(0).map((one) => one.close()));
  });

  it("read one key, all keys, those that match, and the global parallelism, also as outputs of later values", async () => {
    const later = <T>(value: T) => pulumi.output(Promise.resolve(value));
    const key = { ...orders, exists: true };
    const parallelism = { parallelismMax: 100, parallelismCount: 0 };
    for (const [read, output, expected] of [
      [getFlowControlKey(ordersKey), getFlowControlKeyOutput({ flowControlKey: later("orders") }), key],
      [getFlowControlKeys(), getFlowControlKeysOutput(), { keys: [key, idle] }],
      [getFlowControlKeys({ search: "dl" }), getFlowControlKeysOutput({ search: later("dl") }), { keys: [idle] }],
      [getGlobalParallelism(), getGlobalParallelismOutput(), parallelism],
    ] as readonly [Promise<object>, pulumi.Output<object>, object][]) {
      assert.deepEqual([await read, await valueOf(output)], [expected, expected]);
    }
    const gone = { flowControlKey: "gone" };
    assert.deepEqual(await getFlowControlKey(gone), { ...gone, ...unknown });
    assert.equal(await pulumi.isSecret(getFlowControlKeyOutput({ flowControlKey: pulumi.secret("orders") })), true);
  });

  it("ask `call` under setMocks, with the tokens of the plugin's functions, and send nothing", async () => {
    const databases = [{ databaseId: "mocked" }];
    const asked: pulumi.runtime.MockCallArgs[] = [];
    const call = (args: pulumi.runtime.MockCallArgs) => {
      asked.push(args);
      return { flowControlKey: "mocked", keys: [], databases, parallelismCount: 7 };
    };
    await pulumi.runtime.setMocks({ call, newResource: ({ inputs }) => ({ id: "id", state: inputs as object }) });
    // As on a developer's machine: the settings of a real platform.
    configure(platform);
    assert.equal((await getFlowControlKey(ordersKey)).flowControlKey, "mocked");
    assert.deepEqual(await valueOf(getFlowControlKeysOutput({ search: pulumi.output("o") }).keys), []);
    assert.equal((await getGlobalParallelism()).parallelismCount, 7);
    assert.deepEqual(await valueOf(getDatabasesOutput({ dependsOn: resetOf() }).databases), databases);
    assert.deepEqual(
      asked.map(({ token, inputs }) => [token, inputs as unknown]),
      [
        ["rekey:index:getFlowControlKey", ordersKey],
        ["rekey:index:getFlowControlKeys", { search: "o" }],
        ["rekey:index:getGlobalParallelism", {}],
        ["rekey:index:getDatabases", {}],
      ],
    );
    for (const { token } of asked) assert.ok(token.replace("rekey:index:", "") in functions, token);
    assert.equal(platform.requests.length, 0);
  });

  it("end the program without a stack trace for a refused token, unless it catches the error", async () => {
    configure({ url: platform.url, queueToken: "canary-token" });
    await assert.rejects(getFlowControlKeys(), (error) => {
      assert.ok(pulumi.RunError.isInstance(error) && error instanceof RequestError);
      assert.deepEqual({ code: error.code, stack: error.stack }, { code: "REKEY_REJECTED", stack: "" });
      assert.ok(!pulumi.log.hasErrors() && !inspect(error).includes("canary"));
      return true;
    });
  });

  it("end the program once for an argument that does not exist or cannot be used, and name the data source", async () => {
    const wrong = { search: pulumi.output(Promise.resolve(["a"])) } as object;
    for (const make of [
      () => void getFlowControlKeys({ serch: "a" } as object),
      () => getFlowControlKeysOutput(wrong),
    ]) {
      const [error = "", ...others] = await errorsOf(make);
      assert.deepEqual(others, []);
      assert.match(
        error,
        /^InputError: getFlowControlKeys: (serch is not an argument \(did you mean search\?\)|search must be a string, not a list)/,
      );
      assert.match(error, /Fix this, then run again\. A reset that was already sent is saved.*REKEY_INPUT_INVALID\]$/);
    }
    assert.equal(platform.requests.length, 0);
  });

  it("end the program without a stack trace also for arguments that only JavaScript can pass", async () => {
    const circular: Record<string, unknown> = {};
    circular["flowControlKey"] = circular;
    const given = [undefined, null, "orders", circular, { flowControlKey: 5n }, { flowControlKey: () => "orders" }];
    for (const args of given) {
      await assert.rejects(getFlowControlKey(args as never), (error) => {
        assert.ok(pulumi.RunError.isInstance(error) && error instanceof InputError, String(error));
        assert.match(error.message, /^getFlowControlKey: .* must be an? \w+, not /);
        return true;
      });
    }
    assert.equal(platform.requests.length, 0);
  });

  it("of another run in this process use that run's settings", async () => {
    await getFlowControlKeys();
    const other = await start();
    await startMocks({ stack: "other" });
    configure(other);
    await getFlowControlKeys();
    assert.deepEqual({ one: platform.requests.length, other: other.requests.length }, { one: 1, other: 1 });
  });

  describe("with dependencies", () => {
    const slowly = (wait: Promise<unknown>) => ({
      outputs: async (type: string): Promise<object> => {
        if (type.endsWith("FlowControlReset")) await wait;
        return { resetCount: 1 };
      },
    });
    class Holder extends pulumi.ComponentResource<void> {
      constructor() {
        super("my:own:Holder", "holder");
      }
      protected override async initialize(): Promise<void> {
        await new Promise((resolve) => setImmediate(resolve));
        new FlowControlReset("inner", ordersKey, { parent: this });
      }
    }
    type Dependency = pulumi.Input<pulumi.Resource>;
    const dependencies: Readonly<Record<string, () => Dependency | Dependency[]>> = {
      "a reset": resetOf,
      "a list with a reset that comes later": () => [resetOf(), Promise.resolve(resetOf())] as Dependency[],
      "a reset that a component makes later": () => new Holder(),
    };
    for (const [what, make] of Object.entries(dependencies)) {
      it(`read after ${what}`, async () => {
        let finish = (): void => undefined;
        await startProgram(slowly(new Promise<void>((resolve) => (finish = resolve))));
        const read = getFlowControlKeyOutput(ordersKey, { dependsOn: make() });
        await new Promise((resolve) => setTimeout(resolve, 30));
        assert.equal(platform.requests.length, 0);
        finish();
        assert.equal((await valueOf(read)).waitListSize, 4);
      });

      it(`do not read in a preview of ${what}`, async () => {
        await startProgram({ preview: true });
        const outputs = [
          getFlowControlKeyOutput(ordersKey, { dependsOn: make() }),
          getFlowControlKeysOutput({ search: pulumi.interpolate`a${resetOf().resetAt}` }),
          getGlobalParallelismOutput({ dependsOn: make() }),
        ];
        assert.deepEqual(await Promise.all(outputs.map(isKnown)), [false, false, false]);
        assert.equal(platform.requests.length, 0);
      });
    }

    it("read in a preview that does not change the dependencies", async () => {
      await startProgram({ preview: true, outputs: () => ({ resetCount: 0 }) });
      const dependsOn = [resetOf(), new PasswordRotation("b", { databaseId: "db" })];
      const read = getFlowControlKeyOutput(ordersKey, { dependsOn });
      assert.equal((await valueOf(read)).rateCount, 3);
    });
  });
});
