import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freshnessMs } from "../../../provider/engineWatch";
import { projectRoot } from "../../support/host";
import { childrenOf, ended, type Process } from "../../support/processes";

/** Who is struck: the engine, the provider host or the program is killed; or the engine gets a ^C. */
export type Victim = "engine" | "host" | "program" | "interrupt";

/** One operation of `rekey-local`, in a process of its own. */
export class EngineProcess {
  /** Resolves when the engine has ended, and the processes that a killed engine left, too. */
  readonly ended: Promise<{ readonly code: number | null; readonly printed: string }>;
  readonly #child;
  #orphans: readonly Process[] = [];

  constructor(operation: string, directory: string, env: NodeJS.ProcessEnv) {
    const flags = operation === "preview" ? [] : ["--yes", "--skip-preview"];
    const args = [join(projectRoot, "local/dist/cli/main.js"), operation, ...flags, "-C", directory];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (printed += text));
    this.ended = once(child, "close").then(async ([code]) => {
      await ended(this.#orphans);
      return { code: code as number | null, printed };
    });
    this.#child = child;
  }

  /** @returns whether a request that is under way can still be answered and saved. */
  async strike(victim: Victim): Promise<boolean> {
    if (victim === "interrupt") return this.#child.kill("SIGINT");
    if (victim === "engine") {
      this.#orphans = this.children();
      const gone = once(this.#child, "exit");
      if (this.#child.kill("SIGKILL")) await gone;
      // For so long the host may rely on its last look at the engine. (A timer may end a millisecond early.)
      await wait(freshnessMs + 5);
      return false;
    }
    const script = victim === "host" ? "dynamic-provider" : "cmd/run";
    for (const { pid } of this.children().filter(({ args }) => args.includes(script))) process.kill(pid, "SIGKILL");
    return victim === "program";
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @returns whether the engine still ran */
  signal(signal: NodeJS.Signals): boolean {
    return this.#child.kill(signal);
  }

  /** The program and the provider host, as far as they run. */
  children(): Process[] {
    return childrenOf(this.pid);
  }
}
