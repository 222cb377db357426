import { localEngine, plainOutputs, resourceNamed } from "../../support/engine";
import { EngineProcess } from "../../support/engineProcess";
import { gatedScene } from "./gate";
import { type Name, names, type Step, type Victim } from "./steps";
import { type DesiredInputs } from "../desiredInputs";

/** A resource in the state, secrets in plain. */
export interface Seen {
  readonly initError: boolean;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** What an operation did until it ended. */
export interface Done {
  readonly code: number | null;
  readonly printed: string;
  /** Whether a process was struck. */
  readonly struck: boolean;
  /** Whether the process that would have saved a response was killed. */
  readonly lost: boolean;
  /** How many requests had arrived when the victim was gone. */
  readonly arrivedByThen: number;
}

/** A platform, a gate before it, a program, and the real processes that run it. */
export class Scene {
  #engine: EngineProcess | undefined;

  private constructor(
    private readonly setting: Awaited<ReturnType<typeof gatedScene>>,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param environment further settings of the provider */
  static async start(environment: NodeJS.ProcessEnv = {}): Promise<Scene> {
    return new Scene(await gatedScene("", names), { REKEY_DEADLINE_SECONDS: "30", ...environment });
  }

  get platform() {
    return this.setting.platform;
  }

  get gate() {
    return this.setting.gate;
  }

  end(): Promise<void> {
    return this.setting.end();
  }

  async run(
    wanted: Readonly<Record<Name, DesiredInputs>>,
    { do: operation, faults, strike, concurrency }: Step,
  ): Promise<Done> {
    const { project } = this.setting;
    project.rewrite(sourceOf(wanted));
    const done = { struck: false, lost: false, arrivedByThen: 0 };
    const hit = async (victim: Victim): Promise<boolean> => {
      done.struck = true;
      const goesOn = await this.#strike(victim);
      done.arrivedByThen = this.gate.arrivals.length;
      done.lost ||= !goesOn;
      return goesOn;
    };
    const atRequest = strike && "victim" in strike && { ...strike, act: () => hit(strike.victim) };
    this.gate.begin({ faults, ...(atRequest && { strike: atRequest }) });
    const flags = operation === "preview" ? [] : ["--yes", "--skip-preview"];
    const environment = { REKEY_MAX_CONCURRENCY: String(concurrency), ...this.environment };
    const engine = new EngineProcess(localEngine, [operation, ...flags], project.directory, environment);
    this.#engine = engine;
    const timer = strike && "afterMs" in strike && setTimeout(() => void hit("engine"), strike.afterMs);
    const { code, printed } = await engine.ended;
    if (timer) clearTimeout(timer);
    await this.gate.settled();
    return { code, printed, ...done };
  }

  /** Kills the engine that runs, and resolves when it is gone. */
  async killEngine(): Promise<void> {
    await this.#engine?.killEngine();
  }

  async see(): Promise<Partial<Record<Name, Seen>>> {
    const state = await this.setting.stack.exportState(true);
    const found = names.flatMap((name) => {
      const resource = resourceNamed(state, name);
      if (!resource) return [];
      return [[name, { initError: (resource.initErrors ?? []).length > 0, outputs: plainOutputs(resource) }] as const];
    });
    return Object.fromEntries(found);
  }

  /** @returns whether the response to a request that is under way can still arrive and be saved */
  async #strike(victim: Victim): Promise<boolean> {
    if (victim === "interrupt") return this.#engine?.interrupt() ?? true;
    if (victim === "engine") await this.killEngine();
    else this.#engine?.kill(victim);
    return victim === "program";
  }
}

function sourceOf(wanted: Readonly<Record<Name, DesiredInputs>>): string {
  const lines = names.map((name) => `new PasswordRotation(${JSON.stringify(name)}, ${JSON.stringify(wanted[name])});`);
  return ['const { PasswordRotation } = require("pulumi-rekey");', ...lines].join("\n");
}
