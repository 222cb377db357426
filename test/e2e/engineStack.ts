import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as automation from "@pulumi/pulumi/automation";
import * as runtime from "@pulumi/pulumi/runtime/settings";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { environmentIn, ignoreUnhandled, pulumiPath, whyNoEngine } from "./engine";
import { Folder } from "../support/folder";
import { type Adapter, adapters, projectRoot } from "../support/host";
import { type Settings, settingsOf } from "../support/project";
import { descendantsOf, ended, type Process, runAsync } from "../support/processes";

/** What a program imports: the SDK's classes, or the plugin's resources under the same names. */
export type Rekey = typeof import("pulumi-rekey");

/** A program. What it returns are the outputs of the stack. */
export type Program = (rekey: Rekey) => Record<string, unknown> | void | Promise<Record<string, unknown>>;

/** Describes specs on the real engine; skips them, with the reason, if there is none. */
export function onEngine(title: string, specs: () => void): void {
  if (whyNoEngine !== undefined) return void it.skip(`${title} (skipped: ${whyNoEngine})`);
  describe(`${title}, on the real engine`, function () {
    this.timeout(300_000);
    ignoreUnhandled();
    after(async () => {
      for (const stack of open) await stack.end();
    });
    specs();
  });
}

/** Describes specs on the real engine for programs that use the SDK, and for the same programs with the plugin. */
export function onEngineByAdapter(title: string, specs: (adapter: Adapter) => void): void {
  for (const adapter of adapters) onEngine(`${title}, by the ${adapter} adapter`, () => specs(adapter));
}

/** The result of an operation, failed or not. */
export interface Result {
  readonly succeeded: boolean;
  readonly outputs: Readonly<Record<string, { readonly value: unknown; readonly secret: boolean }>>;
  /** Resources by what was done to them: create, update, same, replace, delete. */
  readonly changes: Readonly<Record<string, number | undefined>>;
  /** Everything that was printed. */
  readonly printed: string;
}

/** A saved resource, and an operation that was interrupted; secrets in plain. */
interface SavedResource {
  readonly urn: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly initErrors?: readonly string[];
  readonly replacementTrigger?: unknown;
  /** Whether it was replaced, and waits for its deletion. */
  readonly delete?: boolean;
}
interface Pending {
  readonly type: string;
  readonly resource: SavedResource;
}

export interface StackOptions {
  /** Default: dynamic. */
  readonly adapter?: Adapter;
  readonly platform?: PlatformOptions;
  /** Further configuration; undefined leaves out what a platform needs. A name without a namespace is the project's. */
  readonly config?: Readonly<Record<string, Settings[string] | undefined>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What is killed: the engine, its provider, or both at once. */
export type Victim = "engine" | "provider" | "both";

const open = new Set<EngineStack>();

// An engine may get the port of one that was killed. gRPC would believe its last failure to connect there, Pulumi takes
// that for a program without resources, and the `up` would succeed and delete everything.
const { grpcClientOptions } = runtime as unknown as { grpcClientOptions: Record<string, unknown> };
assert.ok("grpc.max_receive_message_length" in grpcClientOptions);
grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;

/** A stack of an inline program, with its state in a folder of its own, and configured for a platform of its own. */
export class EngineStack extends Folder {
  static #count = 0;
  readonly name = `dev-${process.pid}-${++EngineStack.#count}`;
  #stack!: automation.Stack;

  private constructor(
    readonly platform: Platform,
    private readonly environment: StackOptions["environment"],
  ) {
    super();
    open.add(this);
  }

  static async start(program: Program, options: StackOptions = {}): Promise<EngineStack> {
    const stack = new EngineStack(await startPlatform(options.platform), options.environment);
    for (const name of ["backend", "home/bin"]) mkdirSync(stack.path(name), { recursive: true });
    symlinkSync(join(projectRoot, "node_modules"), stack.path("node_modules"), "junction");
    symlinkSync(pulumiPath, stack.path("home", "bin", "pulumi"));
    const rekey = () => require(options.adapter === "plugin" ? "../fixtures/nativeSdk" : "pulumi-rekey") as Rekey;
    stack.#stack = await automation.LocalWorkspace.createStack(
      { stackName: stack.name, projectName: "program", program: async () => program(rekey()) },
      {
        workDir: stack.directory,
        // Without `main`, which would be this process's folder: processes run in that of the stack.
        projectSettings: { name: "program", runtime: "nodejs" },
        envVars: stack.variables,
        pulumiCommand: await automation.PulumiCommand.get({ root: stack.path("home") }),
      },
    );
    const settings = Object.entries({ ...settingsOf(stack.platform), ...options.config });
    await stack.configure(Object.fromEntries(settings.filter(([, value]) => value !== undefined)));
    return stack;
  }

  /** Sets values of the stack's configuration. */
  configure(settings: Settings): Promise<void> {
    const values = Object.entries(settings).map(([name, value]) => {
      return [name, typeof value === "string" ? { value } : { value: value.secret, secret: true }] as const;
    });
    return this.#stack.setAllConfig(Object.fromEntries(values));
  }

  preview(options: automation.PreviewOptions = {}): Promise<Result> {
    return this.#operate((more) => this.#stack.preview({ ...options, ...more }));
  }

  up(options: automation.UpOptions = {}): Promise<Result> {
    return this.#operate((more) => this.#stack.up({ ...options, ...more }));
  }

