// Not Pulumi's engine: a stack in memory, for tests. No host process, no state on disk, no other providers.
import { setTimeout as sleep } from "node:timers/promises";
import { format, isDeepStrictEqual } from "node:util";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import type * as pb from "@pulumi/pulumi/proto/resource_pb";
import type { MockResourceArgs } from "@pulumi/pulumi/runtime";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { checked, holds, host, marked, plain, type Properties, type Provider } from "./dynamicProviders";
import { secretMark, unknown, type Value } from "./dynamicProviders";

/** The result of an operation. */
export interface MemoryResult {
  /** Numbers of resources, including the stack, by what was done to them, or would be. */
  readonly changes: Readonly<Partial<Record<"same" | "create" | "update" | "replace" | "delete", number>>>;
  /** The stack's outputs. A value that is unknown in a preview is undefined. */
  readonly outputs: Readonly<Record<string, { readonly value: unknown; readonly secret: boolean } | undefined>>;
  /** Lines that were printed to standard error, as providers do, and messages that the program logged. */
  readonly notices: readonly string[];
  /** Empty unless the operation failed. Those of a resource begin with its type and name. */
  readonly errors: readonly string[];
}

/** An operation has failed. What it did before is saved in the stack; the stack's outputs are the former ones. */
export class MemoryStackError extends Error {
  constructor(
    readonly result: MemoryResult,
    cause: unknown,
  ) {
    super(result.errors.join("\n"), { cause });
  }
}

/**
 * Runs a Pulumi program in this process, against the dynamic providers that it uses. Like Pulumi, it finds
 * `pulumi-rekey` from the working directory upwards. Each operation starts its provider again, so that none remembers
 * what another one did. Operations take turns, and collect the unhandled rejections of the process.
 *
 * Resources of other providers, and of Rekey's plugin, have their inputs as outputs. Pulumi's SDK refuses `transforms`,
 * `hooks`, `deletedWith` and `replaceWith`; `import`, `protect`, `replaceOnChanges` and timeouts have no effect.
 *
 * @example
 * ```ts
 * const platform = await startPlatform({ databases: ["sessions"] });
 * const program = () => new PasswordRotation("sessions", { databaseId: "sessions", version: 1 });
 * const stack = new MemoryStack(program, {
 *   "rekey:baseUrl": platform.url,
 *   "rekey:username": platform.username,
 *   "rekey:password": { secret: platform.password },
 * });
 * const { changes, outputs, notices } = await stack.up();
 * ```
 */
export class MemoryStack {
  static #turn: Promise<unknown> = Promise.resolve();
  #resources = new Map<string, Resource>();

  /**
   * @param program returns the stack's outputs, like the function that a program exports
   * @param config the settings, which may be changed between operations; a name without a namespace is the project's
   * @param names of the project and the stack
   */
  constructor(
    private readonly program: () => unknown,
    readonly config: Record<string, string | { readonly secret: string }> = {},
    private readonly names = { project: "test", stack: "dev" },
  ) {}

