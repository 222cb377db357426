import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type ServiceError, status } from "@grpc/grpc-js";
import { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "../../../local/engine/proto";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { servePlugin } from "../../../provider/plugin/wire";
import { packageVersion } from "../../../provider/version";
import { projectRoot } from "../../support/host";
import { argsFor, defaultProvider, urnOf } from "../../support/pluginService";
import { FakeEngine, PluginClient } from "../../support/pluginWire";
import { until } from "../../support/results";
import {
  fromStruct,
  type Properties,
  reference,
  revealed,
  secret,
  secretNames,
  toStruct,
  unknown,
} from "../../support/wire";

const id = "db-quickstart";
const urn = urnOf("PasswordRotation");
const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;

describe("plugin over gRPC", () => {
  let platform: Platform;
  let engine: FakeEngine;
  let plugin: PluginClient;
  let service: Awaited<ReturnType<typeof servePlugin>>;
  before(async () => {
    const databases = [{ database_id: id }, { database_id: "db-second" }];
    platform = await startPlatform({ databases, credentialsInResponse: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    engine = await FakeEngine.start();
    service = await servePlugin(engine.address);
    plugin = new PluginClient(service.port);
    engine.plugin = plugin;
    await plugin.configure(defaultProvider, argsFor(platform));
  });
  afterEach(() => {
    plugin.close();
    service.close();
    engine.stop();
  });
  after(() => platform.close());

  const creation = (inputs: Properties) => new messages.CreateRequest().setUrn(urn).setProperties(toStruct(inputs));
  const create = (inputs: Properties) => plugin.call(calls.create, creation(inputs));
  const diff = (olds: Properties, news: Properties) =>
    plugin.call(
      calls.diff,
      new messages.DiffRequest().setUrn(urn).setId(id).setOlds(toStruct(olds)).setNews(toStruct(news)),
    );
  const failureOf = (call: Promise<unknown>) =>
    call.then(
      () => assert.fail("succeeded"),
      (error: unknown) => error as ServiceError,
    );

  it("accepts secrets, and returns its version and schema", async () => {
    const handshake = await plugin.call(calls.handshake, new messages.ProviderHandshakeRequest());
    const accepts = [handshake.getAcceptSecrets(), handshake.getAcceptResources(), handshake.getAcceptOutputs()];
    assert.deepEqual(accepts, [true, true, false]);
    assert.equal((await plugin.call(calls.getPluginInfo, new Empty())).getVersion(), packageVersion());
    const schema = await plugin.call(calls.getSchema, new messages.GetSchemaRequest());
    const { name, version } = JSON.parse(schema.getSchema()) as Properties;
    assert.deepEqual([name, version], ["rekey", packageVersion()]);
    const configured = await plugin.configure(defaultProvider, {});
    assert.deepEqual([configured.getAcceptsecrets(), configured.getSupportspreview()], [true, true]);
  });

  it("checks and compares settings, and never replaces the provider", async () => {
    const news = toStruct({ password: "p", nonsense: "x" });
    const checked = await plugin.call(
      calls.checkConfig,
      new messages.CheckRequest().setUrn(defaultProvider).setNews(news),
    );
    assert.deepEqual(fromStruct(checked.getInputs()).password, secret("p"));
    assert.match(
      checked
        .getFailuresList()
        .map((one) => one.getReason())
        .join(),
      /^nonsense is not a setting/,
    );
    const request = new messages.DiffRequest().setUrn(defaultProvider).setOlds(toStruct({ username: "a" }));
    const changed = await plugin.call(calls.diffConfig, request.setNews(toStruct({ username: "b" })));
    assert.deepEqual(
      [changed.getChanges(), changed.getDiffsList(), changed.getReplacesList()],
      [DIFF_SOME, ["username"], []],
    );
    assert.equal((await plugin.call(calls.diffConfig, request.setNews(request.getOlds()))).getChanges(), DIFF_NONE);
  });

  it("carries secrets and unknown values in both directions", async () => {
    const news = { databaseId: id, version: secret(unknown), triggers: { a: unknown, b: true } };
    const checked = await plugin.call(calls.check, new messages.CheckRequest().setUrn(urn).setNews(toStruct(news)));
    assert.deepEqual(fromStruct(checked.getInputs()), news);
    assert.deepEqual(checked.getFailuresList(), []);
    const planned = fromStruct((await plugin.call(calls.create, creation(news).setPreview(true))).getProperties());
    assert.deepEqual([planned.password, planned.outcome], [secret(unknown), unknown]);
    assert.equal(platform.requests.length, 0);
  });

  it("refuses inputs without naming a property, whose value the engine would print", async () => {
    const news = toStruct({ databaseId: 7 });
    const checked = await plugin.call(calls.check, new messages.CheckRequest().setUrn(urn).setNews(news));
    const [failure] = checked.getFailuresList();
    assert.equal(failure?.getProperty(), "");
    assert.match(failure?.getReason() ?? "", /^databaseId must be a string/);
  });

  it("creates, compares, updates, reads and deletes", async () => {
    const created = await create({ databaseId: id, version: 1 });
    assert.equal(created.getId(), id);
    const outputs = fromStruct(created.getProperties());
    assert.equal((await diff(outputs, { databaseId: id, version: 1 })).getChanges(), DIFF_NONE);
    const replaced = await diff(outputs, { databaseId: "db-second" });
    assert.deepEqual([replaced.getChanges(), replaced.getReplacesList()], [DIFF_SOME, ["databaseId"]]);
    const news = toStruct({ databaseId: id, version: 2 });
    const update = new messages.UpdateRequest().setUrn(urn).setId(id).setOlds(toStruct(outputs)).setNews(news);
    const planned = await plugin.call(calls.update, update.clone().setPreview(true));
    assert.deepEqual(fromStruct(planned.getProperties()).password, secret(unknown));
    const updated = fromStruct((await plugin.call(calls.update, update)).getProperties());
    assert.equal(revealed(updated).password, platform.database(id).password);
    const reading = new messages.ReadRequest().setUrn(urn).setId(id);
    const read = await plugin.call(calls.read, reading.setProperties(toStruct(updated)).setInputs(news));
    assert.deepEqual([read.getId(), fromStruct(read.getProperties())], [id, updated]);
    assert.deepEqual(fromStruct(read.getInputs()), fromStruct(news));
    const imported = await plugin.call(calls.read, new messages.ReadRequest().setUrn(urn).setId("db-second"));
    assert.deepEqual(fromStruct(imported.getInputs()), { databaseId: "db-second", initialRotation: false });
    await plugin.call(
      calls.delete,
      new messages.DeleteRequest().setUrn(urn).setId(id).setProperties(toStruct(updated)),
    );
    assert.equal(platform.resetCount, 2);
  });

  it("fails with the message, and saves an unconfirmed reset by a trailer", async () => {
    platform.failNext({ status: 403 });
    const rejected = await failureOf(create({ databaseId: id }));
    assert.equal(rejected.code, status.UNKNOWN);
    assert.match(rejected.details, /Check rekey:username.*REKEY_REJECTED/);
    assert.deepEqual(rejected.metadata.get("grpc-status-details-bin"), []);

    platform.failNext({ dropConnection: "after-apply" });
    const error = await failureOf(create({ databaseId: id }));
    const [trailer] = error.metadata.get("grpc-status-details-bin");
    const [any] = Status.deserializeBinary(Buffer.from(trailer as Buffer)).getDetailsList();
    assert.equal(any?.getTypeName(), "pulumirpc.ErrorResourceInitFailed");
    const failed = messages.ErrorResourceInitFailed.deserializeBinary(any?.getValue_asU8() ?? new Uint8Array());
    assert.equal(failed.getId(), id);
    assert.deepEqual(failed.getReasonsList(), [error.details]);
    const outputs = fromStruct(failed.getProperties());
    assert.equal(outputs.outcome, "unknown");
    assert.deepEqual(secretNames(outputs), ["attemptedTrigger"]);
  });

  it("passes on the time that the program allows", async () => {
    platform.failNext({ delayMs: 60_000 });
    const { details } = await failureOf(plugin.call(calls.create, creation({ databaseId: id }).setTimeout(0.2)));
    assert.match(details, /within the deadline/);
  });

  it("shows lines for the user under their resource", async () => {
    const outputs = fromStruct((await create({ databaseId: id })).getProperties());
    await diff({ ...outputs, rotatedAt: "2020-01-01T00:00:00.000Z" }, { databaseId: id, rotateEvery: "30d" });
    await until(() => engine.said.length > 0);
    assert.equal(engine.said[0]?.urn, urn);
    assert.match(engine.said[0]?.line ?? "", /is due for a reset/);
  });

  it("sends nothing once the engine is gone", async () => {
    engine.stop();
    const { details } = await failureOf(create({ databaseId: id }));
    assert.match(details, /the engine that requested it has ended.*REKEY_ENGINE_GONE/);
    assert.equal(platform.resetCount, 0);
  });

  it("sends no reset after a cancel", async () => {
    await plugin.call(calls.cancel, new Empty());
    assert.match((await failureOf(create({ databaseId: id }))).details, /the run was cancelled/);
    assert.equal(platform.resetCount, 0);
  });

  it("calls functions", async () => {
    const request = new messages.InvokeRequest().setTok("rekey:index:getFlowControlKey");
    const response = await plugin.call(calls.invoke, request.setArgs(toStruct({ flowControlKey: "orders" })));
    assert.equal(fromStruct(response.getReturn()).exists, true);
  });

  it("constructs a fleet, whose shards have its provider and its options", async () => {
    const databases = { first: { databaseId: id }, second: { databaseId: "db-second", version: secret(1) } };
    const request = new messages.ConstructRequest()
      .setType("rekey:index:PasswordRotationFleet")
      .setName("fleet")
      .setParent("urn:parent")
      .setProtect(true)
      .setRetainondelete(true)
      .setDependenciesList(["urn:before"])
      .setMonitorendpoint(engine.address)
      .setInputs(toStruct({ databases }))
      .setCustomtimeouts(new messages.ConstructRequest.CustomTimeouts().setCreate("30s").setUpdate("20s"));
    const response = await plugin.call(calls.construct, request);
    assert.equal(response.getUrn(), urnOf("PasswordRotationFleet", "fleet"));
    const state = fromStruct(response.getState());
    assert.deepEqual(secretNames(state), ["connectionUrls", "credentials"]);
    assert.deepEqual(engine.registeredOutputs, [state]);
    const [component, ...shards] = engine.registered;
    assert.deepEqual(
      [component?.getParent(), component?.getProtect(), component?.getCustom()],
      ["urn:parent", true, false],
    );
    assert.equal(shards.length, 2);
    for (const shard of shards) {
      assert.equal(shard.getProvider(), `${defaultProvider}::provider-id`);
      assert.equal(shard.getParent(), response.getUrn());
      assert.deepEqual([shard.getRetainondelete(), shard.getProtect()], [true, true]);
      assert.deepEqual(shard.getDependenciesList(), ["urn:before"]);
      assert.deepEqual(
        [shard.getCustomtimeouts()?.getCreate(), shard.getCustomtimeouts()?.getUpdate()],
        ["30s", "20s"],
      );
      const former = shard.getAliasesList().map((alias) => alias.getSpec()?.getType());
      assert.deepEqual(former, ["pulumi-nodejs:dynamic/rekey:PasswordRotationShard"]);
    }
    const dependencies = response.getStatedependenciesMap().get("credentials");
    assert.equal(dependencies?.getUrnsList().length, 2);
    assert.equal(platform.resetCount, 2);
  });

  it("constructs a verification, which reads the outputs of its rotation from the engine", async () => {
    engine.states.set(urn, fromStruct((await create({ databaseId: id })).getProperties()));
    const construct = (parent: string, rotation: string) => {
      const request = new messages.ConstructRequest()
        .setType("rekey:index:PasswordVerification")
        .setName("proof")
        .setParent(parent)
        .setMonitorendpoint(engine.address)
        .setInputs(toStruct({ rotation: reference(rotation) }));
      return plugin.call(calls.construct, request);
    };
    for (const parent of ["", "urn:parent"]) {
      const response = await construct(parent, urn);
      assert.equal(fromStruct(response.getState()).verified, true);
      const alias = engine.registered.at(-1)?.getAliasesList()[0]?.getSpec();
      assert.deepEqual([alias?.getNoparent(), alias?.getParenturn()], [parent === "", parent]);
    }
    await assert.rejects(construct("", "urn:unknown"), /unknown resource urn:unknown/);
  });

  it("responds to unknown calls with unimplemented", async () => {
    assert.equal((await failureOf(plugin.call(calls.attach, new PluginAttach()))).code, status.UNIMPLEMENTED);
  });
});

describe("pulumi-resource-rekey", () => {
  const entry = join(projectRoot, "dist", "provider", "plugin", "main.js");
  const start = (...args: string[]) => spawn(process.execPath, [entry, ...args], { stdio: ["ignore", "pipe", "pipe"] });

  it("prints its port, and serves until it is interrupted", async () => {
    const engine = await FakeEngine.start();
    const child = start("--logtostderr", "-v=9", "--tracing", "file:x", engine.address);
    const ended = once(child, "exit");
    const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const plugin = new PluginClient(Number(port));
    assert.equal((await plugin.call(calls.getPluginInfo, new Empty())).getVersion(), packageVersion());
    plugin.close();
    child.kill("SIGINT");
    assert.deepEqual(await ended, [null, "SIGINT"]);
    engine.stop();
  });

  it("explains itself to a person who starts it", async () => {
    const child = start();
    const [said] = (await once(child.stderr, "data")) as [Buffer];
    assert.match(said.toString(), /the pulumi CLI starts it/);
    assert.deepEqual(await once(child, "exit"), [1, null]);
  });
});
