import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as engineMessages from "@pulumi/pulumi/proto/engine_pb";
import { type Alias as WireAlias } from "@pulumi/pulumi/proto/alias_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/resource_pb";
import { Closed, type Deployment } from "./deployment";
import { messageOf, UnsupportedError } from "./errors";
import { Empty } from "./proto";
import { type Alias, type Goal, type Severity } from "./types";
import { fromStruct, toStruct } from "./values";

type Handler<Request, Response> = (request: Request) => Response | Promise<Response>;

/** The engine's side of the protocol, for programs and provider hosts. */
export class Monitor {
  private root = "";
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
    const monitor = new Monitor(server, `127.0.0.1:${port}`);
    server.addService(ResourceMonitorService, resourceMonitor(deployment));
    server.addService(EngineService, monitor.engine(deployment));
    return monitor;
  }

  stop(): void {
    this.server.forceShutdown();
  }

  private engine(deployment: Deployment): UntypedServiceImplementation {
    const severities: (Severity | undefined)[] = [undefined, "info", "warning", "error"];
    return {
      log: serve(deployment, (request: engineMessages.LogRequest) => {
        const severity = severities[request.getSeverity()];
        // Debug messages hold secrets in plain text; ephemeral ones are overwritten at once, and are for terminals.
        if (severity && !request.getEphemeral())
          deployment.report(severity, request.getMessage(), request.getUrn() || undefined);
        return new Empty();
      }),
      getRootResource: serve(deployment, () => new engineMessages.GetRootResourceResponse().setUrn(this.root)),
      setRootResource: serve(deployment, (request: engineMessages.SetRootResourceRequest) => {
        this.root = request.getUrn();
        return new engineMessages.SetRootResourceResponse();
      }),
      requirePulumiVersion: serve(deployment, () => new engineMessages.RequirePulumiVersionResponse()),
      startDebugging: refuse(deployment, "debugging"),
    };
  }
}

function resourceMonitor(deployment: Deployment): UntypedServiceImplementation {
  return {
    // "Yes" also to what we refuse later: then it is refused by name.
    supportsFeature: serve(deployment, () => new messages.SupportsFeatureResponse().setHassupport(true)),
    registerResource: serve(deployment, async (request: messages.RegisterResourceRequest) => {
      const { urn, id, outputs } = await deployment.register(toGoal(request));
      const options = { secrets: request.getAcceptsecrets(), resources: request.getAcceptresources() };
      return new messages.RegisterResourceResponse()
        .setUrn(urn)
        .setId(id ?? "")
        .setObject(toStruct(outputs, options));
    }),
    registerResourceOutputs: serve(deployment, async (request: messages.RegisterResourceOutputsRequest) => {
      await deployment.registerOutputs(request.getUrn(), fromStruct(request.getOutputs()));
      return new Empty();
    }),
    signalAndWaitForShutdown: serve(deployment, async () => {
      await deployment.finish();
      return new Empty();
    }),
    invoke: refuse(deployment, "an invoke (a provider's function)"),
    call: refuse(deployment, "a method of a remote component"),
    readResource: serve(deployment, (request: messages.ReadResourceRequest) => {
      const isStack = request.getType() === "pulumi:pulumi:StackReference";
      throw new UnsupportedError(
        isStack ? "a stack reference" : "reading a resource that the stack does not own (`get`)",
      );
    }),
    registerPackage: refuse(deployment, "a package's provider"),
    registerStackTransform: refuse(deployment, "the `transforms` of a stack"),
    registerStackInvokeTransform: refuse(deployment, "the `transforms` of a stack"),
    registerResourceHook: refuse(deployment, "a resource hook"),
    registerErrorHook: refuse(deployment, "a resource hook"),
  };
}

function serve<Request, Response>(
  deployment: Deployment,
  handler: Handler<Request, Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
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

function refuse(deployment: Deployment, what: string): handleUnaryCall<unknown, unknown> {
  return serve(deployment, () => {
    throw new UnsupportedError(what);
  });
}

/** Reads what the program wants, and refuses what only a real engine does. */
function toGoal(request: messages.RegisterResourceRequest): Goal {
  const type = request.getType();
  const name = request.getName();
  const custom = request.getCustom();
  const unsupported: [boolean, string][] = [
    [request.getRemote(), "a remote component"],
    [custom && type.startsWith("pulumi:providers:"), "an explicit provider"],
    [custom && !type.startsWith("pulumi-nodejs:"), `a resource of the package ${JSON.stringify(type.split(":")[0])}`],
    [custom && request.getProvider() !== "", "the option `provider`"],
    [request.getImportid() !== "", "the option `import`"],
    [request.getTransformsList().length > 0, "the option `transforms`"],
    [hasHooks(request), "the option `hooks`"],
    [request.getDeletedwith() !== "", "the option `deletedWith`"],
    [request.getReplaceWithList().length > 0, "the option `replaceWith`"],
    [request.hasReplacementTrigger(), "the option `replacementTrigger`"],
    [request.getPackageref() !== "", "a package's provider"],
  ];
  const first = unsupported.find(([asked]) => asked);
  if (first) throw new UnsupportedError(`${first[1]} (asked for by ${type} ${JSON.stringify(name)})`);

  const inputs = fromStruct(request.getObject());
  const dependencies = request.getDependenciesList();
  const byProperty: [string, string[]][] = [];
  request.getPropertydependenciesMap().forEach((urns, key) => byProperty.push([key, urns.getUrnsList()]));
  return {
    type,
    name,
    custom,
    inputs,
    dependencies,
    parent: request.getParent() || undefined,
    protect: request.hasProtect() ? request.getProtect() : undefined,
    propertyDependencies: Object.fromEntries(
      byProperty.length > 0
        ? byProperty.sort(([a], [b]) => (a < b ? -1 : 1))
        : Object.keys(inputs).map((key) => [key, dependencies]),
    ),
    deleteBeforeReplace:
      request.getDeletebeforereplacedefined() || request.getDeletebeforereplace()
        ? request.getDeletebeforereplace()
        : undefined,
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    aliases: [...request.getAliasurnsList().map((urn) => ({ urn })), ...request.getAliasesList().map(toAlias)],
    customTimeouts: toTimeouts(request),
  };
}

function hasHooks(request: messages.RegisterResourceRequest): boolean {
  const hooks = request.getHooks()?.toObject() ?? {};
  return Object.values(hooks).some((names) => Array.isArray(names) && names.length > 0);
}

function toAlias(alias: WireAlias): Alias {
  const spec = alias.getSpec();
  if (!spec) return { urn: alias.getUrn() };
  const [name, type, stack, project, parent] = [
    spec.getName(),
    spec.getType(),
    spec.getStack(),
    spec.getProject(),
    spec.getParenturn(),
  ];
  return {
    ...(name !== "" && { name }),
    ...(type !== "" && { type }),
    ...(stack !== "" && { stack }),
    ...(project !== "" && { project }),
    ...(parent !== "" && { parent }),
    ...(spec.getNoparent() && { noParent: true }),
  };
}

/** Timeouts are kept in seconds. */
function toTimeouts(request: messages.RegisterResourceRequest): Goal["customTimeouts"] {
  const given = request.getCustomtimeouts();
  const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
  const seconds = (text: string): number =>
    [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0),
      0,
    );
  const texts = {
    create: given?.getCreate(),
    update: given?.getUpdate(),
    delete: given?.getDelete(),
    read: given?.getRead(),
  };
  const asked = Object.entries(texts).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(asked.map(([key, text]) => [key, seconds(text)]));
}
