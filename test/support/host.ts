import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { type ServiceError, status } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { type ResourceType, resources } from "../../provider/engine/resources";
import { EngineListener } from "./engineListener";
import { ProviderClient } from "./providerClient";
import { defaultProvider, fromStruct, type Properties, secret, toStruct, urnOf } from "./wire";

export const projectRoot = resolve(__dirname, "../..");

const textOf = (name: string) => `exports.handler=()=>require("pulumi-rekey/provider").${name}`;
const nameOf = (type: string) => `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
const types = Object.keys(resources);

/** What resources of this package name as their provider, and the types of the plugin that belong to these texts. */
export const providerTexts = Object.fromEntries(types.map((type) => [nameOf(type), textOf(nameOf(type))])) as Readonly<
  Record<Uncapitalize<ResourceType>, string>
>;
const nativeTypes = Object.fromEntries(types.map((type) => [textOf(nameOf(type)), type]));

/** How an engine reaches the provider: by Pulumi's dynamic provider host, or by the native plugin. */
export type Adapter = "dynamic" | "plugin";
export const adapters: readonly Adapter[] = ["dynamic", "plugin"];

export interface HostOptions {
  /** Default: dynamic. */
  readonly adapter?: Adapter | undefined;
  /** URN of the provider resource that the plugin serves. Default: that of the default provider. */
  readonly provider?: string | undefined;
  /** Configuration under full names (`rekey:baseUrl`); `secret(…)` marks what is one. */
  readonly config?: Properties;
  /** JavaScript (a module) that runs in the host process before anything else. */
  readonly preload?: string;
}

/** The result of create or update. */
export type Result =
  /** Saved. */
  | { readonly kind: "done"; readonly id: string; readonly outs: Properties }
  /** Saved all the same, and reported as failed. */
  | { readonly kind: "init error"; readonly id: string; readonly outs: Properties; readonly message: string }
  /** Nothing saved: the former state stays. */
  | { readonly kind: "failed"; readonly message: string };

const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * A real process of an adapter, called as an engine calls it. Inputs must hold `__provider`: the plugin gets the type
 * that belongs to it, and not the text.
 */
export class Host {
  #errors = "";
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>;

  private constructor(
    readonly adapter: Adapter,
    readonly engine: EngineListener,
    private readonly child: ChildProcess,
    private readonly client: ProviderClient,
  ) {
    this.ended = once(child, "exit");
  }

  static async start(options: HostOptions = {}): Promise<Host> {
    const { adapter = "dynamic", provider = defaultProvider, config = {}, preload } = options;
    const engine = await EngineListener.start();
    const entry =
      adapter === "plugin"
        ? join(projectRoot, "dist/provider/engine/plugin/main.js")
        : require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");
    const loaded = preload ? ["--import", `data:text/javascript,${encodeURIComponent(preload)}`] : [];
    const child = spawn(process.execPath, [...loaded, entry, engine.address], {
      cwd: projectRoot,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    child.once("exit", () => running.delete(child));
    const client = await ProviderClient.of(child);
    const host = new Host(adapter, engine, child, client);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (host.#errors += text));
    await client.configure(provider, adapter === "plugin" ? shortNames(config) : config);
    return host;
  }

  /** What the host wrote to its standard error so far: the engine shows it under Diagnostics. */
  get stderr(): string {
    return this.#errors;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** @param name of the resource, in its URN */
  async check(
    inputs: Properties,
    olds: Properties = {},
    name?: string,
  ): Promise<{ inputs: Properties; failures: { property: string; reason: string }[] }> {
    const { urn, news } = this.#address(inputs, name);
    const request = new messages.CheckRequest().setUrn(urn).setOlds(toStruct(olds)).setNews(news);
    const response = await this.client.call(ResourceProviderService.check, request);
    return {
      inputs: fromStruct(response.getInputs()),
      failures: response.getFailuresList().map((one) => ({ property: one.getProperty(), reason: one.getReason() })),
    };
  }

  async diff(
    id: string,
    olds: Properties,
    inputs: Properties,
  ): Promise<{ changes: "none" | "some" | "unknown"; replaces: string[] }> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.DiffRequest().setUrn(urn).setId(id).setOlds(toStruct(olds)).setNews(news);
    const response = await this.client.call(ResourceProviderService.diff, request);
    const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
    const changes = response.getChanges();
    return {
      changes: changes === DIFF_NONE ? "none" : changes === DIFF_SOME ? "some" : "unknown",
      replaces: response.getReplacesList(),
    };
  }

  /** @param preview as an engine calls the plugin, and never Pulumi's dynamic provider host */
  create(inputs: Properties, preview = false): Promise<Result> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.CreateRequest().setUrn(urn).setProperties(news).setPreview(preview);
    return resultOf(this.client.call(ResourceProviderService.create, request), (response) => {
      return { id: response.getId(), saved: response.getProperties() };
    });
  }

  /**
   * @param olds the saved outputs, secrets in plain
   * @param preview as for `create`
   */
  update(id: string, olds: Properties, inputs: Properties, preview = false): Promise<Result> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.UpdateRequest().setUrn(urn).setId(id).setOlds(toStruct(olds)).setNews(news);
    return resultOf(this.client.call(ResourceProviderService.update, request.setPreview(preview)), (response) => {
      return { id, saved: response.getProperties() };
    });
  }

  /** Calls a function of the plugin. */
  async invoke(name: string, args: Properties): Promise<Result> {
    const request = new messages.InvokeRequest().setTok(`rekey:index:${name}`).setArgs(toStruct(args));
    return resultOf(this.client.call(ResourceProviderService.invoke, request), (response) => {
      return { id: "", saved: response.getReturn() };
    });
  }

  /**
   * An empty id means that the resource is gone.
   *
   * @param properties the saved outputs, secrets in plain; none if the resource is imported
   */
  async read(id: string, properties: Properties, inputs = properties): Promise<{ id: string; outs: Properties }> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.ReadRequest().setUrn(urn).setId(id);
    // An import has neither.
    if (Object.keys(properties).length > 0) request.setInputs(news);
    request.setProperties(toStruct(properties));
    const response = await this.client.call(ResourceProviderService.read, request);
    return { id: response.getId(), outs: fromStruct(response.getProperties()) };
  }

  async delete(id: string, properties: Properties): Promise<void> {
    const { urn } = this.#address(properties);
    const request = new messages.DeleteRequest().setUrn(urn).setId(id).setProperties(toStruct(properties));
    await this.client.call(ResourceProviderService.delete, request);
  }

  /** Leaves the process behind as a killed engine does: nothing calls it, and no one reads what it prints. */
  async abandon(): Promise<void> {
    this.client.close();
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.destroy();
    await this.engine.kill();
  }

  async stop(): Promise<void> {
    this.client.close();
    this.child.kill("SIGKILL");
    await this.ended;
    await this.engine.close();
  }

  #address(properties: Properties, name?: string) {
    if (this.adapter === "dynamic") return { urn: dynamicUrn, news: toStruct(properties) };
    const { __provider, ...news } = properties;
    return { urn: urnOf(nativeTypes[String(__provider)] ?? "Any", name), news: toStruct(news) };
  }
}

/** Marks the secret ones among settings, and gives all of them their full names. */
export function configuration(settings: Record<string, string | number | undefined>): Properties {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const isOne = name === "password" || name === "queueToken";
      return [`rekey:${name}`, isOne ? secret(String(value)) : String(value)];
    }),
  );
}

const dynamicUrn = "urn:pulumi:test::test::pulumi-nodejs:dynamic/rekey:Any::any";

function shortNames(config: Properties): Properties {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name.replace("rekey:", ""), value]));
}

interface Made {
  readonly id: string;
  readonly saved: Parameters<typeof fromStruct>[0];
}

/** A call without a response has no result. An init error is in a trailer of the failed call. */
async function resultOf<R>(call: Promise<R>, found: (response: R) => Made): Promise<Result> {
  try {
    const { id, saved } = found(await call);
    return { kind: "done", id, outs: fromStruct(saved) };
  } catch (caught) {
    const error = caught as ServiceError;
    const details = error.metadata?.get("grpc-status-details-bin") ?? [];
    for (const any of details.flatMap((one) => Status.deserializeBinary(Buffer.from(one)).getDetailsList())) {
      if (any.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") continue;
      const failed = messages.ErrorResourceInitFailed.deserializeBinary(any.getValue_asU8());
      const outs = fromStruct(failed.getProperties());
      return { kind: "init error", id: failed.getId(), outs, message: error.details };
    }
    if (error.code !== status.UNKNOWN) throw error;
    return { kind: "failed", message: error.details };
  }
}
