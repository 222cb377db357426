import { LocalStack, type Platform, startPlatform } from "../../../local/index";
import { Program } from "../../support/program";
import { EngineProcess } from "./engineProcess";
import { Gate } from "./gate";
import { type Name, names, type Step } from "./steps";
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

const passphrase = "model";

/** A platform, a gate before it, a program, and the real processes that run it. */
export class Scene {
  #engine: EngineProcess | undefined;

  private constructor(
    readonly platform: Platform,
    readonly gate: Gate,
    private readonly program: Program,
    private readonly stack: LocalStack,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param environment further settings of the provider */
  static async start(environment: NodeJS.ProcessEnv = {}): Promise<Scene> {
    const platform = await startPlatform({ databases: [...names], credentialsInAnswer: "always" });
    const program = new Program("");
    const stack = await LocalStack.open({ projectDir: program.directory, passphrase });
    return new Scene(platform, await Gate.start(platform.url), program, stack, environment);
  }

  async end(): Promise<void> {
    this.gate.close();
    await this.platform.close();
    this.program.remove();
  }

  async run(wishes: Readonly<Record<Name, Wish>>, { do: operation, faults, strike, concurrency }: Step): Promise<Done> {
    this.program.rewrite(sourceOf(wishes));
    let struck = false;
    let lost = false;
    let arrivedByThen = 0;
    const hit = async (victim: Parameters<EngineProcess["strike"]>[0]): Promise<boolean> => {
      struck = true;
      const goesOn = (await this.#engine?.strike(victim)) ?? true;
      arrivedByThen = this.gate.arrivals.length;
      lost ||= !goesOn;
      return goesOn;
    };
    const atRequest = strike && "victim" in strike && { ...strike, act: () => hit(strike.victim) };
    this.gate.begin({ faults, ...(atRequest && { strike: atRequest }) });
    const engine = new EngineProcess(operation, this.program.directory, this.#environment(concurrency));
    this.#engine = engine;
    const timer = strike && "afterMs" in strike && setTimeout(() => void hit("engine"), strike.afterMs);
    const { code, printed } = await engine.ended;
    if (timer) clearTimeout(timer);
    await this.gate.settled();
    return { code, printed, struck, lost, arrivedByThen };
  }

  /** Kills the engine that runs, and resolves when it is gone. */
  async killEngine(): Promise<void> {
    await this.#engine?.strike("engine");
  }

  async see(): Promise<Partial<Record<Name, Seen>>> {
    const { deployment } = await this.stack.exportStack({ showSecrets: true });
    const found: Partial<Record<Name, Seen>> = {};
    for (const resource of deployment.resources ?? []) {
      const name = names.find((one) => String(resource["urn"]).endsWith(`PasswordRotation::${one}`));
      if (!name) continue;
      const { outputs, initErrors } = resource as { outputs?: Record<string, unknown>; initErrors?: string[] };
      found[name] = { initError: (initErrors ?? []).length > 0, outputs: revealed(outputs ?? {}) };
    }
    return found;
  }

  #environment(concurrency: number): NodeJS.ProcessEnv {
    return {
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      REKEY_BASE_URL: this.gate.url,
      REKEY_USERNAME: this.platform.username,
      REKEY_PASSWORD: this.platform.password,
      REKEY_MAX_CONCURRENCY: String(concurrency),
      REKEY_DEADLINE_SECONDS: "30",
      ...this.environment,
    };
  }
}

function sourceOf(wishes: Readonly<Record<Name, Wish>>): string {
  const lines = names.map((name) => `new PasswordRotation(${JSON.stringify(name)}, ${JSON.stringify(wishes[name])});`);
  return ['const { PasswordRotation } = require("pulumi-rekey");', ...lines].join("\n");
}

/** `stack export --show-secrets` shows a secret as JSON text. */
function revealed(outputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => {
      const text = (value as { plaintext?: string } | null)?.plaintext;
      return [name, text === undefined ? value : (JSON.parse(text) as unknown)];
    }),
  );
}
