import { availableParallelism } from "node:os";
import { describeExit, startProgram } from "./program";
import { type ConfigValue, type Project } from "./config";
import { Deployment } from "./deployment";
import { DynamicHost } from "./host";
import { Monitor } from "./monitor";
import { type Crypter } from "./secrets";
import { Snapshot } from "./state";
import { type Changes, type Deployment as State, type Listener, providerType } from "./types";
import { messageOf } from "./errors";
import { type PropertyMap, Secret } from "./values";

export interface RunOptions {
  readonly kind: "preview" | "up" | "refresh" | "destroy";
  readonly dryRun: boolean;
  readonly refresh: boolean;
  readonly clearPendingCreates: boolean;
  readonly project: Project;
  readonly stack: string;
  readonly env: NodeJS.ProcessEnv;
  readonly config: Readonly<Record<string, ConfigValue>>;
  readonly state: State;
  readonly statePath: string;
  readonly crypter: Crypter;
  readonly parallel: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly emit: Listener;
}

export interface RunResult {
  readonly succeeded: boolean;
  readonly changes: Changes;
  /** The state after the operation; of a preview, what it would be. */
  readonly state: State;
  /** What the program gave as the stack's outputs; undefined when it did not come so far. */
  readonly outputs: PropertyMap | undefined;
}

/** Runs one operation from its first look at the state to the end of its processes. */
export async function runOperation(options: RunOptions): Promise<RunResult> {
  const { state, dryRun, emit, kind } = options;
  const snapshot = new Snapshot(
    [...state.resources],
    state.pending,
    options.crypter,
    dryRun ? undefined : options.statePath,
  );
  // Before anything is touched: what cannot be written now could not be written later.
  await snapshot.save();
  const usesProgram = kind === "preview" || kind === "up";
  const current = configInputs(options.config);
  const saved = state.resources.find(({ type, delete: gone }) => type === providerType && !gone)?.inputs;
  const hosts = new Hosts(options, usesProgram ? current : (saved ?? current));
  const deployment: Deployment = new Deployment({
    dryRun,
    snapshot,
    emit,
    host: () => hosts.get(monitor.address),
    project: options.project.name,
    stack: options.stack,
    olds: [...state.resources],
    config: current,
    parallel: options.parallel ?? availableParallelism() * 4,
  });
  const monitor = await Monitor.start(deployment);
  const cancel = (): void => deployment.fail("canceled");
  options.signal?.addEventListener("abort", cancel, { once: true });
  if (options.signal?.aborted) cancel();
  try {
    if (options.clearPendingCreates) snapshot.clearInterrupted();
    else if (state.pending.length > 0 && !dryRun && kind !== "refresh")
      deployment.report("warning", pendingWarning(state));
    // The host takes its time to start: it may do so beside the program.
    if (state.resources.some(({ custom, type }) => custom && type !== providerType))
      hosts.get(monitor.address).catch(() => undefined);
    if (options.refresh) await deployment.refresh(kind === "refresh");
    if (deployment.outcome === "running") {
      if (usesProgram) await runProgram(options, deployment, monitor.address);
      else if (kind === "destroy") await deployment.finish();
      else deployment.outcome = "succeeded";
    }
    await deployment.end();
    const verdict =
      deployment.outcome === "failed" ? "failed" : deployment.outcome === "canceled" ? "canceled" : undefined;
    if (verdict) deployment.report("error", `${dryRun ? "preview" : "update"} ${verdict}`);
  } finally {
    options.signal?.removeEventListener("abort", cancel);
    await hosts.stop();
    monitor.stop();
  }
  const { changes } = deployment.applier;
  return {
    succeeded: deployment.outcome === "succeeded",
    changes,
    state: snapshot.deployment,
    outputs: deployment.outputs,
  };
}

/** Runs the program to its end, or ends it when the operation stops first. */
async function runProgram(options: RunOptions, deployment: Deployment, monitor: string): Promise<void> {
  const parallel = options.parallel ?? availableParallelism() * 4;
  const program = startProgram({ ...options, monitor, parallel }, (line) => deployment.report("info", line));
  const exited = program.exit.then(
    async ({ code, signal }) => {
      if (code === 0) await deployment.finish();
      else deployment.fail("refused", describeExit(code, signal));
    },
    (error: unknown) => deployment.fail("refused", messageOf(error)),
  );
  await Promise.race([exited, deployment.stopped]);
  // Whoever still waits for a resource is turned away; a program ends by itself then.
  await deployment.end();
  await Promise.race([program.exit, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  await program.stop(2000);
}

/** The provider host of an operation; started once, when it is needed. */
class Hosts {
  private host: Promise<DynamicHost> | undefined;

  constructor(
    private readonly options: RunOptions,
    private readonly config: PropertyMap,
  ) {}

  get(engine: string): Promise<DynamicHost> {
    const { project, env, emit } = this.options;
    this.host ??= DynamicHost.start({ engine, cwd: project.programDirectory, env, config: this.config }, (message) =>
      emit({ kind: "diagnostic", severity: "info", message }),
    );
    return this.host;
  }

  async stop(): Promise<void> {
    const host = await this.host?.catch(() => undefined);
    await host?.stop();
  }
}

function configInputs(config: Readonly<Record<string, ConfigValue>>): PropertyMap {
  return Object.fromEntries(
    Object.entries(config).map(([key, { value, secret }]) => [key, secret ? new Secret(value) : value]),
  );
}

function pendingWarning(state: State): string {
  const lines = state.pending.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`);
  return (
    `Attempting to deploy or update resources with ${state.pending.length} pending operations from previous deployment.\n` +
    lines.join("") +
    "These resources are in an unknown state because the engine was interrupted while waiting for changes to these resources to " +
    "complete. Confirm at the provider whether they were made. Then a refresh clears them; interrupted creates are cleared by " +
    "`refresh --clear-pending-creates`."
  );
}
