import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { EngineError } from "./errors";

/**
 * Runs in every child before its own code, and ends the child when the engine's end of a pipe closes. So if the engine
 * is killed, even before this runs, no provider makes further changes that are not saved. Processes that the child
 * forks inherit the code, but not the variable: it does nothing there.
 */
const guard = `import net from "node:net";
if (process.env.LOCAL_ENGINE_PIPE) {
  delete process.env.LOCAL_ENGINE_PIPE;
  const pipe = new net.Socket({ fd: 3 });
  pipe.on("close", () => process.exit(1)).on("error", () => {}).resume().unref();
}`;

export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeArgs?: readonly string[];
}

/** A process of the SDK. */
export class Child {
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  private constructor(private readonly process: ChildProcess) {
    this.exit = once(process, "close").then(
      ([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }),
      (error: Error): never => {
        throw new EngineError(
          `Node.js could not be started in the program's folder: ${error.message}. Nothing was changed. Fix the problem, then run again`,
        );
      },
    );
    this.exit.catch(() => undefined);
  }

  /**
   * @param script path of the script inside `@pulumi/pulumi`, resolved from `cwd` as the program itself would
   * @param onLine called with each line that the process prints
   */
  static start(
    script: string,
    args: readonly string[],
    { cwd, env, nodeArgs = [] }: ChildOptions,
    onLine: (line: string, from: "stdout" | "stderr") => void,
  ): Child {
    const preload = `--import=data:text/javascript,${encodeURIComponent(guard)}`;
    const child = spawn(process.execPath, [preload, ...nodeArgs, join(sdkDirectory(cwd), script), ...args], {
      cwd,
      env: { ...env, LOCAL_ENGINE_PIPE: "3" },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      // In its own process group, so that ^C only reaches the engine, which lets running operations finish.
      detached: process.platform !== "win32",
    });
    for (const from of ["stdout", "stderr"] as const) {
      const stream = child[from];
      if (stream) createInterface({ input: stream, crlfDelay: Infinity }).on("line", (line) => onLine(line, from));
    }
    return new Child(child);
  }

  /** Ends the process and its children with SIGTERM, and after the grace period with SIGKILL. */
  async stop(gracePeriodMs: number): Promise<void> {
    this.#kill("SIGTERM");
    const timer = setTimeout(() => this.#kill("SIGKILL"), gracePeriodMs);
    await this.exit.catch(() => undefined);
    clearTimeout(timer);
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      if (process.platform === "win32") this.process.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // It has already ended.
    }
  }
}

/** The folder of the program's own `@pulumi/pulumi`. */
function sdkDirectory(programDirectory: string): string {
  const require = createRequire(join(programDirectory, "package.json"));
  try {
    return join(require.resolve("@pulumi/pulumi/package.json"), "..");
  } catch (cause) {
    const message = `@pulumi/pulumi is not installed in the program's folder (${programDirectory}). Nothing was changed. Install the packages of its package.json`;
    throw new EngineError(message, { cause });
  }
}
