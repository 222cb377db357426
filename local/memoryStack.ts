// Not Pulumi's engine: a stack in memory, for tests. No host process, no state on disk, no other providers.
import { setTimeout as sleep } from "node:timers/promises";
import { format, isDeepStrictEqual } from "node:util";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import type { RegisterResourceOutputsRequest, RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import type { MockResourceArgs } from "@pulumi/pulumi/runtime";
import { checked, holds, host, marked, plain, type Properties, secretMark, unknown } from "./dynamicProviders";

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
 * Resources of other providers, and of Rekey's plugin, have their inputs as outputs. Of the options of a resource, only
 * `dependsOn`, `parent`, `additionalSecretOutputs` and `retainOnDelete` have an effect.
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
  #resources: ReadonlyMap<string, Resource> = new Map();
  #replaced: readonly Replaced[] = [];
  #outputs: Properties = {};

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

  /** The saved resources, dependents last, with secrets in plain text; then those that were replaced. */
  get resources(): readonly SavedResource[] {
    const replaced = this.#replaced.map(([urn, one]) => [urn, one, { delete: true }] as const);
    return [...this.#resources, ...replaced].map(([urn, { id, outputs }, isReplaced]) => {
      return { urn, id, outputs: plain(outputs), ...isReplaced };
    });
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
      const olds = { olds: new Map(this.#resources), replaced: [...this.#replaced] };
      const operation = new Operation(olds, this.#outputs, this.config, this.names, dryRun);
      const restore = takeOver(operation);
      await act(operation).catch(operation.fail).finally(restore);
      const { made, replaced, outputs, changes, notices, errors } = operation;
      if (!dryRun) {
        [this.#resources, this.#replaced] = [new Map([...made, ...operation.olds]), replaced];
        this.#outputs = outputs;
      }
      const shown = Object.entries(outputs).map(([name, output]) => {
        const value = holds(output, unknown) ? undefined : plain(output);
        return [name, { value, secret: holds(output, secretMark) }] as const;
      });
      const result = { changes, outputs: Object.fromEntries(shown), notices, errors: [...errors.keys()] };
      if (errors.size > 0) throw new MemoryStackError(result, errors.values().next().value);
      return result;
    });
    MemoryStack.#turn = turn.catch(() => undefined);
    return turn;
  }
}

/** A resource as it is saved. */
interface SavedResource {
  readonly urn: string;
  readonly id: string;
  readonly outputs: Record<string, unknown>;
  /** Whether another one has replaced it, and it is deleted at the end of the next operation that succeeds. */
  readonly delete?: boolean;
}

interface Resource {
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  readonly retainOnDelete: boolean | undefined;
  /** Saved although its change failed: the next one is an update. */
  readonly failed: boolean;
}

/** A resource that another one has replaced, with its URN. */
type Replaced = readonly [urn: string, Resource];

/** One operation of a stack. It moves resources from `olds` to `made`, by URN, or deletes them. */
class Operation {
  readonly made = new Map<string, Resource>();
  readonly olds: Map<string, Resource>;
  readonly replaced: Replaced[];
  readonly changes: Record<string, number> = {};
  readonly notices: string[] = [];
  /** By message. */
  readonly errors = new Map<string, unknown>();
  readonly #settings = new Map<string, string>();
  readonly #secretKeys: string[] = [];
  readonly #providerOf = host((key) => this.#settings.get(key));
  readonly #requested = new Set<string>();
  /** Registrations without a response. */
  #running = 0;
  /** Whether a resource has failed. Then no other is changed. */
  #stopped = false;

  constructor(
    { olds, replaced }: Pick<Operation, "olds" | "replaced">,
    public outputs: Properties,
    config: MemoryStack["config"],
    private readonly names: { readonly project: string; readonly stack: string },
    private readonly dryRun: boolean,
  ) {
    [this.olds, this.replaced] = [olds, replaced];
    for (const [name, value] of Object.entries(config)) {
      const key = name.includes(":") ? name : `${names.project}:${name}`;
      if (typeof value !== "string") this.#secretKeys.push(key);
      this.#settings.set(key, typeof value === "string" ? value : value.secret);
    }
  }

  readonly fail = (error: unknown): void => {
    this.errors.set(error instanceof Error ? error.message : String(error), error);
  };

  /** Runs the program to its end, or after a failure until nothing runs any more. */
  async run(program: () => unknown): Promise<void> {
    const { runtime } = require("@pulumi/pulumi") as typeof import("@pulumi/pulumi");
    const { withLocalStorage, getStore } = require("@pulumi/pulumi/runtime/state") as SdkState;
    let ended = false;
    const run = async (): Promise<void> => {
      runtime.setAllConfig(Object.fromEntries(this.#settings), this.#secretKeys);
      const newResource = ({ id, inputs }: MockResourceArgs) => ({ id, state: inputs as object });
      const mocks = { newResource, call: () => ({}) };
      await runtime.setMocks(mocks, this.names.project, this.names.stack, this.dryRun, "organization");
      const { settings } = getStore();
      settings.engine = { setRootResource: (_: unknown, respond: Respond) => respond(null, {}), log: this.#log };
      // Inherits `mocks`: as an own property, data sources would ask it instead of sending real requests.
      const monitor = { registerResource: this.#registerResource, registerResourceOutputs: this.#registerOutputs };
      settings.monitor = Object.assign(Object.create(settings.monitor) as object, monitor);
      await runtime.runInPulumiStack(async () => program()).catch(this.fail);
      await runtime.disconnect();
    };
    const end = withLocalStorage(run).finally(() => (ended = true));
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
      this.#count(isDeepStrictEqual(outputs, old.outputs) ? "same" : "update");
      this.olds.set(urn, { ...old, outputs, failed: false });
    }
  }

  /** Deletes what was replaced, and what the program has not requested, dependents first, until a delete fails. */
  async deleteTheRest(): Promise<void> {
    const order = [...this.made.keys(), ...this.olds.keys()];
    const all = [...this.replaced, ...this.olds];
    for (const one of all.toSorted(([a], [b]) => order.indexOf(b) - order.indexOf(a))) {
      const [urn, old] = one;
      await this.#delete(old);
      const nth = this.replaced.indexOf(one);
      if (nth >= 0) this.replaced.splice(nth, 1);
      else {
        this.olds.delete(urn);
        this.#count("delete");
      }
    }
    if (this.made.size === 0) this.outputs = {};
  }

  readonly #log = (request: LogRequest, respond: Respond): void => {
    const [severity, text] = [Number(request.getSeverity()), request.getMessage()];
    if (severity === 3) this.fail(text);
    else if (severity > 0) this.notices.push(severity === 2 ? `warning: ${text}` : text);
    respond(null, {});
  };

  readonly #registerResource = async (request: RegisterResourceRequest, respond: Respond): Promise<void> => {
    const { type, name, parent } = request.toObject();
    const inputs: Properties = request.getObject()?.toJavaScript() ?? {};
    const of = parent.split("::")[2] ?? stackType;
    const qualified = of === stackType ? type : `${of}$${type}`;
    const urn = `urn:pulumi:${this.names.stack}::${this.names.project}::${qualified}::${name}`;
    this.#running++;
    const register = async () => (this.#stopped ? undefined : this.#register(urn, request, inputs));
    const made = await register().catch((error: Error) => {
      this.errors.set(`${type} (${name}): ${error.message}`, error);
      this.#stopped = true;
    });
    this.#running--;
    // If it failed, its outputs are unknown, so that nothing in the program that depends on them runs.
    const outputs = made?.outputs ?? Object.fromEntries(Object.keys(inputs).map((key) => [key, unknown]));
    respond(null, {
      getUrn: () => urn,
      getId: () => made?.id,
      getObject: () => ({ toJavaScript: () => outputs }),
      getPropertydependenciesMap: () => undefined,
      getResult: () => (made ? 0 : 1),
    });
  };

  readonly #registerOutputs = (request: RegisterResourceOutputsRequest, respond: Respond): void => {
    const outputs: Properties = request.getOutputs()?.toJavaScript() ?? {};
    // A program that fails registers none, or unknown ones.
    const isComplete = this.dryRun || (this.errors.size === 0 && !holds(outputs, unknown));
    if (isComplete && request.getUrn().includes(`::${stackType}::`)) this.outputs = outputs;
    respond(null, {});
  };

  async #register(urn: string, request: RegisterResourceRequest, values: Properties): Promise<Resource> {
    if (this.#requested.has(urn)) throw new Error(`Duplicate resource URN '${urn}'; try giving it a unique name`);
    this.#requested.add(urn);
    const old = this.olds.get(urn);
    const provider = this.#providerOf(values);
    let inputs = await checked(provider, old?.inputs ?? {}, values);
    const diff = old && (await provider?.diff?.(old.id, plain(old.outputs), plain(inputs)));
    const changes = diff?.changes ?? !isDeepStrictEqual(plain(old?.inputs ?? {}), plain(inputs));
    const replaces = changes && (diff?.replaces ?? []).length > 0;
    const op = !old ? "create" : replaces ? "replace" : changes || old.failed ? "update" : "same";
    if (replaces) inputs = await checked(provider, {}, values);
    const kept = replaces ? undefined : old;
    let id = kept?.id ?? (this.dryRun ? "" : request.getName());
    let outputs = old && op === "same" ? old.outputs : inputs;
    let failure: InitError | undefined;
    if (provider && op !== "same" && !this.dryRun) {
      const change = kept ? provider.update?.(id, plain(kept.outputs), plain(inputs)) : provider.create(plain(inputs));
      const result: Made | undefined = await change?.catch((error: InitError) => {
        if (error.id === undefined) throw error;
        failure = error;
        return { id: error.id, outs: error.properties };
      });
      id = result?.id ?? id;
      const outs = { ...result?.outs, __provider: values["__provider"] };
      outputs = marked(outs, inputs, request.getAdditionalsecretoutputsList());
      if (replaces && old) this.replaced.push([urn, old]);
    }
    this.olds.delete(urn);
    // After a failed update, the former inputs stay.
    if (failure && kept) ({ inputs } = kept);
    const retainOnDelete = request.getRetainondelete();
    const resource = { id, inputs, outputs, retainOnDelete, failed: failure !== undefined };
    this.made.set(urn, resource);
    if (failure) throw new Error(failure.reasons?.join("\n"), { cause: failure });
    this.#count(op);
    return resource;
  }

  async #delete({ id, outputs, retainOnDelete }: Resource): Promise<void> {
    if (!retainOnDelete && !this.dryRun) await this.#providerOf(outputs)?.delete?.(id, plain(outputs));
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
type InitError = Error & { readonly id?: string; readonly properties?: Properties; readonly reasons?: string[] };
type Made = { readonly id?: string; readonly outs?: Properties | undefined };
type Respond = (error: null, response: unknown) => void;

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
