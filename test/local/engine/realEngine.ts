import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { type ExportedDeployment } from "../../../local/engine";
import { passphrase, type TestProject } from "./project";

/** A `pulumi` CLI on PATH; undefined where there is none. */
export function realEngineVersion(): string | undefined {
  const { status, stdout } = spawnSync("pulumi", ["version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Runs a test project's stack `dev` with the CLI, its state in a folder of the project. */
export class RealEngine {
  constructor(private readonly project: TestProject) {
    mkdirSync(project.path("backend"));
    this.run(["stack", "init", "dev"]);
  }

  up(flags: string[] = [], env: Record<string, string> = {}): { exit: number; text: string } {
    return this.run(["up", "--yes", "--skip-preview", "--parallel", "1", ...flags], env);
  }

  run(args: string[], env: Record<string, string> = {}): { exit: number; text: string } {
    const { status, stdout, stderr } = spawnSync("pulumi", ["--non-interactive", "--color", "never", ...args], {
      cwd: this.project.directory,
      encoding: "utf8",
      env: {
        ...process.env,
        PULUMI_BACKEND_URL: `file://${this.project.path("backend")}`,
        PULUMI_CONFIG_PASSPHRASE: passphrase,
        PULUMI_SKIP_UPDATE_CHECK: "true",
        TRACE_LOG: this.project.path("calls.log"),
        ...env,
      },
    });
    return { exit: status ?? -1, text: stdout + stderr };
  }

  export(showSecrets: boolean): ExportedDeployment {
    const { text } = this.run(["stack", "export", ...(showSecrets ? ["--show-secrets"] : [])]);
    return JSON.parse(text.slice(text.indexOf("{"))) as ExportedDeployment;
  }
}

/** The counts under `Resources:`. */
export function summaryOf(text: string): string[] {
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.trim() === "Resources:");
  if (from < 0) return [];
  const rest = lines.slice(from + 1);
  return rest
    .slice(
      0,
      rest.findIndex((line) => line.trim() === ""),
    )
    .map((line) => line.trim());
}
