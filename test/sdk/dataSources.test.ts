import assert from "node:assert/strict";
import { inspect } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import {
  FlowControlReset,
  getDatabases,
  getDatabasesOutput,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  getFlowControlKeysOutput,
  getGlobalParallelism,
  getGlobalParallelismOutput,
  PasswordRotation,
  RequestError,
  RekeyError,
  SettingsError,
} from "pulumi-rekey";
import { type FlowControlRecord } from "../../local/platform/flowControl";
import { type Platform, startPlatform } from "../../local/platform/index";
import { packageSchema } from "../../provider/engine/plugin/schema";
import { assertFields } from "../support/results";
import { isKnown, type MockOptions, startMocks, valueOf } from "../support/pulumiMocks";

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

  it("read one key, all keys, those that match, and the global parallelism", async () => {
    assert.deepEqual(await getFlowControlKey(ordersKey), { ...orders, exists: true });
    assert.deepEqual(await getFlowControlKey({ flowControlKey: "gone" }), { flowControlKey: "gone", ...unknown });
    assert.deepEqual(await getFlowControlKeys(), { keys: [{ ...orders, exists: true }, idle] });
    assert.deepEqual(await getFlowControlKeys({ search: "dl" }), { keys: [idle] });
    assert.deepEqual(await getGlobalParallelism(), { parallelismMax: 100, parallelismCount: 0 });
    assert.ok(platform.requests.every(({ authorized }) => authorized));
  });

  it("list the databases without credentials, also as an output, and need no settings of the queue", async () => {
    const databases = [{ database_id: "db-1", database_name: "sessions", state: "suspended" }, "db-2"];
    started.push((platform = await startPlatform({ databases, credentials: "always" })));
    pulumi.runtime.setAllConfig({
      "rekey:baseUrl": platform.url,
      "rekey:username": platform.username,
      "rekey:password": platform.password,
      "rekey:databaseListPath": "/v2/redis/databases",
    });
    for (const { databases } of [await getDatabases(), await valueOf(getDatabasesOutput())]) {
      const [one, two] = databases;
      assertFields(one, { databaseId: "db-1", databaseName: "sessions", state: "suspended", region: "global" });
      assert.equal(two?.databaseId, "db-2");
      const names = ["creationTime", "databaseId", "databaseName", "primaryRegion", "readRegions", "region", "state"];
      assert.deepEqual(Object.keys(two).sort(), names);
    }
    assert.deepEqual(
      platform.requests.map(({ method, path }) => `${method} ${path}`),
      ["GET /v2/redis/databases", "GET /v2/redis/databases"],
    );
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
    for (const { token } of asked) assert.ok(token in packageSchema().functions, token);
    assert.equal(platform.requests.length, 0);
  });

  it("read the same as outputs, from later values", async () => {
    const flowControlKey = pulumi.output(Promise.resolve("orders"));
    assert.deepEqual(await valueOf(getFlowControlKeyOutput({ flowControlKey })), { ...orders, exists: true });
    assert.deepEqual(await valueOf(getFlowControlKeysOutput().keys), [{ ...orders, exists: true }, idle]);
    assert.deepEqual(await valueOf(getFlowControlKeysOutput({ search: Promise.resolve("idle") }).keys), [idle]);
    assert.deepEqual(await valueOf(getGlobalParallelismOutput()), { parallelismMax: 100, parallelismCount: 0 });
    const secret = getFlowControlKeyOutput({ flowControlKey: pulumi.secret("orders") });
    assert.equal(await pulumi.isSecret(secret), true);
  });

  const failures = [
    { what: "a wrong setting", settings: { url: "a", queueToken: "t" }, as: SettingsError, code: "SETTING_INVALID" },
    { what: "a refused token", settings: { queueToken: "canary-token" }, as: RequestError, code: "REJECTED" },
  ];
  for (const { what, settings, as, code } of failures) {
    it(`end the program without a stack trace for ${what}, unless it catches the ${as.name}`, async () => {
      configure({ url: platform.url, ...settings });
      await assert.rejects(getFlowControlKeys(), (error) => {
        assert.ok(pulumi.RunError.isInstance(error) && error instanceof RekeyError && error instanceof as);
        assert.deepEqual({ code: error.code, stack: error.stack }, { code: `REKEY_${code}`, stack: "" });
        assert.ok(!pulumi.log.hasErrors() && !inspect(error).includes("canary"));
        return true;
      });
    });
  }

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
          getFlowControlKeysOutput({}, { dependsOn: make() }),
          getGlobalParallelismOutput({ dependsOn: make() }),
        ];
        assert.deepEqual(await Promise.all(outputs.map(isKnown)), [false, false, false]);
        assert.equal(platform.requests.length, 0);
      });
    }

    it("do not read while an argument is unknown", async () => {
      await startProgram({ preview: true });
      const unknown = pulumi.interpolate`a${resetOf().resetAt}`;
      const outputs = [
        getFlowControlKeyOutput({ flowControlKey: unknown }),
        getFlowControlKeysOutput({ search: unknown }),
      ];
      assert.deepEqual(await Promise.all(outputs.map(isKnown)), [false, false]);
      assert.equal(platform.requests.length, 0);
    });

    it("read in a preview that does not change the dependencies", async () => {
      await startProgram({ preview: true, outputs: () => ({ resetCount: 0 }) });
      const dependsOn = [resetOf(), new PasswordRotation("b", { databaseId: "db" })];
      const read = getFlowControlKeyOutput(ordersKey, { dependsOn });
      assert.equal((await valueOf(read)).rateCount, 3);
    });
  });
});
