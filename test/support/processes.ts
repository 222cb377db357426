import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

/** The running processes of this machine, without zombies. */
function running(): Process[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+([^Z]\S*)\s+(.*)$/.exec(line))
    .filter((found) => found !== null)
    .map(([, pid, parent, , args = ""]) => ({ pid: Number(pid), parent: Number(parent), args }));
}

/** The children, and the children of each of them: the CLI starts the provider host through another process. */
export function descendantsOf(pid: number | undefined, among = running()): Process[] {
  return among.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...descendantsOf(child.pid, among)]);
}

/** Resolves when all of them have ended. */
export async function ended(processes: readonly Process[]): Promise<void> {
  const pids = new Set(processes.map(({ pid }) => pid));
  for (const began = Date.now(); running().some(({ pid }) => pids.has(pid)); await wait(50)) {
    if (Date.now() - began > 300_000) throw new Error(`of ${[...pids].join(", ")} some still run after five minutes`);
  }
}

/** The path of a program on PATH. */
export function findOnPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Runs a command without blocking the servers of the test. */
export function runAsync(
  command: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env?: Record<string, string> },
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, output }));
  });
}

/** The same for one that must succeed. @returns what it printed */
export async function runToEnd(command: string, ...more: [readonly string[], Parameters<typeof runAsync>[2]]) {
  const { code, output } = await runAsync(command, ...more);
  if (code !== 0) throw new Error(`${command} ${more[0].join(" ")} ended with ${code}:\n${output}`);
  return output;
}
