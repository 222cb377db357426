import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type ServiceError, status } from "@grpc/grpc-js";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { packageVersion } from "../../../../provider/platform/installedPackage";
import { EngineListener } from "../../../support/engineListener";
import { projectRoot } from "../../../support/host";
import { argsFor, startPlugin } from "../../../support/plugin";
import { ProviderClient } from "../../../support/providerClient";
import { defaultProvider, Empty, type Properties, toStruct, urnOf } from "../../../support/wire";

const id = "db-quickstart";
const urn = urnOf("PasswordRotation");

describe("plugin over gRPC", () => {
  let platform: Platform;
  let started: Awaited<ReturnType<typeof startPlugin>>;
  before(async () => (platform = await startPlatform({ databases: [id] })));
  beforeEach(async () => {
    await platform.reset();
    started = await startPlugin();
    await started.plugin.configure(defaultProvider, argsFor(platform));
  });
  afterEach(() => started.stop());
  after(() => platform.close());

  const creation = (inputs: Properties) => new messages.CreateRequest().setUrn(urn).setProperties(toStruct(inputs));
  const failureOf = (call: Promise<unknown>) =>
    call.then(
      () => assert.fail("succeeded"),
      (error: unknown) => error as ServiceError,
    );

  it("returns its schema", async () => {
    const schema = await started.plugin.call(calls.getSchema, new messages.GetSchemaRequest());
    const { name, version } = JSON.parse(schema.getSchema()) as Properties;
    assert.deepEqual({ name, version }, { name: "rekey", version: packageVersion() });
  });

  it("refuses settings and inputs without naming a property, whose value the engine would print", async () => {
    for (const [call, of, news, expected] of [
      [calls.check, urn, { databaseId: 7 }, /^databaseId must be a string/],
      [calls.checkConfig, defaultProvider, { nonsense: "x" }, /^nonsense is not a setting/],
    ] as const) {
      const request = new messages.CheckRequest().setUrn(of).setNews(toStruct(news));
      const response = await started.plugin.call<messages.CheckRequest, messages.CheckResponse>(call, request);
      const [[property, reason = ""] = [], ...more] = response
        .getFailuresList()
        .map((one) => [one.getProperty(), one.getReason()]);
      assert.deepEqual({ property, more }, { property: "", more: [] });
      assert.match(reason, expected);
    }
  });

  it("shows lines under their resource before it responds, and names what replaces one", async () => {
    const { engine, plugin } = started;
    const created = await plugin.call(calls.create, creation({ databaseId: id }));
    const [announced] = engine.said;
    assert.deepEqual([announced?.urn, announced?.severity], [urn, LogSeverity.INFO]);
    assert.match(announced?.line ?? "", /will be reset, because the resource is new/);
    const diff = new messages.DiffRequest().setUrn(urn).setId(id).setOlds(created.getProperties());
    const replaced = await plugin.call(calls.diff, diff.setNews(toStruct({ databaseId: "db-second" })));
    assert.equal(replaced.getChanges(), messages.DiffResponse.DiffChanges.DIFF_SOME);
    assert.deepEqual(replaced.getReplacesList(), ["databaseId"]);
  });

  it("passes on the time that the program allows", async () => {
    platform.failNext({ delayMs: 60_000 });
    const creating = started.plugin.call(calls.create, creation({ databaseId: id }).setTimeout(1));
    assert.match((await failureOf(creating)).details, /within the deadline.*REKEY_UNCONFIRMED/s);
  });

  it("responds to unknown calls with unimplemented", async () => {
    const construct = started.plugin.call(calls.construct, new messages.ConstructRequest());
    assert.equal((await failureOf(construct)).code, status.UNIMPLEMENTED);
  });
});

describe("pulumi-resource-rekey", () => {
  const entry = join(projectRoot, "dist", "provider", "engine", "plugin", "main.js");
  const start = (...args: string[]) => spawn(process.execPath, [entry, ...args], { stdio: ["ignore", "pipe", "pipe"] });

  it("prints its port, and serves until it is interrupted", async () => {
    const engine = await EngineListener.start();
    const child = start("--logtostderr", "-v=9", "--tracing", "file:x", engine.address);
    const ended = once(child, "exit");
    const plugin = await ProviderClient.of(child);
    assert.equal((await plugin.call(calls.getPluginInfo, new Empty())).getVersion(), packageVersion());
    plugin.close();
    child.kill("SIGINT");
    assert.deepEqual(await ended, [null, "SIGINT"]);
    await engine.close();
  });

  it("explains itself to a person who starts it", async () => {
    const child = start();
    const [said] = (await once(child.stderr, "data")) as [Buffer];
    assert.match(said.toString(), /the pulumi CLI starts it/);
    assert.deepEqual(await once(child, "exit"), [1, null]);
  });
});
