import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freshnessMs } from "../../provider/engine/liveness";
import { type Engine } from "./engine";
import { descendantsOf, ended, type Process } from "./processes";

export const passphrase = "test";

/** What both engines need to work in a project's folder, with the state in it. */
export function engineEnvironment(directory: string): Record<string, string> {
  return {
    PULUMI_BACKEND_URL: `file://${join(directory, "backend")}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
}

/** What is killed: the engine, its provider host, the program, or all of them at once. */
export type Victim = "engine" | "everyone" | "host" | "program";

export interface Ended {
  readonly code: number | null;
  /** Both streams, in the order in which they came. */
  readonly printed: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command of an engine, in a process that a test may kill. */
export class EngineProcess {
  /** Resolves when the engine has ended, and the processes that a killed engine left behind, unless they go on. */
  readonly ended: Promise<Ended>;
  readonly #child;
  readonly #texts = { printed: "", stdout: "", stderr: "" };
  #left: readonly Process[] = [];

  constructor(
    private readonly engine: Engine,
    args: readonly string[],
    directory: string,
    environment: NodeJS.ProcessEnv = {},
  ) {
    const [executable, ...first] = engine.command;
    const env = { ...process.env, ...engineEnvironment(directory), ...environment };
    const child = spawn(executable, [...first, ...args], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
    const texts = this.#texts;
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].setEncoding("utf8").on("data", (text: string) => {
        texts.printed += text;
        texts[stream] += text;
      });
    }
    this.ended = once(child, "close").then(async ([code]) => {
      if (!engine.leavesOrphans) await ended(this.#left);
      return { code: code as number | null, ...texts };
    });
    this.#child = child;
  }

  /** What was printed so far. */
  get printed(): string {
    return this.#texts.printed;
  }

  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends SIGINT, as ^C does. @returns whether the engine was running */
  interrupt(): boolean {
    return this.#child.kill("SIGINT");
  }

  /** Kills now. @returns the processes that end by that; none if the victim did not run */
  kill(victim: Victim): readonly Process[] {
    if (victim === "host" || victim === "program") {
      const provider = this.engine.native ? "provider/engine/plugin/main.js" : "dynamic-provider";
      const script = victim === "host" ? provider : "cmd/run";
      this.#left = descendantsOf(this.#child.pid).filter(({ args }) => args.includes(script));
      for (const { pid } of this.#left) process.kill(pid, "SIGKILL");
      return this.#left;
    }
    if (!this.#child.kill("SIGSTOP")) return [];
    // It must start nothing while its children are looked up.
    this.#left = descendantsOf(this.#child.pid);
    if (victim === "everyone") for (const { pid } of this.#left) process.kill(pid, "SIGKILL");
    this.#child.kill("SIGKILL");
    return [{ pid: this.#child.pid ?? 0, parent: process.pid, args: "" }, ...this.#left];
  }

  /** Kills the engine, and resolves when the host no longer relies on its last check of it. */
  async killEngine(): Promise<void> {
    const gone = once(this.#child, "exit");
    if (this.kill("engine").length > 0) await gone;
    // A timer may end a millisecond early.
    await wait(freshnessMs + 5);
  }

  /** Kills what a killed engine left behind. */
  async killOrphans(): Promise<void> {
    for (const { pid } of this.#left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
    await ended(this.#left);
  }
}

/** Runs a command of an engine to its end. */
export function runEngine(...command: ConstructorParameters<typeof EngineProcess>): Promise<Ended> {
  return new EngineProcess(...command).ended;
}
