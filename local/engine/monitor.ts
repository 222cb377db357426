import { type handleUnaryCall, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as engine from "@pulumi/pulumi/proto/engine_pb";
import { type Alias as WireAlias } from "@pulumi/pulumi/proto/alias_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/resource_pb";
import { type Goal } from "./decisions";
import { Closed, type Deployment } from "./deployment";
import { messageOf, UnsupportedError } from "./errors";
import { Empty } from "./proto";
import { type Severity } from "./types";
import { type Alias, type Identity, makeUrn } from "./urns";
import { fromStruct, toStruct } from "./values";

const severities: (Severity | undefined)[] = [undefined, "info", "warning", "error"];

/** The engine's gRPC services for programs and provider hosts. */
export class Monitor {
  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async start(deployment: Deployment): Promise<Monitor> {
    const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    const serve = serveWith(deployment);
    const refuse = (what: string): handleUnaryCall<unknown, unknown> =>
      serve(() => {
        throw new UnsupportedError(what);
      });
    server.addService(EngineService, {
      log: serve((request: engine.LogRequest) => {
        const severity = severities[request.getSeverity()];
        // Debug messages contain secrets in plain text; ephemeral ones are only for terminals.
        if (severity && !request.getEphemeral()) {
          deployment.report(severity, request.getMessage(), request.getUrn() || undefined);
        }
        return new Empty();
      }),
      setRootResource: serve(() => new engine.SetRootResourceResponse()),
      getRootResource: refuse("an SDK this old"),
      requirePulumiVersion: serve(() => new engine.RequirePulumiVersionResponse()),
      startDebugging: refuse("debugging"),
    });
    server.addService(ResourceMonitorService, {
      // Claim support for everything, so that unsupported features are rejected by name.
      supportsFeature: serve(() => new messages.SupportsFeatureResponse().setHassupport(true)),
      registerResource: serve(async (request: messages.RegisterResourceRequest) => {
        const { urn, id = "", outputs } = await deployment.register(toGoal(request, deployment.options));
        return new messages.RegisterResourceResponse().setUrn(urn).setId(id).setObject(toStruct(outputs));
      }),
      registerResourceOutputs: serve(async (request: messages.RegisterResourceOutputsRequest) => {
        await deployment.registerOutputs(request.getUrn(), fromStruct(request.getOutputs()));
        return new Empty();
      }),
      signalAndWaitForShutdown: serve(async () => {
        await deployment.finish();
        return new Empty();
      }),
      readResource: serve((request: messages.ReadResourceRequest) => {
        const isStack = request.getType() === "pulumi:pulumi:StackReference";
        throw new UnsupportedError(isStack ? "a stack reference" : "reading an existing resource (`get`)");
      }),
      invoke: refuse("an invoke (a provider function)"),
      call: refuse("a method of a remote component"),
      registerPackage: refuse("a package's provider"),
      registerStackTransform: refuse("the `transforms` of a stack"),
      registerStackInvokeTransform: refuse("the `transforms` of a stack"),
      registerResourceHook: refuse("a resource hook"),
      registerErrorHook: refuse("a resource hook"),
    });
    return new Monitor(server, `127.0.0.1:${port}`);
  }

  stop(): void {
    this.server.forceShutdown();
  }
}

type Serve = <Request, Response>(
  handler: (request: Request) => Response | Promise<Response>,
) => handleUnaryCall<Request, Response>;

/** Handles calls. An error ends the deployment. */
function serveWith(deployment: Deployment): Serve {
  return (handler) => (call, callback) => {
    void (async () => handler(call.request))().then(
      (response) => callback(null, response),
      (error: unknown) => {
        // The SDK ends silently on "unavailable"; the error has already been reported.
        if (!(error instanceof Closed)) deployment.fail("refused", messageOf(error));
        callback({ code: status.UNAVAILABLE, details: messageOf(error) });
      },
    );
  };
}

/** Reads the desired state of a resource, and rejects unsupported features. */
function toGoal(request: messages.RegisterResourceRequest, stack: Pick<Identity, "stack" | "project">): Goal {
  const inputs = fromStruct(request.getObject());
  request.clearObject();
  const desired = request.toObject();
  const { type, name, custom, dependenciesList: dependencies } = desired;
  // The messages of older SDKs lack some fields.
  const message: Partial<messages.RegisterResourceRequest> = request;
  const { replaceWithList: replaceWith = [] }: Partial<typeof desired> = desired;
  const unsupported: Record<string, unknown> = {
    "a remote component": desired.remote,
    "an explicit provider": custom && type.startsWith("pulumi:providers:"),
    [`a resource of the package "${type.split(":")[0] ?? ""}"`]: custom && !type.startsWith("pulumi-nodejs:"),
    "the option `provider`": custom && desired.provider,
    "the option `import`": desired.importid,
    "the option `transforms`": desired.transformsList.length,
    "the option `hooks`": Object.values(desired.hooks ?? {}).flat().length,
    "the option `deletedWith`": desired.deletedwith,
    "the option `replaceWith`": replaceWith.length,
    "the option `replacementTrigger`": desired.replacementTrigger,
    "the option `customTimeouts`": Object.values(desired.customtimeouts ?? {}).join(""),
    "a package's provider": desired.packageref,
  };
  const found = Object.keys(unsupported).find((what) => unsupported[what]);
  if (found) throw new UnsupportedError(`${found} (used by ${type} ${JSON.stringify(name)})`);

  const given = desired.propertydependenciesMap.map(([key, { urnsList }]) => [key, urnsList] as const);
  const byProperty = given.length > 0 ? given : Object.keys(inputs).map((key) => [key, dependencies] as const);
  const parent = desired.parent || undefined;
  const definesOrder = desired.deletebeforereplacedefined || desired.deletebeforereplace;
  return {
    name,
    resource: {
      urn: makeUrn({ ...stack, parent, type, name }),
      type,
      custom,
      inputs,
      outputs: {},
      dependencies,
      parent,
      protect: (message.hasProtect?.() ?? desired.protect) ? desired.protect : undefined,
      propertyDependencies: Object.fromEntries(byProperty),
      additionalSecretOutputs: desired.additionalsecretoutputsList,
      retainOnDelete: (message.hasRetainondelete?.() ?? desired.retainondelete) ? desired.retainondelete : undefined,
      ignoreChanges: desired.ignorechangesList,
      replaceOnChanges: desired.replaceonchangesList,
    },
    deleteBeforeReplace: definesOrder ? desired.deletebeforereplace : undefined,
    aliases: [...desired.aliasurnsList.map((urn) => ({ urn })), ...desired.aliasesList.map(toAlias)],
  };
}

function toAlias({ urn, spec }: WireAlias.AsObject): Alias {
  if (!spec) return { urn };
  const { name, type, stack, project, parenturn: parent } = spec;
  const given = Object.entries({ name, type, stack, project, parent }).filter(([, value]) => value !== "");
  return { ...Object.fromEntries(given), ...(spec.noparent && { parent: undefined }) };
}
