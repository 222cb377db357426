import { describeExit, type ProgramOptions, startProgram } from "./program";
import { Deployment } from "./deployment";
import { messageOf } from "./errors";
import { type StackState } from "./format";
import { DynamicHost } from "./host";
import { Monitor } from "./monitor";
import { type Crypter } from "./secrets";
import { Snapshot } from "./state";
import { type Changes, type Listener } from "./types";
import { providerType } from "./urns";
import { type PropertyMap, secret } from "./values";

export interface RunOptions extends ProgramOptions {
  /** A refresh and a destroy do not run the program. */
  readonly kind: "preview" | "up" | "refresh" | "destroy";
  readonly refresh: boolean;
  readonly clearPendingCreates: boolean;
  readonly state: StackState;
  readonly statePath: string;
  readonly crypter: Crypter;
  readonly unsavedChangeAdvice: string;
  readonly signal: AbortSignal | undefined;
  readonly emit: Listener;
}

interface RunResult {
  readonly succeeded: boolean;
  readonly changes: Changes;
  /** The state after the operation; for a preview, the expected state. */
  readonly state: StackState;
  /** The stack outputs of the program; undefined if it did not register them. */
  readonly outputs: PropertyMap | undefined;
}

/** Runs one operation, until its processes have ended. */
export async function runOperation(options: RunOptions): Promise<RunResult> {
  const { state, dryRun, emit, kind, signal, project, env, unsavedChangeAdvice } = options;
  const snapshot = new Snapshot(state, options.crypter, dryRun ? undefined : options.statePath, unsavedChangeAdvice);
  // Check that the state can be written before anything is changed.
  await snapshot.save();
  const usesProgram = kind === "preview" || kind === "up";
  const settings = Object.entries(options.config);
  const config = Object.fromEntries(
    settings.map(([key, { value, secret: hide }]) => [key, hide ? secret(value) : value]),
  );
  const saved = state.resources.find(({ type, delete: gone }) => type === providerType && !gone)?.inputs;
  const report = (message: string): void => emit({ kind: "diagnostic", severity: "info", message });
  let started: Promise<DynamicHost> | undefined;
  const host = (): Promise<DynamicHost> => {
    const given = usesProgram ? config : (saved ?? config);
    const { programDirectory: cwd } = project;
    started ??= DynamicHost.start({ engine: monitor.address, cwd, env, config: given, unsavedChangeAdvice }, report);
    return started;
  };
  const deployment: Deployment = new Deployment({ ...options, snapshot, host, project: project.name, config });
  const monitor = await Monitor.start(deployment);
  const cancel = (): void => deployment.fail("canceled");
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    if (options.clearPendingCreates) snapshot.clearInterrupted();
    else if (state.pending.length > 0 && !dryRun && kind !== "refresh") {
      deployment.report("warning", pendingWarning(state));
    }
    // The host starts slowly, so start it in parallel with the program.
    if (state.resources.some(({ custom, type }) => custom && type !== providerType)) host().catch(() => undefined);
    if (options.refresh) await deployment.refresh(kind === "refresh");
    if (deployment.outcome === "running" && usesProgram) await runProgram(options, deployment, monitor.address);
    if (deployment.outcome === "running" && kind === "destroy") await deployment.finish();
    if (deployment.outcome === "running") deployment.outcome = "succeeded";
    await deployment.end();
    const { outcome } = deployment;
    if (outcome === "failed" || outcome === "canceled") {
      deployment.report("error", `${dryRun ? "preview" : "update"} ${outcome}`);
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    await (await started?.catch(() => undefined))?.stop();
    monitor.stop();
  }
  const { outcome, outputs, applier } = deployment;
  return { succeeded: outcome === "succeeded", changes: applier.changes, state: snapshot.state, outputs };
}

/** Runs the program, and stops it if the operation ends first. */
async function runProgram(options: RunOptions, deployment: Deployment, monitor: string): Promise<void> {
  const program = startProgram(options, monitor, (line) => deployment.report("info", line));
  let wasStopped = false;
  const exited = program.exit.then(
    async ({ code, signal }) => {
      if (code === 0) await deployment.finish();
      else deployment.fail("refused", wasStopped ? undefined : describeExit(code, signal));
    },
    (error: unknown) => deployment.fail("refused", messageOf(error)),
  );
  await Promise.race([exited, deployment.stopped]);
  // Waiting registrations are rejected, which normally ends the program.
  await deployment.end();
  await Promise.race([program.exit, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  wasStopped = true;
  await program.stop(2000);
}

/** The warning about steps that a killed operation left pending. */
function pendingWarning(state: StackState): string {
  const lines = state.pending.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`);
  return (
    `Attempting to deploy or update resources with ${state.pending.length} pending operations from previous deployment.\n` +
    lines.join("") +
    "These resources are in an unknown state because the engine was interrupted while waiting for changes to these resources to " +
    "complete. Confirm at the provider whether they were made. Then a refresh clears them; interrupted creates are cleared by " +
    "`refresh --clear-pending-creates`."
  );
}