  refresh(options: automation.RefreshOptions = {}): Promise<Result> {
    return this.#operate((more) => this.#stack.refresh({ ...options, ...more }));
  }

  destroy(options: automation.DestroyOptions = {}): Promise<Result> {
    return this.#operate((more) => this.#stack.destroy({ ...options, ...more }));
  }

  /** Runs a command of `pulumi` that needs no program. */
  run(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const all = [...args, "--stack", this.name, "--non-interactive", "--color", "never"];
    return runAsync(pulumiPath, all, { cwd: this.directory, env: this.variables });
  }

  /** What is saved, secrets in plain: the state shows them as JSON texts. */
  async saved(): Promise<{ resources: readonly SavedResource[]; pending: readonly Pending[] }> {
    const deployment: unknown = (await this.#stack.exportStack()).deployment;
    const plain = (_: string, value: { plaintext?: string } | null): unknown =>
      value?.plaintext === undefined ? value : JSON.parse(value.plaintext);
    const { resources = [], pending_operations: pending = [] } = JSON.parse(JSON.stringify(deployment), plain) as {
      resources?: SavedResource[];
      pending_operations?: Pending[];
    };
    return { resources, pending };
  }

  /** The saved outputs of a resource. */
  async outputsOf(name: string): Promise<Record<string, unknown> & { readonly initErrors: readonly string[] }> {
    const { resources } = await this.saved();
    const { outputs, initErrors = [] } = resources.find(({ urn }) => urn.endsWith(`::${name}`)) ?? assert.fail(name);
    return { ...outputs, initErrors };
  }

  /** The processes of the operation that runs: the engine, and those that it started. None if none runs. */
  get processes(): readonly Process[] {
    const engine = descendantsOf(process.pid).find(({ args }) => args.includes(`--stack ${this.name}`));
    return engine ? [engine, ...descendantsOf(engine.pid)] : [];
  }

  /** Sends ^C to the operation that runs. */
  interrupt(): void {
    const [engine] = this.processes;
    if (engine) process.kill(engine.pid, "SIGINT");
  }

  /** Kills processes of the operation that runs. @returns those that it leaves behind; undefined if none was killed */
  kill(victim: Victim): readonly Process[] | undefined {
    const [engine] = this.processes;
    if (!engine) return undefined;
    // It must start nothing meanwhile.
    process.kill(engine.pid, "SIGSTOP");
    const children = descendantsOf(engine.pid);
    const providers = children.filter(({ args }) => /dynamic-provider|plugin\/main\.js/.test(args));
    if (victim !== "engine") endEach(providers);
    process.kill(engine.pid, victim === "provider" ? "SIGCONT" : "SIGKILL");
    if (victim === "provider" && providers.length === 0) return undefined;
    return victim === "engine" ? children : [];
  }

  /**
   * Does what docs/runbook.md tells users to do after a kill. A killed engine leaves its lock. If it was writing the
   * attributes of a file of the state, it also leaves them empty, and the state cannot be loaded without them ("failed
   * to load checkpoint: EOF").
   */
  async unlock(): Promise<void> {
    for (const name of readdirSync(this.stateFolder)) {
      const file = join(this.stateFolder, name);
      if (name.endsWith(".attrs") && statSync(file).size === 0) rmSync(file);
    }
    const { code, output } = await this.run("cancel", "--yes");
    assert.equal(code, 0, output);
  }

  /** Closes the platform and removes the folder. `onEngine` ends those that are left when its specs are done. */
  async end(): Promise<void> {
    open.delete(this);
    await this.platform.close();
    this.remove();
  }

  get stateFolder(): string {
    return this.path("backend/.pulumi/stacks/program");
  }

  /** The environment of the commands. */
  get variables(): Record<string, string> {
    return { ...environmentIn(this), ...this.environment };
  }

  async #operate(act: Operation): Promise<Result> {
    let printed = "";
    const print = (text: string) => void (printed += text);
    try {
      const { changeSummary, summary, outputs = {} } = await act({ onOutput: print, onError: print });
      return { succeeded: true, changes: changeSummary ?? summary?.resourceChanges ?? {}, outputs, printed };
    } catch (error) {
      return { succeeded: false, changes: {}, outputs: {}, printed: printed || String(error) };
    }
  }
}

type Operation = (
  options: Pick<automation.UpOptions, "onOutput" | "onError">,
) => Promise<Partial<automation.PreviewResult & automation.UpResult>>;

/** The values of a stack's outputs. */
export function valuesOf({ outputs }: Pick<Result, "outputs">): Record<string, unknown> {
  return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
}

/** The result of an operation that must succeed. */
export async function succeeds(operation: Promise<Result>): Promise<Result> {
  const result = await operation;
  assert.ok(result.succeeded, result.printed);
  return result;
}

/** The result of an operation that must fail. @param patterns must all match its output */
export async function fails(operation: Promise<Result>, ...patterns: readonly RegExp[]): Promise<Result> {
  const result = await operation;
  assert.ok(!result.succeeded, result.printed);
  for (const pattern of patterns) assert.match(result.printed, pattern);
  return result;
}

/** Kills the processes that a killed engine left behind, and resolves when they have ended. */
export async function endAll(processes: readonly Process[]): Promise<void> {
  endEach(processes);
  await ended(processes);
}

function endEach(processes: readonly Process[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
