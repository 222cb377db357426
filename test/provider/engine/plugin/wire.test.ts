import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type ServiceError, status } from "@grpc/grpc-js";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { Empty } from "../../../../provider/engine/plugin/wire";
import { packageVersion } from "../../../../provider/domain/ownPackage";
import { projectRoot, Host } from "../../../support/host";
import { defaultProvider, type Properties, toStruct, urnOf } from "../../../support/wire";
import { rotation, settingsFor } from "../../../support/resources";
import { expectKind } from "../../../support/results";

const urn = urnOf("PasswordRotation");

describe("plugin over gRPC", () => {
  let platform: Platform;
  let plugin: Host;
  before(async () => {
    platform = await startPlatform({ databases: ["first", "second"] });
    plugin = await Host.start({ adapter: "plugin", settings: settingsFor(platform) });
  });
  after(async () => {
    await plugin.stop();
    await platform.close();
  });

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
    for (const [call, of, news, expected] of [
      [calls.check, urn, { databaseId: 7 }, /^databaseId must be a string/],
      [calls.checkConfig, defaultProvider, { nonsense: "x" }, /^nonsense is not a setting/],
    ] as const) {
      const request = new messages.CheckRequest().setUrn(of).setNews(toStruct(news));
      const response = await plugin.call<messages.CheckRequest, messages.CheckResponse>(call, request);
      const [[property, reason = ""] = [], ...more] = response
        .getFailuresList()
        .map((one) => [one.getProperty(), one.getReason()]);
      assert.deepEqual({ property, more }, { property: "", more: [] });
      assert.match(reason, expected);
    }
  });

  it("shows lines under their resource before it responds, and names what replaces one", async () => {
    const { outs } = expectKind("done", await plugin.create(rotation("first")));
    const [announced] = plugin.engine.said;
    assert.deepEqual([announced?.urn, announced?.severity], [urn, LogSeverity.INFO]);
    assert.match(announced?.line ?? "", /^Resets the .*, because the resource is new/);
    const diff = await plugin.diff("first", outs, rotation("second"));
    assert.deepEqual(diff, { changes: true, replaces: ["databaseId"] });
  });

  it("passes on the time that the program allows", async () => {
    platform.failNext({ delayMs: 60_000 });
    const inputs = toStruct({ databaseId: "second" });
    const request = new messages.CreateRequest().setUrn(urn).setProperties(inputs).setTimeout(5);
    const { details } = await failureOf(plugin.call(calls.create, request));
    assert.match(details, /within the deadline.*REKEY_UNCONFIRMED/s);
  });

  it("responds to unknown calls with unimplemented", async () => {
    const construct = plugin.call(calls.construct, new messages.ConstructRequest());
    assert.equal((await failureOf(construct)).code, status.UNIMPLEMENTED);
  });
});

describe("pulumi-resource-rekey", () => {
  const entry = join(projectRoot, "dist", "provider", "engine", "plugin", "main.js");

  it("prints its port, and serves until it is interrupted", async () => {
    const traced = ["--logtostderr", "-v=9", "--tracing", "file:x"];
    const plugin = await Host.start({ adapter: "plugin", command: [process.execPath, entry, ...traced] });
    assert.equal((await plugin.call(calls.getPluginInfo, new Empty())).getVersion(), packageVersion());
    assert.deepEqual(await plugin.stop("SIGINT"), [null, "SIGINT"]);
  });

  it("explains itself to a person who starts it", async () => {
    const child = spawn(process.execPath, [entry], { stdio: ["ignore", "pipe", "pipe"] });
    const [said] = (await once(child.stderr, "data")) as [Buffer];
    assert.match(said.toString(), /the pulumi CLI starts it/);
    assert.deepEqual(await once(child, "exit"), [1, null]);
  });
});
