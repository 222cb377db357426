import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type ServiceError, status } from "@grpc/grpc-js";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "../../../support/proto";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { projectRoot } from "../../../support/host";
import { argsFor } from "../../../support/plugin";
import { FakeEngine, startPlugin } from "../../../support/pluginWire";
import { ProviderClient } from "../../../support/providerClient";
import { assertFields, until } from "../../../support/results";
import {
  defaultProvider,
  fromStruct,
  type Properties,
  reference,
  secret,
  toStruct,
  unknown,
  urnOf,
} from "../../../support/wire";
import { packageVersion } from "../../../../provider/platform/version";

const id = "db-quickstart";
const urn = urnOf("PasswordRotation");
const { DIFF_SOME } = messages.DiffResponse.DiffChanges;

describe("plugin over gRPC", () => {
  let platform: Platform;
  let engine: FakeEngine;
  let plugin: ProviderClient;
  let stop: () => void;
  before(async () => {
    const databases = [{ database_id: id }, { database_id: "db-second" }];
    platform = await startPlatform({ databases, credentials: "always" });
  });
  beforeEach(async () => {
    await platform.reset();
    ({ engine, plugin, stop } = await startPlugin());
    await plugin.configure(defaultProvider, argsFor(platform));
  });
  afterEach(() => stop());
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

  it("returns its schema", async () => {
    const schema = await plugin.call(calls.getSchema, new messages.GetSchemaRequest());
    const { name, version } = JSON.parse(schema.getSchema()) as Properties;
    assert.deepEqual({ name, version }, { name: "rekey", version: packageVersion() });
  });

  it("refuses settings and inputs without naming a property, whose value the engine would print", async () => {
    const refused = async (call: typeof calls.check | typeof calls.checkConfig, of: string, news: Properties) => {
      const request = new messages.CheckRequest().setUrn(of).setNews(toStruct(news));
      return (await plugin.call<messages.CheckRequest, messages.CheckResponse>(call, request))
        .getFailuresList()
        .map((one) => [one.getProperty(), one.getReason()]);
    };
    const [[property, reason = ""] = [], ...more] = await refused(calls.check, urn, { databaseId: 7 });
    assert.deepEqual({ property, more }, { property: "", more: [] });
    assert.match(reason, /^databaseId must be a string/);
    const [[setting, unknownSetting = ""] = []] = await refused(calls.checkConfig, defaultProvider, { nonsense: "x" });
    assert.equal(setting, "");
    assert.match(unknownSetting, /^nonsense is not a setting/);
  });

  it("names what replaces a resource, and sends nothing for a planned update", async () => {
    const outputs = fromStruct((await create({ databaseId: id })).getProperties());
    const replaced = await diff(outputs, { databaseId: "db-second" });
    assert.equal(replaced.getChanges(), DIFF_SOME);
    assert.deepEqual(replaced.getReplacesList(), ["databaseId"]);
    const news = toStruct({ databaseId: id, version: secret(unknown) });
    const update = new messages.UpdateRequest().setUrn(urn).setId(id).setOlds(toStruct(outputs)).setNews(news);
    const planned = await plugin.call(calls.update, update.setPreview(true));
    assert.deepEqual(fromStruct(planned.getProperties()).password, secret(unknown));
    assert.equal(platform.resetCount, 1);
  });

  it("passes on the time that the program allows", async () => {
    platform.failNext({ delayMs: 60_000 });
    const { details } = await failureOf(plugin.call(calls.create, creation({ databaseId: id }).setTimeout(1)));
    assert.match(details, /within the deadline.*REKEY_UNCONFIRMED/s);
  });

  it("shows lines for the user under their resource", async () => {
    const outputs = fromStruct((await create({ databaseId: id })).getProperties());
    await diff({ ...outputs, rotatedAt: "2020-01-01T00:00:00.000Z" }, { databaseId: id, rotateEvery: "30d" });
    await until(() => engine.said.length > 1);
    for (const [index, why] of [/the resource is new/, /it is due by rotateEvery/].entries()) {
      assert.equal(engine.said[index]?.urn, urn);
      assert.match(engine.said[index]?.line ?? "", why);
    }
  });

  it("shows the warning of a check before it responds", async () => {
    const stateless = "urn:pulumi:dev::default::rekey:index:PasswordRotation::PasswordRotation";
    const request = new messages.CheckRequest().setUrn(stateless).setNews(toStruct({ databaseId: id }));
    await plugin.call(calls.check, request);
    assertFields(engine.said[0], { urn: stateless, severity: LogSeverity.WARNING });
  });

  it("sends nothing once the engine is gone", async () => {
    engine.stop();
    const { details } = await failureOf(create({ databaseId: id }));
    assert.match(details, /the engine that requested it has ended.*REKEY_ENGINE_GONE/);
    assert.equal(platform.resetCount, 0);
  });

  it("reports a resource of a fleet that the engine did not register, and its name", async () => {
    await plugin.configure(defaultProvider, { baseUrl: platform.url });
    const request = new messages.ConstructRequest()
      .setType("rekey:index:PasswordRotationFleet")
      .setName("fleet")
      .setMonitorendpoint(engine.address)
      .setInputs(toStruct({ databases: { first: { databaseId: id } } }));
    const { details } = await failureOf(plugin.call(calls.construct, request));
    const message =
      /^It is not complete: its resource "fleet-\d\d" failed \(rekey:username and rekey:password are not set.*REKEY_FLEET_INCOM/;
    assert.match(details, message);
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
      assert.equal(alias?.getNoparent(), parent === "");
      assert.equal(alias?.getParenturn(), parent);
    }
    const unknown = urnOf("PasswordRotation", "unknown");
    await assert.rejects(construct("", unknown), new RegExp(`unknown resource ${unknown}`));
  });

  it("responds to unknown calls with unimplemented", async () => {
    assert.equal((await failureOf(plugin.call(calls.attach, new PluginAttach()))).code, status.UNIMPLEMENTED);
  });
});

describe("pulumi-resource-rekey", () => {
  const entry = join(projectRoot, "dist", "provider", "engine", "plugin", "main.js");
  const start = (...args: string[]) => spawn(process.execPath, [entry, ...args], { stdio: ["ignore", "pipe", "pipe"] });

  it("prints its port, and serves until it is interrupted", async () => {
    const engine = await FakeEngine.start();
    const child = start("--logtostderr", "-v=9", "--tracing", "file:x", engine.address);
    const ended = once(child, "exit");
    const plugin = await ProviderClient.of(child);
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
