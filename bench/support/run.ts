import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The measurements of a command. */
export interface Measured {
  readonly seconds: number;
  /** CPU time of the command and of all processes that it started and waited for. */
  readonly cpuSeconds: number;
  readonly printed: string;
  /** Peak memory of the provider host in bytes; undefined if the command started none, or not for long enough. */
  readonly hostPeak: number | undefined;
}

const hostMemory = join(tmpdir(), `rekey-bench-memory-${process.pid}`);

/** `times` prints the CPU time of the shell and, on a second line, that of its children: `0m1.50s 0m0.25s`. */
const withTimes = '"$@"; code=$?; times >&3; exit $code';

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
  const stdio = ["ignore", "pipe", "pipe", "pipe"] as const;
  const child = spawn("sh", ["-c", withTimes, "sh", command, ...args], { cwd: options.cwd, env, stdio: [...stdio] });
  let printed = "";
  let times = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  }
  child.stdio[3]?.on("data", (chunk: Buffer) => (times += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) {
    throw new Error(`${[command, ...args].join(" ")} failed (exit code ${code}):\n${printed.slice(-4000)}`);
  }
  return { seconds, cpuSeconds: cpuSecondsIn(times), printed, hostPeak: readHostPeak() };
}

function cpuSecondsIn(times: string): number {
  const ofChildren = times.split("\n")[1] ?? "";
  const [user = NaN, system = NaN] = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return user + system;
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
