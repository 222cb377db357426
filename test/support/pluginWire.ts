import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, type ServiceError } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { type LogRequest, type LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  type RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  RegisterResourceResponse,
  type ResourceInvokeRequest,
} from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "./proto";
import { servePlugin } from "../../provider/engine/plugin/wire";
import { ProviderClient } from "./providerClient";
import { fromStruct, type Properties, toStruct, urnOf } from "./wire";

/** The engine as a plugin sees it: it records lines for the user, and creates what a component registers. */
export class FakeEngine {
  readonly said: { urn: string; line: string; severity: LogSeverity }[] = [];
  readonly registered: RegisterResourceRequest[] = [];
  readonly registeredOutputs: Properties[] = [];
  /** The outputs of resources of the program, by their URNs. */
  readonly states = new Map<string, Properties>();
  /** Responses to registrations; without one for it, the plugin creates the resource. */
  responses: readonly RegisterResourceResponse[] = [];
  /** Set before a component is constructed. */
  plugin: ProviderClient | undefined;
  address = "";
  readonly #server = new Server();

  static async start(): Promise<FakeEngine> {
    const engine = new FakeEngine();
    engine.#server.addService(EngineService, {
      log: responding((request: LogRequest) => {
        engine.said.push({ urn: request.getUrn(), line: request.getMessage(), severity: request.getSeverity() });
        return new Empty();
      }),
    });
    engine.#server.addService(ResourceMonitorService, {
      registerResource: responding((request: RegisterResourceRequest) => engine.#register(request)),
      invoke: responding((request: ResourceInvokeRequest) => {
        const { urn } = fromStruct(request.getArgs()) as { urn: string };
        const state = engine.states.get(urn);
        if (request.getTok() !== "pulumi:pulumi:getResource" || !state) throw new Error(`unknown resource ${urn}`);
        return new messages.InvokeResponse().setReturn(toStruct({ urn, state }));
      }),
      registerResourceOutputs: responding((request: RegisterResourceOutputsRequest) => {
        engine.registeredOutputs.push(fromStruct(request.getOutputs()));
        return new Empty();
      }),
    });
    const port = await new Promise<number>((resolve, reject) => {
      engine.#server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    engine.address = `127.0.0.1:${port}`;
    return engine;
  }

  /** Closes all connections, as if it was killed. */
  stop(): void {
    this.#server.forceShutdown();
  }

  async #register(request: RegisterResourceRequest): Promise<RegisterResourceResponse> {
    this.registered.push(request);
    const given = this.responses.find((one) => one.getUrn().endsWith(`::${request.getName()}`));
    if (given) return given;
    const urn = urnOf(request.getType().replace("rekey:index:", ""), request.getName());
    const response = new RegisterResourceResponse().setUrn(urn);
    if (!request.getCustom()) return response;
    const create = new messages.CreateRequest().setUrn(urn).setProperties(request.getObject());
    const created = await this.plugin?.call(ResourceProviderService.create, create);
    return response.setId(created?.getId() ?? "").setObject(created?.getProperties());
  }
}

/** The plugin in this process, and the engine that it serves. */
export async function startPlugin() {
  const engine = await FakeEngine.start();
  const service = await servePlugin(engine.address, () => undefined);
  const plugin = new ProviderClient(service.port);
  engine.plugin = plugin;
  const stop = (): void => {
    plugin.close();
    service.close();
    engine.stop();
  };
  return { engine, plugin, stop };
}

function responding<Request, Response>(respond: (request: Request) => Response | Promise<Response>) {
  return ({ request }: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void => {
    void (async () => respond(request))().then(
      (response) => callback(null, response),
      (error: unknown) => callback(error as ServiceError),
    );
  };
}
