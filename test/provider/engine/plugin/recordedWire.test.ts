import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type MethodDefinition, type ServiceError } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { servePlugin } from "../../../../provider/engine/plugin/wire";
import { FakeEngine } from "../../../support/pluginWire";
import { ProviderClient } from "../../../support/providerClient";
import { fromMessage, toMessage } from "../../../support/protoJson";
import { comparable, played, type RecordedCall, recordedPlatform, recordingFile } from "../../../support/recordedWire";
import { until } from "../../../support/results";

type Method = MethodDefinition<object, object> & {
  readonly requestType: new () => object;
  readonly responseType: new () => object;
};

const recording = readFileSync(recordingFile, "utf8");
const methods = ResourceProviderService as unknown as Readonly<Record<string, Method>>;

describe("plugin over gRPC, called as the pulumi CLI called it", () => {
  let platform: Platform;
  let engine: FakeEngine;
  let service: Awaited<ReturnType<typeof servePlugin>>;
  let plugin: ProviderClient;
  before(async () => void (platform = await startPlatform(recordedPlatform)));
  beforeEach(async () => {
    engine = await FakeEngine.start();
    service = await servePlugin(engine.address, () => undefined);
    plugin = new ProviderClient(service.port);
  });
  afterEach(() => {
    plugin.close();
    service.close();
    engine.stop();
  });
  after(() => platform.close());

  for (const [index, { name }] of played(recording, "", "").entries()) {
    it(`responds and registers as recorded: ${name}`, async () => {
      const run = played(recording, platform.url, engine.address)[index] ?? assert.fail();
      const [registered, registeredOutputs] = ["RegisterResource", "RegisterResourceOutputs"].map((method) =>
        run.registrations.filter((one) => one.method === method),
      ) as [RecordedCall[], RecordedCall[]];
      engine.responses = registered.map(({ response = {} }) => toMessage(RegisterResourceResponse, response));
      if (run.fault) platform.failNext({ ...run.fault, method: "POST" });
      const before = platform.requests.length;
      const results: Promise<unknown>[] = [];
      for (const [at, call] of run.calls.entries()) {
        await Promise.all(results.filter((_, earlier) => (run.calls[earlier]?.until ?? 0) <= at));
        // The recorded run was cancelled, or ended, after its last request had arrived.
        if (call.method === "Cancel") await until(() => platform.requests.length - before >= run.requests);
        results.push(resultOf(plugin, call));
      }
      assert.deepEqual(await Promise.all(results), run.calls.map(recordedResultOf));
      const requests = registered.map(({ request }) => toMessage(RegisterResourceRequest, request));
      assert.deepEqual(byName(engine.registered), byName(requests));
      const outputs = registeredOutputs.map(({ request }) => toMessage(RegisterResourceOutputsRequest, request));
      assert.deepEqual(
        engine.registeredOutputs,
        outputs.map((one) => one.getOutputs()?.toJavaScript()),
      );
      assert.equal(platform.requests.length - before, run.requests);
    });
  }
});

function methodOf({ method }: RecordedCall): Method {
  return methods[method.charAt(0).toLowerCase() + method.slice(1)] ?? assert.fail(method);
}

/** The response to a recorded call, or the message of its failure. */
async function resultOf(plugin: ProviderClient, call: RecordedCall): Promise<unknown> {
  const method = methodOf(call);
  const response = await plugin
    .call(method, toMessage(method.requestType, call.request))
    .catch((error: unknown) => (error as ServiceError).details);
  return comparable({ [call.method]: fromMessage(response) });
}

function recordedResultOf(call: RecordedCall): unknown {
  const { response = {}, error } = call;
  return comparable({ [call.method]: error ?? fromMessage(toMessage(methodOf(call).responseType, response)) });
}

function byName(requests: readonly RegisterResourceRequest[]): unknown[] {
  return [...requests].sort((a, b) => (a.getName() < b.getName() ? -1 : 1)).map(fromMessage);
}
