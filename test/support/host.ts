import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Client, type ClientUnaryCall, credentials, Metadata, type MethodDefinition, status } from "@grpc/grpc-js";
import { type ServiceError } from "@grpc/grpc-js";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { unlimited } from "../../provider/engine/plugin/wire";
import { type ResourceType, resources } from "../../provider/engine/resources";
import { EngineListener } from "./engineListener";
import { defaultProvider, fromStruct, type Properties, revealed, secret, toStruct, urnOf } from "./wire";

export const projectRoot = resolve(__dirname, "../..");

const textOf = (name: string) => `exports.handler=()=>require("pulumi-rekey/provider").${name}`;
const types = Object.keys(resources) as ResourceType[];

/** What resources of this package name as their provider, and the types of the plugin that belong to these texts. */
export const providerTexts = Object.fromEntries(types.map((type) => [type, textOf(type)])) as Readonly<
  Record<ResourceType, string>
>;
const nativeTypes = Object.fromEntries(types.map((type) => [textOf(type), type]));

/** How an engine reaches the provider: by Pulumi's dynamic provider host, or by the native plugin. */
export type Adapter = "dynamic" | "plugin";
export const adapters: readonly Adapter[] = ["dynamic", "plugin"];

export interface HostOptions {
  /** Default: dynamic. */
  readonly adapter?: Adapter | undefined;
  readonly settings?: Readonly<Record<string, string | number | undefined>>;
  /** JavaScript (a module) that runs in the host process before anything else. */
  readonly preload?: string;
  /** Starts the plugin, with the address of the engine as its last argument. Default: Node, with what is built. */
  readonly command?: readonly [executable: string, ...args: string[]];
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
 * that belongs to it, and not the text. All values may have marks: Pulumi's dynamic provider host gets none.
 */
export class Host {
  /** What it wrote to its standard error so far: the engine shows it under Diagnostics. */
  stderr = "";
  /** Resolves when the process has ended, to its exit code and signal. */
  readonly ended: Promise<unknown>;
  readonly #client: Client;
  readonly #calls = new Set<ClientUnaryCall>();