  /** The saved resources, dependents last, with secrets in plain text. */
  get resources(): readonly { readonly urn: string; readonly id: string; readonly outputs: Record<string, unknown> }[] {
    return [...this.#resources].map(([urn, { id, outputs }]) => ({ urn, id, outputs: plain(outputs) }));
  }

  /** Shows what `up` would do: calls `check` and `diff` of the providers. @throws MemoryStackError */
  preview(): Promise<MemoryResult> {
    return this.#inTurn((operation) => operation.run(this.program), true);
  }

  /** Creates, updates, replaces and deletes resources as the program declares. @throws MemoryStackError */
  up(): Promise<MemoryResult> {
    return this.#inTurn((operation) => operation.run(this.program));
  }

  /** Reads all resources, without running the program. @throws MemoryStackError */
  refresh(): Promise<MemoryResult> {
    return this.#inTurn((operation) => operation.refresh());
  }

  /** Deletes all resources, without running the program. @throws MemoryStackError */
  destroy(): Promise<MemoryResult> {
    return this.#inTurn((operation) => operation.deleteTheRest());
  }

  #inTurn(act: (operation: Operation) => Promise<void>, dryRun = false): Promise<MemoryResult> {
    const turn = MemoryStack.#turn.then(async () => {
      const nameOf = (key: string): string => (key.includes(":") ? key : `${this.names.project}:${key}`);
      const entries = Object.entries(this.config).map(([key, value]) => [nameOf(key), value] as const);
      const operation = new Operation(new Map(this.#resources), dryRun, entries, this.names);
      const restore = takeOver(operation);
      await act(operation).catch(operation.fail).finally(restore);
      const { made, olds, changes, notices, errors } = operation;
      const resources = new Map([...made, ...olds]);
      if (!dryRun) this.#resources = resources;
      const stack = [...resources.values()].find(({ type }) => type === stackType);
      const outputs = Object.entries(stack?.outputs ?? {}).map(([name, output]) => {
        const value = holds(output, unknown) ? undefined : plain(output);
        return [name, { value, secret: holds(output, secretMark) }] as const;
      });
      const result = { changes, outputs: Object.fromEntries(outputs), notices, errors: [...errors.keys()] };
      if (errors.size > 0) throw new MemoryStackError(result, errors.values().next().value);
      return result;
    });
    MemoryStack.#turn = turn.catch(() => undefined);
    return turn;
  }
}

/** A resource as it is saved, with marks on secrets. */
interface Resource {
  readonly type: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  readonly retainOnDelete: boolean;
  /** Whether the last change ended with an init error. Then the next `up` updates. */
  readonly failed: boolean;
}

class Operation {
  readonly changes: Record<string, number> = {};
  readonly notices: string[] = [];
  /** By message: the same error may reach a program in several places. */
  readonly errors = new Map<string, unknown>();
  /** The resources that this operation has saved, by URN, dependents last. */
  readonly made = new Map<string, Resource>();
  readonly #requested = new Set<string>();
  readonly #settings: ReadonlyMap<string, string>;
  readonly #providerOf: (properties: Properties) => Provider | undefined;
  /** Registrations without a response. */
  #running = 0;
  /** Whether a resource has failed. Then no other is changed. */
  #stopped = false;

  /** @param olds the saved resources by URN, of which the operation takes those that it saves again or deletes */
  constructor(
    readonly olds: Map<string, Resource>,
    private readonly dryRun: boolean,
    private readonly config: readonly (readonly [key: string, value: MemoryStack["config"][string]])[],
    private readonly names: { readonly project: string; readonly stack: string },
  ) {
    this.#settings = new Map(config.map(([key, value]) => [key, typeof value === "string" ? value : value.secret]));
    this.#providerOf = host(this.#settings);
  }

  readonly fail = (error: unknown): void => {
    this.errors.set(error instanceof Error ? error.message : String(error), error);
  };

