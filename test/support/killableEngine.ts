import { fork } from "node:child_process";
import { once } from "node:events";
import { Host, type HostOptions } from "./host";
import { ended } from "./processes";
import { type Properties } from "./wire";

interface Task {
  readonly options: HostOptions;
  readonly resources: readonly Properties[];
}

/** A process that calls a provider as an engine does, and that a test can kill. */
export class KillableEngine {
  private constructor(
    private readonly child: ReturnType<typeof fork>,
    /** The process of the provider. */
    readonly provider: number,
  ) {}

  /** Starts it, and has the provider create the resources. */
  static async start(options: HostOptions, ...resources: Properties[]): Promise<KillableEngine> {
    const task: Task = { options, resources };
    const child = fork(__filename, [JSON.stringify(task)], { execArgv: ["-r", "ts-node/register/transpile-only"] });
    const [provider] = (await once(child, "message")) as [number];
    return new KillableEngine(child, provider);
  }

  async kill(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }

  /** Kills what still runs. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    kill(this.provider);
  }

  /** Resolves when the process of the provider has ended. */
  providerEnded(): Promise<void> {
    return ended([{ pid: this.provider, parent: 0, args: "" }]);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

if (require.main === module) {
  const { options, resources } = JSON.parse(process.argv[2] ?? "") as Task;
  void Host.start(options).then(async (host) => {
    process.send?.(host.pid);
    await Promise.all(resources.map((inputs) => host.create(inputs)));
  });
}
