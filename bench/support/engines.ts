import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { isOnPath, type Measured, measure } from "./run";

const root = resolve(__dirname, "../..");

/** An engine's command line, as a user starts it. */
export interface BenchEngine {
  readonly name: string;
  /** Why it cannot run here; undefined where it can. */
  readonly unavailable: string | undefined;
  /** Makes a new stack for the project in a folder. */
  open(directory: string, environment: Readonly<Record<string, string>>, name?: string): Promise<BenchStack>;
}

interface BenchStack {
  preview(): Promise<Measured>;
  up(): Promise<Measured>;
  /** Bytes of the resources in the state, without what is only layout. */
  stateSize(): Promise<number>;
}

const secretsOfStack = { PULUMI_CONFIG_PASSPHRASE: "bench", PULUMI_SKIP_UPDATE_CHECK: "true" };

export const localEngine: BenchEngine = {
  name: "local engine",
  unavailable: undefined,
  open: async (cwd, environment, name = "dev") => {
    const env = { ...secretsOfStack, ...environment };
    const rekey = join(root, "local", "dist", "cli", "main.js");
    return stackOf((...args) => measure(process.execPath, [rekey, ...args, "--stack", name], { cwd, env }), ["export"]);
  },
};

export const pulumiCli: BenchEngine = {
  name: "pulumi CLI",
  unavailable: isOnPath("pulumi", "version") ? undefined : "there is no `pulumi` on PATH",
  open: async (cwd, environment, name = "dev") => {
    const backend = join(cwd, "backend");
    mkdirSync(backend, { recursive: true });
    const env = { ...secretsOfStack, PULUMI_BACKEND_URL: `file://${backend}`, ...environment };
    const pulumi = (...args: string[]) =>
      measure("pulumi", [...args, "--stack", name, "--non-interactive"], { cwd, env });
    await pulumi("stack", "init");
    return stackOf(pulumi, ["stack", "export"]);
  },
};

function stackOf(run: (...args: string[]) => Promise<Measured>, exportState: readonly string[]): BenchStack {
  return {
    preview: () => run("preview"),
    up: () => run("up", "--yes", "--skip-preview"),
    async stateSize() {
      const { printed } = await run(...exportState);
      const { deployment } = JSON.parse(printed) as { deployment: { resources: unknown[] } };
      return Buffer.byteLength(JSON.stringify(deployment.resources));
    },
  };
}