  /** Runs the program to its end, or after a failure until nothing runs any more. */
  async run(program: () => unknown): Promise<void> {
    const { runtime } = require("@pulumi/pulumi") as typeof import("@pulumi/pulumi");
    const sdk = require("@pulumi/pulumi/runtime/state") as SdkState;
    let ended = false;
    const run = async (): Promise<void> => {
      const secretKeys = this.config.filter(([, value]) => typeof value !== "string").map(([key]) => key);
      runtime.setAllConfig(Object.fromEntries(this.#settings), secretKeys);
      const mocks = { newResource: ({ id, inputs }: MockArgs) => ({ id, state: inputs }), call: () => ({}) };
      await runtime.setMocks(mocks, this.names.project, this.names.stack, this.dryRun, "organization");
      const { settings } = sdk.getStore();
      settings.engine = this.#engine;
      // Inherits `mocks`: as an own property, data sources would ask it instead of sending real requests.
      settings.monitor = Object.assign(Object.create(settings.monitor) as object, this.#monitor);
      await runtime.runInPulumiStack(async () => program()).catch(this.fail);
      await runtime.disconnect();
    };
    const end = sdk.withLocalStorage(run).finally(() => (ended = true));
    // After an error, the program may wait permanently: give up once nothing was registered for a second.
    for (let idle = 0; !ended && idle < 50; idle = this.errors.size > 0 && this.#running === 0 ? idle + 1 : 0) {
      await Promise.race([end, sleep(20)]);
    }
    await sleep(1);
    if (this.errors.size === 0) await this.deleteTheRest();
  }

  async refresh(): Promise<void> {
    for (const [urn, old] of this.olds) {
      const read = await this.#providerOf(old.outputs)?.read?.(old.id, plain(old.outputs));
      const { __provider } = old.inputs;
      const outputs = read ? marked({ ...read.props, __provider }, old.outputs) : old.outputs;
      const isGone = read !== undefined && !read.id;
      this.#count(isGone ? "delete" : isDeepStrictEqual(outputs, old.outputs) ? "same" : "update");
      if (isGone) this.olds.delete(urn);
      else this.olds.set(urn, { ...old, outputs, failed: false });
    }
  }

  /** Deletes the resources that the program has not requested, dependents first. */
  async deleteTheRest(): Promise<void> {
    for (const [urn, old] of [...this.olds].reverse()) {
      await this.#delete(old);
      this.olds.delete(urn);
      this.#count("delete");
    }
  }

  readonly #engine = {
    setRootResource: (_: unknown, respond: Respond) => respond(null, {}),
    log: (request: LogRequest, respond: Respond) => {
      const [severity, text] = [Number(request.getSeverity()), request.getMessage()];
      if (severity === 3) this.fail(text);
      else if (severity > 0) this.notices.push(severity === 2 ? `warning: ${text}` : text);
      respond(null, {});
    },
  };

  readonly #monitor = {
    // The SDK refuses what needs another feature.
    supportsFeature: (request: pb.SupportsFeatureRequest, respond: Respond) => {
      respond(null, { getHassupport: () => ["secrets", "resourceReferences", "aliasSpecs"].includes(request.getId()) });
    },
    registerResource: async (request: pb.RegisterResourceRequest, respond: Respond) => {
      const [type, name, inputs] = [request.getType(), request.getName(), valuesOf(request.getObject())];
      const urn = this.#urn(type, name, request.getParent());
      this.#running++;
      const register = async () => (this.#stopped ? undefined : this.#register(urn, request.toObject(), inputs));
      const made = await register().catch((error: Error) => {
        this.errors.set(`${type} (${name}): ${error.message}`, error);
        this.#stopped = true;
      });
      this.#running--;
      // If it failed, its outputs are unknown, so that nothing in the program that depends on them runs.
      const unknowns = Object.fromEntries(Object.keys(inputs).map((key) => [key, unknown]));
      const outputs = made ? (request.getCustom() ? made.outputs : {}) : unknowns;
      respond(null, {
        getUrn: () => urn,
        getId: () => made?.id,
        getObject: () => ({ toJavaScript: () => outputs }),
        getPropertydependenciesMap: () => undefined,
        getResult: () => (made ? 0 : 1),
      });
    },
    registerResourceOutputs: (request: pb.RegisterResourceOutputsRequest, respond: Respond) => {
      const [urn, outputs] = [request.getUrn(), valuesOf(request.getOutputs())];
      const made = this.made.get(urn);
      // A program that fails registers none, or unknown ones.
      const isComplete = this.dryRun || (this.errors.size === 0 && !holds(outputs, unknown));
      if (made && isComplete) this.made.set(urn, { ...made, outputs });
      respond(null, {});
    },
  };

  async #register(urn: string, goal: pb.RegisterResourceRequest.AsObject, values: Properties): Promise<Resource> {
    const { type, name, custom, parent } = goal;
    if (this.#requested.has(urn)) throw new Error(`Duplicate resource URN '${urn}'; try giving it a unique name`);
    this.#requested.add(urn);
    const aliases = goal.aliasesList.map(({ urn: alias, spec }) =>
      spec ? this.#urn(spec.type || type, spec.name || name, spec.noparent ? "" : spec.parenturn || parent) : alias,
    );
    const oldUrn = [urn, ...aliases].find((candidate) => this.olds.has(candidate)) ?? urn;
    const old = this.olds.get(oldUrn);
    const isIgnored = ([key]: [string, Value]): boolean => goal.ignorechangesList.includes(key);
    const kept = Object.entries(old?.inputs ?? values).filter(isIgnored);
    const compared = Object.entries(values).filter((entry) => !isIgnored(entry));
    const provider = this.#providerOf(values);
    let inputs = await checked(provider, old?.inputs ?? {}, Object.fromEntries([...compared, ...kept]));
    const diff = old && (await provider?.diff?.(old.id, plain(old.outputs), plain(inputs)));
    const changes = diff?.changes ?? !isDeepStrictEqual(plain(old?.inputs ?? {}), plain(inputs));
    const replaces = changes && (diff?.replaces ?? []).length > 0;
    const op = !old ? "create" : replaces ? "replace" : changes || old.failed ? "update" : "same";
    if (replaces) inputs = await checked(provider, {}, values);

    const [updated, replaced] = [op === "update" ? old : undefined, op === "replace" ? old : undefined];
    const deletesFirst = goal.deletebeforereplacedefined ? goal.deletebeforereplace : diff?.deleteBeforeReplace;
    let id = old && !replaced ? old.id : this.dryRun ? "" : name;
    let outputs = custom && op !== "same" ? inputs : (old?.outputs ?? {});
    let failure: InitError | undefined;
    if (provider && op !== "same" && !this.dryRun) {
      if (replaced && deletesFirst) {
        await this.#delete(replaced);
        this.olds.delete(oldUrn);
      }
      const change = updated
        ? provider.update?.(id, plain(updated.outputs), plain(inputs))
        : provider.create(plain(inputs));
      const made: Made | undefined = await change?.catch((error: InitError) => {
        if (error.id === undefined) throw error;
        failure = error;
        return { id: error.id, outs: error.properties };
      });
      id = made?.id ?? id;
      const outs = { ...made?.outs, __provider: values["__provider"] };
      outputs = marked(outs, inputs, goal.additionalsecretoutputsList);
      if (replaced && !deletesFirst) await this.#delete(replaced);
    }
    this.olds.delete(oldUrn);
    if (failure && updated) ({ inputs } = updated);
    const retainOnDelete = goal.retainondelete === true;
    const resource = { type, id, inputs, outputs, retainOnDelete, failed: failure !== undefined };
    this.made.set(urn, resource);
    if (failure) throw new Error(failure.reasons?.join("\n"), { cause: failure });
    this.#count(op);
    return resource;
  }

  async #delete({ id, outputs, retainOnDelete }: Resource): Promise<void> {
    if (!retainOnDelete && !this.dryRun) await this.#providerOf(outputs)?.delete?.(id, plain(outputs));
  }

  #urn(type: string, name: string, parent: string): string {
    const [{ project, stack }, of] = [this.names, parent.split("::")[2] ?? stackType];
    return `urn:pulumi:${stack}::${project}::${of === stackType ? "" : `${of}$`}${type}::${name}`;
  }

  #count(op: string): void {
    this.changes[op] = (this.changes[op] ?? 0) + 1;
  }
}

const stackType = "pulumi:pulumi:Stack";
/** What the types of Pulumi's SDK do not declare: the store of one run, as inline programs have it. */
interface SdkState {
  withLocalStorage<T>(this: void, run: () => Promise<T>): Promise<T>;
  getStore(this: void): { readonly settings: { monitor: object; engine: unknown } };
}
type MockArgs = Omit<MockResourceArgs, "inputs"> & { readonly inputs: Properties };
type InitError = Error & { readonly id?: string; readonly properties?: Properties; readonly reasons?: string[] };
type Made = { readonly id?: string; readonly outs?: Properties | undefined };
type Respond = (error: null, response: unknown) => void;

const valuesOf = (struct: Struct | undefined): Properties => struct?.toJavaScript() ?? {};

/** Collects what would be printed to standard error, and unhandled rejections. @returns what ends that */
function takeOver({ notices, fail }: Operation): () => void {
  const { error: printError } = console;
  console.error = (...parts: unknown[]) => void notices.push(format(...parts));
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", fail);
  return () => {
    console.error = printError;
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  };
}
