import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type Readable } from "node:stream";
import { projectRoot } from "../../support/host";

/** Runs JavaScript in a process of its own, in the root of the project, whose TypeScript modules it may load. */
export function runSource(
  code: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const node = ["-r", "ts-node/register/transpile-only", "-e", code, "--", ...args];
  const all = { ...process.env, ...env };
  return spawn(process.execPath, node, { cwd: projectRoot, env: all, stdio: ["ignore", "pipe", "pipe"] });
}

/** Starts a platform in a process, prints the address of a database's Redis, and kills it. @returns the address */
export async function killedPlatform(options: object, database: string): Promise<string> {
  const child = runSource(`require("./local/platform").startPlatform(${JSON.stringify(options)}).then((platform) =>
    console.log(platform.database(${JSON.stringify(database)}).redisUrl))`);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGKILL");
  await once(child, "exit");
  return line.toString().trim();
}
