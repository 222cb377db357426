import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { credentials } from "@grpc/grpc-js";
import * as pulumi from "@pulumi/pulumi";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  childrenOf,
  initializationOf,
  isConfigSecret,
  isKnown,
  isMocked,
  lastTransformation,
  librariesOfSdk,
  markAsRunError,
} from "../../../provider/engine/pulumiInternals";
import { sourcesIn } from "../../support/files";
import { Host, projectRoot } from "../../support/host";
import { toStruct } from "../../support/wire";

const setMocks = (preview = false) =>
  pulumi.runtime.setMocks(
    { newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }), call: () => ({}) },
    "project",
    "stack",
    preview,
  );

/** A component that creates its child after its constructor has returned. */
class Late extends pulumi.ComponentResource {
  protected override async initialize() {
    await Promise.resolve();
    return new pulumi.ComponentResource("test:index:Child", "child", {}, { parent: this });
  }
}

describe("What Pulumi does not promise", () => {
  it("__pulumiRunError: an error with it is a RunError", () => {
    assert.ok(!pulumi.RunError.isInstance(new Error("plain")));
    assert.ok(pulumi.RunError.isInstance(markAsRunError(new Error("marked"))));
  });

  it("isConfigSecret: tells secret settings from others", () => {
    pulumi.runtime.setAllConfig({ "rekey:password": "p", "rekey:username": "u" }, ["rekey:password"]);
    try {
      const found = ["rekey:password", "rekey:username"].map((key) => isConfigSecret(pulumi.runtime, key));
      assert.deepEqual(found, [true, false]);
    } finally {
      pulumi.runtime.setAllConfig({});
    }
  });

  it("isKnown: tells known outputs from those that a preview does not know", async () => {
    await setMocks(true);
    const unknown = pulumi
      .output(new pulumi.ComponentResource("test:index:Any", "any").urn)
      .apply(() => pulumi.unknown);
    assert.deepEqual(await Promise.all([isKnown(pulumi.output(1)), isKnown(unknown)]), [true, false]);
  });

  it("mocks: a property of the monitor that setMocks makes, and of no other", async () => {
    await setMocks();
    const monitor = pulumi.runtime.getMonitor() ?? assert.fail();
    const real = new ResourceMonitorClient("127.0.0.1:1", credentials.createInsecure());
    assert.deepEqual([monitor, real, undefined].map(isMocked), [true, false, false]);
    real.close();
  });

  it("__data and __childResources: name the children of a component once it is initialized", async () => {
    await setMocks();
    const component = new Late("test:index:Late", "late");
    assert.deepEqual(childrenOf(component), []);
    const child = (await initializationOf(component)) as pulumi.Resource;
    assert.ok(pulumi.Resource.isInstance(child), "__data");
    assert.deepEqual(childrenOf(component), [child], "__childResources");
    assert.deepEqual(childrenOf(child), []);
  });

  it("__transformations: of a resource run in order, also what the first one has added at the end", async () => {
    await setMocks();
    const seen: unknown[] = [];
    const sees =
      (name: string): pulumi.ResourceTransformation =>
      () =>
        void seen.push(name);
    const transformations = [lastTransformation(sees("last")), sees("own")];
    new Late("test:index:Late", "late", {}, { transformations });
    assert.deepEqual(seen, ["own", "last"]);
  });

  it("_getActiveHandles and the last argument: a provider finds the host's server and the engine's address", async () => {
    const host = await Host.start();
    try {
      const file = JSON.stringify(join(projectRoot, "dist/provider/engine/pulumiInternals.js"));
      const found = `const { activeHandles, engineAddress } = require(${file});
        const servers = activeHandles().filter((one) => one instanceof require("node:net").Server).length;
        const reason = JSON.stringify({ _getActiveHandles: servers, lastArgument: engineAddress() });`;
      const check = `async (olds, inputs) => { ${found} return { inputs, failures: [{ property: "", reason }] }; }`;
      const { problems } = await host.check({ __provider: `exports.handler = () => ({ check: ${check} });` });
      const expected = { _getActiveHandles: 1, lastArgument: host.engine.address };
      assert.deepEqual(problems, [JSON.stringify(expected)]);
    } finally {
      await host.stop();
    }
  });

  it("grpc-js and google-protobuf: the copies that the SDK's messages and services accept", () => {
    const { grpc, empty, structs } = librariesOfSdk();
    assert.ok(EngineClient.prototype instanceof grpc.Client);
    const bytes = new CheckRequest().setNews(toStruct({ a: 1 })).serializeBinary();
    assert.ok(CheckRequest.deserializeBinary(bytes).getNews() instanceof structs.Struct);
    const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/proto/provider_pb"));
    assert.equal(sdkRequire("google-protobuf/google/protobuf/empty_pb"), empty);
  });

  it("is in one file", () => {
    const names =
      /__pulumiRunError|__data|__childResources|__transformations|_getActiveHandles|process\.argv|sdkRequire|\{ isKnown:/;
    const files = sourcesIn("sdk", "provider").filter((path) =>
      names.test(readFileSync(join(projectRoot, path), "utf8")),
    );
    assert.deepEqual(
      files.map((path) => path.replaceAll("\\", "/")),
      ["provider/engine/pulumiInternals.ts"],
    );
  });
});
