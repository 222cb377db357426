import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type MethodDefinition, type ServiceError } from "@grpc/grpc-js";
import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { CheckFailure, DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import {
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { type FakeEngine, startPlugin } from "../../../support/pluginWire";
import { type ProviderClient } from "../../../support/providerClient";
import { comparable, played, type RecordedCall, recordedPlatform, recordingFile } from "../../../support/recordedWire";
import { until } from "../../../support/results";
import { fromStruct, toStruct } from "../../../support/wire";

type Json = Readonly<Record<string, unknown>>;
/** A generated message: each field has accessors such as `getNews`, `getDiffsList` or `getProvidersMap`. */
type Message = Record<string, (value?: unknown) => unknown>;
type Type<M> = new () => M;

/** Types of the messages in a field; others have the name of the field, in their parent. */
const types: Readonly<Record<string, unknown>> = { aliases: Alias, failures: CheckFailure };
const structs = ["args", "inputs", "news", "object", "oldInputs", "olds", "outputs", "properties", "return", "state"];

type Method = MethodDefinition<object, object> & {
  readonly requestType: new () => object;
  readonly responseType: new () => object;
};

const recording = readFileSync(recordingFile, "utf8");
const methods = ResourceProviderService as unknown as Readonly<Record<string, Method>>;

describe("plugin over gRPC, called as the pulumi CLI called it", () => {
  let platform: Platform;
  let engine: FakeEngine;
  let stop: () => void;
  let plugin: ProviderClient;
  before(async () => void (platform = await startPlatform(recordedPlatform)));
  beforeEach(async () => {
    ({ engine, plugin, stop } = await startPlugin());
  });
  afterEach(() => stop());
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

/** A message from JSON as the engine logs it. Fields that the installed SDK does not know are left out, as by gRPC. */
function toMessage<M>(type: Type<M>, json: object): M {
  const message = new type();
  for (const [name, value] of Object.entries(json as Json)) {
    const inner = (one: unknown): unknown => {
      if (structs.includes(name) && typeof one === "object") return toStruct(one as Json);
      const own = name.endsWith("Dependencies") ? "PropertyDependencies" : name[0]?.toUpperCase() + name.slice(1);
      const of = types[name] ?? (type as unknown as Json)[own];
      return typeof of === "function" ? toMessage(of as Type<unknown>, one as object) : one;
    };
    const accessors = accessorsOf(message).filter(({ field }) => field === name.toLowerCase());
    for (const { accessor, kind } of accessors) {
      const call = (given?: unknown) => (message as Message)[accessor]?.(given);
      if (name === "changes" && kind === "set") call(DiffResponse.DiffChanges[value as "DIFF_NONE"]);
      else if (kind === "set") call(Array.isArray(value) ? value.map(inner) : inner(value));
      else if (accessor.endsWith("Map")) {
        for (const [key, one] of Object.entries(value as Json)) (call() as Map<string, unknown>).set(key, inner(one));
      }
    }
  }
  return message;
}

/** The fields of a message that are set, in lower case. */
function fromMessage(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(fromMessage);
  if (typeof message !== "object" || message === null) return message;
  if ("toJavaScript" in message) return fromStruct(message as Struct);
  const entries =
    "getEntryList" in message
      ? [...(message as unknown as Map<string, unknown>).entries()]
      : accessorsOf(message).flatMap(({ accessor, field, kind }) =>
          kind === "get" ? [[field, (message as Message)[accessor]?.()] as const] : [],
        );
  const read = entries.map(([name, value]) => [name, fromMessage(value)] as const);
  return Object.fromEntries(read.filter(([, value]) => !isDefault(value)));
}

function accessorsOf(message: unknown): { accessor: string; kind: string; field: string }[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(message)).flatMap((accessor) => {
    const [, kind = "", field = ""] = /^(get|set)([A-Z].*?)(?:List|Map)?$/.exec(accessor) ?? [];
    return field === "" ? [] : [{ accessor, kind, field: field.toLowerCase() }];
  });
}

/** Whether gRPC sends nothing for it. */
function isDefault(value: unknown): boolean {
  return (
    value === undefined || value === "" || value === 0 || value === false || (Array.isArray(value) && !value.length)
  );
}
