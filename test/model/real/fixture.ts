import { mkdirSync, readdirSync, rmSync, statSync, watch } from "node:fs";
import { type Platform, startPlatform } from "../../../local/index";
import { type Engine, localEngine, plainOutputs, type Stack } from "../../support/engine";
import { EngineProcess, runEngine, type Victim as Processes } from "../../support/engineProcess";
import { environmentOf, Project } from "../../support/project";
import { databasePath } from "../../support/resources";
import { Gate, type Plan, type Point } from "./gate";

/** What is struck: processes are killed, or the engine gets a ^C. */
export type Victim = Processes | "interrupt";

/**
 * What is struck when; one of three: at a point of the nth request, at the nth change in the folder of the state, or
 * some milliseconds after the start.
 */
export interface Strike {
  readonly victim: Victim;
  readonly at?: number;
  readonly point?: Point;
  readonly change?: number;
  readonly afterMs?: number;
}

interface FixtureOptions {
  readonly program?: string;
  /** Default: the local engine. */
  readonly engine?: Engine;
  /** Further settings of the provider. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether credentials are in the responses to reads, instead of those to resets. Default: false. */
  readonly reads?: boolean;
}

interface RunOptions {
  readonly faults?: Plan["faults"];
  readonly strike?: Strike | undefined;
  /** Holds the responses from that of the nth request on, until the strike is done. */
  readonly holdFrom?: number;
  /** `rekey:maxConcurrency`. */
  readonly concurrency?: number;
}

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
export class Fixture {
  #running: EngineProcess | undefined;

  private constructor(
    readonly platform: Platform,
    readonly gate: Gate,
    readonly project: Project,
    readonly stack: Stack,
    private readonly engine: Engine,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async start(
    databases: readonly string[],
    { program = "", engine = localEngine, environment: more = {}, reads = false }: FixtureOptions = {},
  ): Promise<Fixture> {
    const delivery = reads ? ({ credentials: "read", databasePath } as const) : ({ credentials: "always" } as const);
    const platform = await startPlatform({ databases: [...databases], ...delivery });
    const gate = await Gate.start(platform.url);
    const project = new Project(program, { native: engine.native });
    const { username, password, queueToken } = platform;
    const addresses = environmentOf({ url: gate.url, username, password, queueToken });
    const readable = reads && { REKEY_DATABASE_PATH: databasePath };
    const environment = { ...addresses, REKEY_DEADLINE_SECONDS: "30", ...readable, ...more };
    const stack = await engine.open(project.directory, environment);
    return new Fixture(platform, gate, project, stack, engine, environment);
  }

  async end(): Promise<void> {
    await this.gate.close();
    await this.platform.close();
    this.project.remove();
  }

  /** Runs an operation of the engine. */
  async run(
    operation: "up" | "preview" | "refresh" | "destroy",
    { faults = {}, strike, holdFrom, concurrency = 8 }: RunOptions = {},
  ): Promise<Done> {
    const { engine, gate, project } = this;
    const done = { struck: false, lost: false, arrivedByThen: 0 };
    const { victim = "engine", at, point = "arrived", change, afterMs } = strike ?? {};
    let striking: Promise<boolean> | undefined;
    /** @returns whether the response to a request that is under way can still arrive and be saved */
    const act = async (): Promise<boolean> => {
      done.struck = await this.#strike(running, victim);
      done.arrivedByThen = gate.arrivals.length;
      done.lost = victim !== "program" && !(victim === "interrupt" && done.struck);
      return !done.lost;
    };
    const actOnce = () => (striking ??= act());
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    gate.begin({
      faults,
      ...(at !== undefined && { strike: { at, point, act: () => actOnce().finally(release) } }),
      ...(holdFrom !== undefined && { hold: { from: holdFrom, until: released } }),
    });
    const flags = operation === "preview" ? [] : ["--yes", "--skip-preview"];
    const environment = { ...this.environment, REKEY_MAX_CONCURRENCY: String(concurrency) };
    mkdirSync(this.#stateFolder, { recursive: true });
    let changes = 0;
    const watcher =
      change === undefined ? undefined : watch(this.#stateFolder, () => void (++changes === change && actOnce()));
    const running = (this.#running = new EngineProcess(engine, [operation, ...flags], project.directory, environment));
    const timer = afterMs === undefined ? undefined : setTimeout(() => void actOnce(), afterMs);
    const { code, printed } = await running.ended;
    watcher?.close();
    clearTimeout(timer);
    await striking;
    await gate.settled();
    await running.killOrphans();
    if (strike && engine.leavesOrphans) await this.#repair();
    return { code, printed, ...done };
  }

  /** Kills the engine that runs, and resolves when it is gone. */
  async killEngine(): Promise<void> {
    await this.#running?.killEngine();
  }

  /** What the state contains, by the names of resources: those that are saved, and the types of pending operations. */
  async see(): Promise<{
    resources: Readonly<Record<string, Seen | undefined>>;
    pending: Readonly<Record<string, readonly string[] | undefined>>;
  }> {
    const { resources = [], pending_operations = [] } = (await this.stack.exportState(true)).deployment;
    const nameOf = (urn: string) => urn.split("::").at(-1) ?? "";
    const pending: Record<string, string[]> = {};
    for (const { type, resource } of pending_operations) (pending[nameOf(resource.urn)] ??= []).push(type);
    const seen = resources.map((one) => {
      return [nameOf(one.urn), { initError: (one.initErrors ?? []).length > 0, outputs: plainOutputs(one) }] as const;
    });
    return { resources: Object.fromEntries(seen), pending };
  }

  get #stateFolder(): string {
    return this.project.path(this.engine.stateFolder);
  }

  /** @returns whether the victim was running */
  async #strike(running: EngineProcess, victim: Victim): Promise<boolean> {
    if (victim === "interrupt") return running.interrupt();
    if (victim !== "engine") return running.kill(victim).length > 0;
    const { runs } = running;
    await running.killEngine();
    return runs;
  }

  /**
   * A killed CLI leaves its lock. If it was writing the attributes of a file of the state, it also leaves them empty,
   * and refuses the state ("failed to load checkpoint: EOF") until a user removes them.
   */
  async #repair(): Promise<void> {
    for (const name of readdirSync(this.#stateFolder)) {
      const file = `${this.#stateFolder}/${name}`;
      if (name.endsWith(".attrs") && statSync(file).size === 0) rmSync(file);
    }
    const { code, printed } = await runEngine(this.engine, ["cancel", "--yes"], this.project.directory);
    if (code !== 0) throw new Error(printed);
  }
}