  private constructor(
    readonly adapter: Adapter,
    readonly engine: EngineListener,
    private readonly child: ChildProcess,
    port: string,
  ) {
    this.ended = once(child, "exit");
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), unlimited);
  }

  static async start(options: HostOptions = {}): Promise<Host> {
    const { adapter = "dynamic", settings = {}, preload } = options;
    const engine = await EngineListener.start();
    const loaded = preload ? ["--import", `data:text/javascript,${encodeURIComponent(preload)}`] : [];
    const [executable, ...args] = options.command ?? [process.execPath, ...loaded, ...entries[adapter]];
    const shell = executable.endsWith(".cmd");
    const child = spawn(executable, [...args, engine.address], {
      cwd: projectRoot,
      shell,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    child.once("exit", () => running.delete(child));
    const lines = createInterface({ input: child.stdout });
    const [port = ""] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
    if (!/^\d+$/.test(port)) throw new Error(`the provider did not start: ${port}`);
    const host = new Host(adapter, engine, child, port);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (host.stderr += text));
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const config = given.map(([name, value]) => {
      const isSecret = name === "password" || name === "queueToken";
      return [adapter === "plugin" ? name : `rekey:${name}`, isSecret ? secret(value) : String(value)] as const;
    });
    const request = new messages.ConfigureRequest().setUrn(defaultProvider).setId("provider-id").setAcceptsecrets(true);
    await host.call(calls.configure, request.setSendsOldInputs(true).setArgs(toStruct(Object.fromEntries(config))));
    return host;
  }

  /** What it wrote to its standard error, and sent to the engine, so far. */
  get said(): string {
    return this.stderr + this.engine.received;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** @throws ServiceError, with the trailers of the failed call */
  call<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const options = { deadline: Date.now() + 300_000 };
    return new Promise((resolve, reject) => {
      const respond = (error: ServiceError | null, response?: Response): void => {
        this.#calls.delete(call);
        if (response === undefined) reject(error ?? new Error(`no response to ${path}`));
        else resolve(response);
      };
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        options,
        respond,
      );
      this.#calls.add(call);
    });
  }

  /** @param name of the resource, in its URN */
  async check(
    inputs: Properties,
    olds: Properties = {},
    name?: string,
  ): Promise<{ inputs: Properties; problems: string[] }> {
    const { urn, news } = this.#address(inputs, name);
    const request = new messages.CheckRequest().setUrn(urn).setOlds(toStruct(olds)).setNews(news);
    const response = await this.call(calls.check, request);
    const problems = response.getFailuresList().map((one) => one.getReason());
    return { inputs: fromStruct(response.getInputs()), problems };
  }

  async diff(id: string, olds: Properties, inputs: Properties): Promise<{ changes: boolean; replaces: string[] }> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.DiffRequest().setUrn(urn).setId(id).setOlds(this.#saved(olds)).setNews(news);
    const response = await this.call(calls.diff, request);
    const { DIFF_SOME, DIFF_UNKNOWN } = messages.DiffResponse.DiffChanges;
    assert.notEqual(response.getChanges(), DIFF_UNKNOWN);
    return { changes: response.getChanges() === DIFF_SOME, replaces: response.getReplacesList() };
  }

  /** @param preview as an engine calls the plugin, and never Pulumi's dynamic provider host */
  create(inputs: Properties, preview = false): Promise<Result> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.CreateRequest().setUrn(urn).setProperties(news).setPreview(preview);
    return resultOf(this.call(calls.create, request));
  }

  /** @param preview as for `create` */
  update(id: string, olds: Properties, inputs: Properties, preview = false): Promise<Result> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.UpdateRequest().setUrn(urn).setId(id).setOlds(this.#saved(olds)).setNews(news);
    return resultOf(this.call(calls.update, request.setPreview(preview)), id);
  }

  /** Calls a function of the plugin. */
  invoke(name: string, args: Properties): Promise<Result> {
    const request = new messages.InvokeRequest().setTok(`rekey:index:${name}`).setArgs(toStruct(args));
    return resultOf(this.call(calls.invoke, request));
  }

  /**
   * An empty id means that the resource is gone.
   *
   * @param olds the saved outputs; none if the resource is imported
   */
  async read(id: string, olds: Properties, inputs = olds): Promise<{ id: string; outputs: Properties }> {
    const { urn, news } = this.#address(inputs);
    const request = new messages.ReadRequest().setUrn(urn).setId(id).setProperties(this.#saved(olds));
    // An import has neither.
    if (Object.keys(olds).length > 0) request.setInputs(news);
    const response = await this.call(calls.read, request);
    return { id: response.getId(), outputs: fromStruct(response.getProperties()) };
  }

  async delete(id: string, olds: Properties): Promise<void> {
    const { urn } = this.#address(olds);
    await this.call(calls.delete, new messages.DeleteRequest().setUrn(urn).setId(id).setProperties(this.#saved(olds)));
  }

  /** Leaves the process behind as a killed engine does: nothing calls it, and no one reads what it prints. */
  async abandon(): Promise<void> {
    this.#disconnect();
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.destroy();
    await this.engine.kill();
  }

  /** Resolves when the process has ended, to its exit code and signal. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<unknown> {
    this.#disconnect();
    this.child.kill(signal);
    await this.engine.close();
    return this.ended;
  }

  /** Ends the connection, and the calls on it, as a process that is killed does. */
  #disconnect(): void {
    for (const call of this.#calls) call.cancel();
    this.#client.close();
  }

  #address(inputs: Properties, name?: string) {
    if (this.adapter === "dynamic") return { urn: dynamicUrn, news: toStruct(revealed(inputs)) };
    const { __provider, ...news } = inputs;
    return { urn: urnOf(nativeTypes[String(__provider)] ?? "Any", name), news: toStruct(news) };
  }

  #saved(olds: Properties) {
    return toStruct(this.adapter === "plugin" ? olds : revealed(olds));
  }
}

const dynamicUrn = "urn:pulumi:test::test::pulumi-nodejs:dynamic/rekey:Any::any";
const entries: Readonly<Record<Adapter, readonly string[]>> = {
  dynamic: [
    "--require",
    join(__dirname, "withoutCompilers.cjs"),
    require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js"),
  ],
  plugin: [join(projectRoot, "dist/provider/engine/plugin/main.js")],
};

type Made = messages.CreateResponse | messages.UpdateResponse | messages.InvokeResponse;

/** A call without a response has no result. An init error is in a trailer of the failed call. */
async function resultOf(call: Promise<Made>, known = ""): Promise<Result> {
  try {
    const made = await call;
    const outs = fromStruct("getReturn" in made ? made.getReturn() : made.getProperties());
    return { kind: "done", id: "getId" in made ? made.getId() : known, outs };
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
