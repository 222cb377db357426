import { existsSync, mkdirSync, readFileSync, rmSync, watch } from "node:fs";
import { gatedScene } from "../model/real/gate";
import { localEngine, plainOutputs, resourceNamed, type StateResource } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { Project } from "../support/project";
import { type Kill, type Moment, resources } from "./kill";

/** A database in the state. */
type Saved = ReturnType<typeof savedOf>;

/** One database, at the platform and in the state. */
interface Database {
  readonly resets: number;
  readonly password: string;
  readonly saved: Saved;
  /** The state's pending operations: interrupted creates of former runs, then those of the last. */
  readonly pending: readonly string[];
}

export type Databases = ReadonlyMap<string, Database>;

export interface Up {
  readonly code: number | null;
  readonly printed: string;
  /** Whether there was a process to kill. */
  readonly struck: boolean;
  /** The passwords that the program received, by database. The engine passes on only what it has saved. */
  readonly told: ReadonlyMap<string, string>;
}

const ids = Array.from({ length: resources }, (_, index) => `db-${index}`);

const source = `
const { appendFileSync, readFileSync } = require("node:fs");
const { PasswordRotation } = require("pulumi-rekey");
const version = readFileSync("version", "utf8");
for (const databaseId of ${JSON.stringify(ids)})
  new PasswordRotation(databaseId, { databaseId, version }).password.apply((password) =>
    appendFileSync("told", databaseId + " " + password + "\\n"));`;

/** A platform with 50 databases, a gate before it, a program that rotates them all, and the processes that run it. */
export class Scene {
  #version = 0;
  /** How long an undisturbed `up` takes. */
  #usualMs = 0;

  private constructor(private readonly setting: Awaited<ReturnType<typeof gatedScene>>) {}

  static async start(): Promise<Scene> {
    const started = new Scene(await gatedScene(new Project(source), ids));
    await started.startOver();
    started.newVersion();
    const began = Date.now();
    const { code, printed } = await started.up();
    if (code !== 0) throw new Error(printed);
    started.#usualMs = Date.now() - began;
    return started;
  }

  end(): Promise<void> {
    return this.setting.end();
  }

  /** Takes the state and the platform back to before the first `up`. */
  async startOver(): Promise<void> {
    rmSync(this.setting.project.path(".rekey"), { recursive: true, force: true });
    mkdirSync(this.#stateFolder, { recursive: true });
    await this.setting.platform.reset();
  }

  /** Gives every resource a new version, so that every database is to be reset. */
  newVersion(): void {
    this.setting.project.write("version", String(++this.#version));
  }

  async up(kill?: Kill): Promise<Up> {
    const { project, gate } = this.setting;
    rmSync(project.path("told"), { force: true });
    let struck: boolean | undefined;
    const strike = (): void => {
      if (kill) struck ??= engine.kill(kill.victim).length > 0;
    };
    const act = async (): Promise<boolean> => {
      strike();
      return kill?.victim === "program";
    };
    const { request, point = "arrived", change, share }: Moment = kill?.moment ?? {};
    gate.begin({ faults: {}, ...(request !== undefined && { strike: { at: request, point, act } }) });
    let changes = 0;
    const watcher = watch(this.#stateFolder, () => ++changes === change && strike());
    const engine = new EngineProcess(localEngine, ["up", "--yes", "--skip-preview"], project.directory);
    const timer = share === undefined ? undefined : setTimeout(strike, share * this.#usualMs);
    const { code, printed } = await engine.ended;
    watcher.close();
    clearTimeout(timer);
    await gate.settled();
    return { code, printed, struck: struck ?? false, told: this.#told() };
  }

  /** Both sides of every database. The state must load. */
  async see(): Promise<Databases> {
    const { platform, stack } = this.setting;
    const state = await stack.exportState(true);
    const operations = state.deployment.pending_operations ?? [];
    const pendingOf = (id: string) =>
      operations.filter(({ resource }) => resource.urn.endsWith(`::${id}`)).map(({ type }) => type);
    return new Map(
      ids.map((id) => {
        const { resets, password } = platform.database(id);
        return [id, { resets, password, saved: savedOf(resourceNamed(state, id)), pending: pendingOf(id) }];
      }),
    );
  }

  get #stateFolder(): string {
    return this.setting.project.path(".rekey/stacks/program");
  }

  #told(): Map<string, string> {
    const path = this.setting.project.path("told");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    return new Map(lines.map((line) => line.split(" ") as [string, string]));
  }
}

function savedOf(resource: StateResource | undefined) {
  if (!resource) return undefined;
  const { rotationCount = 0, outcome, password = "" } = plainOutputs(resource);
  return { rotationCount: Number(rotationCount), outcome, password, initErrors: resource.initErrors?.length ?? 0 };
}
