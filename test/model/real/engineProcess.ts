import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { projectRoot } from "../../support/host";

/** Who is struck: the engine, the provider host or the program is killed; or the engine gets a ^C. */
export type Victim = "engine" | "host" | "program" | "interrupt";

/** One operation of `rekey local`, in a process of its own. */
export class EngineProcess {
  readonly ended: Promise<{ readonly code: number | null; readonly printed: string }>;
  readonly #child;

  constructor(operation: string, directory: string, env: NodeJS.ProcessEnv) {
    const flags = operation === "preview" ? [] : ["--yes", "--skip-preview"];
    const args = [join(projectRoot, "dist/cli/main.js"), "local", operation, ...flags, "-C", directory];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (printed += text));
    this.ended = once(child, "close").then(([code]) => ({ code: code as number | null, printed }));
    this.#child = child;
  }

  /** @returns whether a request that is under way can still be answered and saved. */
  async strike(victim: Victim): Promise<boolean> {
    if (victim === "interrupt") return this.#child.kill("SIGINT");
    if (victim === "engine") {
      const gone = once(this.#child, "exit");
      if (this.#child.kill("SIGKILL")) await gone;
      return false;
    }
    for (const pid of this.#childrenThatRun(victim === "host" ? "dynamic-provider" : "cmd/run"))
      process.kill(pid, "SIGKILL");
    return victim === "program";
  }

  #childrenThatRun(script: string): number[] {
    const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
    return lines
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
      .filter(([, , parent, args]) => Number(parent) === this.#child.pid && args?.includes(script))
      .map(([, pid]) => Number(pid));
  }
}
