import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The measurements of a command. */
export interface Measured {
  readonly seconds: number;
  readonly printed: string;
  /** Peak memory of the provider host in bytes; undefined if the command started none, or not for long enough. */
  readonly hostPeak: number | undefined;
}

const hostMemory = join(tmpdir(), `rekey-bench-memory-${process.pid}`);

/** Runs a command. @throws Error with its output if it fails */
export async function measure(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> | undefined },
): Promise<Measured> {
  const env = {
    ...process.env,
    ...options.env,
    NODE_OPTIONS: `--require ${JSON.stringify(join(__dirname, "peakMemory.cjs"))}`,
    BENCH_HOST_MEMORY: hostMemory,
  };
  rmSync(hostMemory, { force: true });
  const began = performance.now();
  const child = spawn(command, args, { cwd: options.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  }
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) {
    throw new Error(`${[command, ...args].join(" ")} failed (exit code ${code}):\n${printed.slice(-4000)}`);
  }
  return { seconds, printed, hostPeak: readHostPeak() };
}

function readHostPeak(): number | undefined {
  try {
    return Number(readFileSync(hostMemory, "utf8")) * 1024 || undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(hostMemory, { force: true });
  }
}

/** Whether a command is on PATH. */
export function isOnPath(command: string, versionArgument: string): boolean {
  return spawnSync(command, [versionArgument], { stdio: "ignore" }).status === 0;
}
