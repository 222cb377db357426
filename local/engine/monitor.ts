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

/** The engine's side of the protocol, for programs and provider hosts. */
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
    const serve = answering(deployment);
    const refuse = (what: string): handleUnaryCall<unknown, unknown> =>
      serve(() => {
        throw new UnsupportedError(what);
      });
    server.addService(EngineService, {
      log: serve((request: engine.LogRequest) => {
        const severity = severities[request.getSeverity()];
        // Debug messages hold secrets in plain text; ephemeral ones are overwritten at once, and are for terminals.
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
      // "Yes" also to what we refuse later: then it is refused by name.
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
        throw new UnsupportedError(isStack ? "a stack reference" : "reading a resource of others (`get`)");
      }),
      invoke: refuse("an invoke (a provider's function)"),
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

/** Answers calls; an error ends the deployment. */
function answering(deployment: Deployment): Serve {
  return (handler) => (call, callback) => {
    void (async () => handler(call.request))().then(
      (response) => callback(null, response),
      (error: unknown) => {
        // An SDK that hears "unavailable" ends quietly: everything has been said already.
        if (!(error instanceof Closed)) deployment.fail("refused", messageOf(error));
        callback({ code: status.UNAVAILABLE, details: messageOf(error) });
      },
    );
  };
}

/** Reads what the program wants, and refuses what only a real engine does. */
function toGoal(request: messages.RegisterResourceRequest, stack: Pick<Identity, "stack" | "project">): Goal {
  const inputs = fromStruct(request.getObject());
  request.clearObject();
  const wanted = request.toObject();
  const { type, name, custom, dependenciesList: dependencies } = wanted;
  // The messages of older SDKs lack some of it.
  const message: Partial<messages.RegisterResourceRequest> = request;
  const { replaceWithList: replaceWith = [] }: Partial<typeof wanted> = wanted;
  const unsupported: Record<string, unknown> = {
    "a remote component": wanted.remote,
    "an explicit provider": custom && type.startsWith("pulumi:providers:"),
    [`a resource of the package "${type.split(":")[0] ?? ""}"`]: custom && !type.startsWith("pulumi-nodejs:"),
    "the option `provider`": custom && wanted.provider,
    "the option `import`": wanted.importid,
    "the option `transforms`": wanted.transformsList.length,
    "the option `hooks`": Object.values(wanted.hooks ?? {}).flat().length,
    "the option `deletedWith`": wanted.deletedwith,
    "the option `replaceWith`": replaceWith.length,
    "the option `replacementTrigger`": wanted.replacementTrigger,
    "the option `customTimeouts`": Object.values(wanted.customtimeouts ?? {}).join(""),
    "a package's provider": wanted.packageref,
  };
  const asked = Object.keys(unsupported).find((what) => unsupported[what]);
  if (asked) throw new UnsupportedError(`${asked} (asked for by ${type} ${JSON.stringify(name)})`);

  const given = wanted.propertydependenciesMap.map(([key, { urnsList }]) => [key, urnsList] as const);
  const byProperty = given.length > 0 ? given : Object.keys(inputs).map((key) => [key, dependencies] as const);
  const parent = wanted.parent || undefined;
  const saysOrder = wanted.deletebeforereplacedefined || wanted.deletebeforereplace;
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
      protect: (message.hasProtect?.() ?? wanted.protect) ? wanted.protect : undefined,
      propertyDependencies: Object.fromEntries(byProperty),
      additionalSecretOutputs: wanted.additionalsecretoutputsList,
      retainOnDelete: (message.hasRetainondelete?.() ?? wanted.retainondelete) ? wanted.retainondelete : undefined,
      ignoreChanges: wanted.ignorechangesList,
      replaceOnChanges: wanted.replaceonchangesList,
    },
    deleteBeforeReplace: saysOrder ? wanted.deletebeforereplace : undefined,
    aliases: [...wanted.aliasurnsList.map((urn) => ({ urn })), ...wanted.aliasesList.map(toAlias)],
  };
}

function toAlias({ urn, spec }: WireAlias.AsObject): Alias {
  if (!spec) return { urn };
  const { name, type, stack, project, parenturn: parent } = spec;
  const said = Object.entries({ name, type, stack, project, parent }).filter(([, value]) => value !== "");
  return { ...Object.fromEntries(said), ...(spec.noparent && { parent: undefined }) };
}
