import { spawn } from "node:child_process";

/** Runs a command without blocking the servers of the test. `signal` kills it with its children. */
export function runAsync(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string>; signal?: AbortSignal },
): Promise<{ code: number | null; output: string }> {
  const { cwd, env, signal } = options;
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, detached: signal !== undefined });
  signal?.addEventListener("abort", () => {
    const runs = child.exitCode === null && child.signalCode === null;
    if (runs && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, output }));
  });
}
