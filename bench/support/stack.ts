import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Project } from "../../test/support/project";
import { type Measured, measure } from "./run";

/** How rows name the engine. */
export const engine = "pulumi CLI";

/** Why programs cannot be measured here; undefined if they can. */
export const whySkipped = reasonToSkip();

/** A stack whose operations are measured with the `pulumi` CLI. */
export interface BenchStack {
  preview(): Promise<Measured>;
  up(): Promise<Measured>;
  /** Size of the resources in the state in bytes, without white space. */
  stateSize(): Promise<number>;
}

/** Creates a stack of a project, with its state in the project's folder. */
export async function openBenchStack(
  { directory }: Project,
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchStack> {
  const env = {
    PULUMI_BACKEND_URL: `file://${join(directory, "backend")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...environment,
  };
  const always = ["--non-interactive", "--color", "never", "--stack", "dev"];
  const run = (...args: string[]) => measure("pulumi", [...args, ...always], { cwd: directory, env });
  mkdirSync(join(directory, "backend"), { recursive: true });
  await run("stack", "init");
  return {
    preview: () => run("preview"),
    up: () => run("up", "--yes", "--skip-preview"),
    stateSize: async () => {
      const { printed } = await run("stack", "export");
      const { deployment } = JSON.parse(printed.slice(printed.indexOf("{"))) as { deployment: { resources?: unknown } };
      return Buffer.byteLength(JSON.stringify(deployment.resources));
    },
  };
}

function reasonToSkip(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders.map((folder) => join(folder, "pulumi")).find((path) => existsSync(path));
  if (found === undefined || spawnSync("pulumi", ["version"]).status !== 0) return "no `pulumi` on PATH";
  const hosts = [dirname(realpathSync(found)), ...folders].map((folder) => join(folder, "pulumi-language-nodejs"));
  return hosts.some((path) => existsSync(path)) ? undefined : "`pulumi` has no language host for Node";
}
