import { promisify } from "node:util";
import type { sendUnaryData, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { packageVersion } from "../../domain/ownPackage";
import { type Properties } from "../../pulumi/values";
import { InitError, reporting } from "../adapter";
import { EngineWatch } from "../liveness";
import { librariesOfSdk } from "../pulumiInternals";
import { checkConfig } from "./config";
import { type EngineLink, PluginService } from "./service";

const { grpc, empty, structs } = librariesOfSdk();
export const { Empty } = empty;

/** Saved states and credentials of a fleet can be larger than gRPC's usual 4 MB. */
export const unlimited = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
};

/** Milliseconds that a line for the user may take to be delivered. */
const logTimeoutMs = 5_000;

/** Serves Pulumi's plugin protocol. @returns the port on this machine */
export function servePlugin(engineAddress: string, onGone: () => void): Promise<number> {
  let isGone = false;
  const watch = new EngineWatch(engineAddress, () => {
    isGone = true;
    service.cancel();
    onGone();
  });
  const engine = new EngineClient(engineAddress, grpc.credentials.createInsecure());
  const show: EngineLink["show"] = (severity, text, urn = "") => {
    if (isGone) return Promise.resolve();
    const request = new LogRequest()
      .setSeverity(LogSeverity[severity])
      .setMessage(text)
      .setUrn(urn);
    return new Promise((resolve) => {
      // The line is only information: a failure changes nothing.
      engine.log(request, new grpc.Metadata(), { deadline: Date.now() + logTimeoutMs }, () =>
        resolve(),
      );
    });
  };
  const service = new PluginService({ requireEngine: watch.requireEngine, show });
  const server = new grpc.Server(unlimited);
  server.addService(ResourceProviderService, callsOf(service));
  const bind = promisify(server.bindAsync.bind(server));
  return bind("127.0.0.1:0", grpc.ServerCredentials.createInsecure());
}

/** The calls of the protocol. The engine gets "unimplemented" for all others. */
function callsOf(service: PluginService): UntypedServiceImplementation {
  return {
    handshake: unary(() => new messages.ProviderHandshakeResponse().setAcceptSecrets(true)),
    getPluginInfo: unary(() => new PluginInfo().setVersion(packageVersion())),
    getSchema: unary(() => {
      const schema = {
        ...(require("pulumi-rekey/schema.json") as object),
        version: packageVersion(),
      };
      return new messages.GetSchemaResponse().setSchema(JSON.stringify(schema));
    }),
    // Without a DiffConfig, a change of the settings replaces no provider, and so no resource.
    checkConfig: unary((request: messages.CheckRequest) => {
      const { inputs, failures } = checkConfig(properties(request.getNews()));
      return checkResponse(inputs, failures);
    }),
    configure: unary((request: messages.ConfigureRequest) => {
      // The oldest SDKs do not know this field.
      service.configure(request.getUrn?.() ?? "", properties(request.getArgs()));
      return new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),
    check: unary((request: messages.CheckRequest) => {
      const { inputs, problems } = service.check(
        request.getUrn(),
        properties(request.getNews()),
        properties(request.getOlds()),
      );
      return checkResponse(inputs, problems);
    }),
    diff: unary(async (request: messages.DiffRequest) => {
      const { DIFF_SOME, DIFF_NONE } = messages.DiffResponse.DiffChanges;
      const saved = { id: request.getId(), outputs: properties(request.getOlds()) };
      const { changes, replaces } = await service.diff(
        request.getUrn(),
        saved,
        properties(request.getNews()),
      );
      return new messages.DiffResponse()
        .setChanges(changes ? DIFF_SOME : DIFF_NONE)
        .setReplacesList([...replaces]);
    }),
    create: unary(async (request: messages.CreateRequest) => {
      const { id, outputs } = await service.change(changeIn(request, request.getProperties()));
      return new messages.CreateResponse().setId(id).setProperties(struct(outputs));
    }),
    update: unary(async (request: messages.UpdateRequest) => {
      const saved = { id: request.getId(), outputs: properties(request.getOlds()) };
      const { outputs } = await service.change(changeIn(request, request.getNews()), saved);
      return new messages.UpdateResponse().setProperties(struct(outputs));
    }),
    read: unary(async (request: messages.ReadRequest) => {
      const saved = { id: request.getId(), outputs: properties(request.getProperties()) };
      const { id, outputs, inputs } = await service.read(
        request.getUrn(),
        saved,
        properties(request.getInputs()),
      );
      return new messages.ReadResponse()
        .setId(id)
        .setProperties(struct(outputs))
        .setInputs(struct(inputs));
    }),
    delete: unary(async (request: messages.DeleteRequest) => {
      await service.delete(request.getUrn(), properties(request.getProperties()));
      return new Empty();
    }),
    invoke: unary(async (request: messages.InvokeRequest) => {
      const result = await service.invoke(request.getTok(), properties(request.getArgs()));
      return new messages.InvokeResponse().setReturn(struct(result));
    }),
    cancel: unary(() => {
      service.cancel();
      return new Empty();
    }),
  };
}

/** A call with one request and one response, which fails with an error that the engine can show. */
function unary<Request, Response>(respond: (request: Request) => Response | Promise<Response>) {
  return ({ request }: { request: Request }, callback: sendUnaryData<Response>): void => {
    void reporting(respond)(request).then(
      (response) => callback(null, response),
      (error: Error) => {
        const metadata = new grpc.Metadata();
        if (error instanceof InitError) {
          metadata.set("grpc-status-details-bin", initErrorTrailer(error));
        }
        callback({ code: grpc.status.UNKNOWN, details: error.message, metadata });
      },
    );
  };
}

/** With it the engine saves the properties, although the call failed. */
function initErrorTrailer({ id, properties: outputs, reasons, message }: InitError): Buffer {
  const failed = new messages.ErrorResourceInitFailed()
    .setId(id)
    .setProperties(struct(outputs))
    .setReasonsList(reasons);
  const status = new Status().setCode(grpc.status.UNKNOWN).setMessage(message);
  status.addDetails().pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  return Buffer.from(status.serializeBinary());
}

function changeIn(
  request: messages.CreateRequest | messages.UpdateRequest,
  inputs: Struct | undefined,
) {
  return {
    urn: request.getUrn(),
    timeoutSeconds: request.getTimeout(),
    preview: request.getPreview(),
    inputs: properties(inputs),
  };
}

function checkResponse(inputs: Properties, reasons: readonly string[]): messages.CheckResponse {
  // The engine prints the value of a property that is named here, even of a secret one.
  const failures = reasons.map((reason) => new messages.CheckFailure().setReason(reason));
  return new messages.CheckResponse().setInputs(struct(inputs)).setFailuresList(failures);
}

/** Values for a message. They must contain nothing undefined. */
export function struct(values: Properties): Struct {
  return structs.Struct.fromJavaScript(values as Record<string, JavaScriptValue>);
}

/** Values of a message: secrets and unknown values keep their marks. */
export function properties(values: Struct | undefined): Properties {
  return values?.toJavaScript() ?? {};
}
