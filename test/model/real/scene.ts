import { localEngine, plainOutputs, resourceNamed } from "../../support/engine";
import { EngineProcess } from "../../support/engineProcess";
import { scene, type Scene as Setting } from "../../support/onEngines";
import { Gate } from "./gate";
import { type Name, names, type Step, type Victim } from "./steps";
import { type Wish } from "../wish";

/** What the state says of a resource, secrets in plain. */
export interface Seen {
  readonly initError: boolean;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** What an operation did, as far as it came. */
export interface Done {
  readonly code: number | null;
  readonly printed: string;
  /** Whether somebody was struck. */
  readonly struck: boolean;
  /** Whether whoever would have saved an answer was killed. */
  readonly lost: boolean;
  /** How many requests had arrived when the victim was gone. */
  readonly arrivedByThen: number;
}

/** A platform, a gate before it, a program, and the real processes that run it. */
export class Scene {
  #engine: EngineProcess | undefined;

  private constructor(
    private readonly setting: Setting,
    readonly gate: Gate,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param environment further settings of the provider */
  static async start(environment: NodeJS.ProcessEnv = {}): Promise<Scene> {
    const setting = await scene(localEngine, "", { databases: [...names], credentialsInResponse: "always" });
    const gate = await Gate.start(setting.platform.url);
    await setting.stack.setConfig("rekey:baseUrl", gate.url);
    return new Scene(setting, gate, { REKEY_DEADLINE_SECONDS: "30", ...environment });
  }

  get platform() {
    return this.setting.platform;
  }

  async end(): Promise<void> {
    this.gate.close();
    await this.setting.end();
  }

  async run(wishes: Readonly<Record<Name, Wish>>, { do: operation, faults, strike, concurrency }: Step): Promise<Done> {
    const { project } = this.setting;
    project.rewrite(sourceOf(wishes));
    let struck = false;
    let lost = false;
    let arrivedByThen = 0;
    const hit = async (victim: Victim): Promise<boolean> => {
      struck = true;
      const goesOn = await this.#strike(victim);
      arrivedByThen = this.gate.arrivals.length;
      lost ||= !goesOn;
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
    return { code, printed, struck, lost, arrivedByThen };
  }

  /** Kills the engine that runs, and resolves when it is gone. */
  async killEngine(): Promise<void> {
    await this.#engine?.killEngine();
  }

  async see(): Promise<Partial<Record<Name, Seen>>> {
    const state = await this.setting.stack.exportState(true);
    const found: Partial<Record<Name, Seen>> = {};
    for (const name of names) {
      const resource = resourceNamed(state, name);
      if (!resource) continue;
      found[name] = { initError: (resource.initErrors ?? []).length > 0, outputs: plainOutputs(resource) };
    }
    return found;
  }

  /** @returns whether a request that is under way can still be answered and saved */
  async #strike(victim: Victim): Promise<boolean> {
    if (victim === "interrupt") return this.#engine?.interrupt() ?? true;
    if (victim === "engine") await this.killEngine();
    else this.#engine?.kill(victim);
    return victim === "program";
  }
}

function sourceOf(wishes: Readonly<Record<Name, Wish>>): string {
  const lines = names.map((name) => `new PasswordRotation(${JSON.stringify(name)}, ${JSON.stringify(wishes[name])});`);
  return ['const { PasswordRotation } = require("pulumi-rekey");', ...lines].join("\n");
}
