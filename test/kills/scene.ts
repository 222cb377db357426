import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { gatedScene } from "../model/real/gate";
import { plainOutputs, resourceNamed, type StateResource } from "../support/engine";
import { EngineProcess, runEngine } from "../support/engineProcess";
import { type Kill, type Moment } from "./kill";
import { type Subject } from "./subject";

/** A database in the state. */
type Saved = ReturnType<typeof savedOf>;

/** One database, at the platform and in the state. */
interface Database {
  /** The name of its resource. */
  readonly resource: string;
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
  /** Requests that arrived after the kill: those in flight, and those that the engine's last response allowed. */
  readonly late: number;
  /** The passwords that the program received, by database. The engine passes on only what it has saved. */
  readonly told: ReadonlyMap<string, string>;
}

const sourceOf = ({ ids, program }: Subject): string => `
const { appendFileSync, readFileSync } = require("node:fs");
const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const ids = ${JSON.stringify(ids)};
const version = readFileSync("version", "utf8");
const tell = (id, password) => appendFileSync("told", id + " " + password + "\\n");
${program}`;

/** A platform, a gate before it, a program that rotates all databases, and the processes that run it. */
export class Scene {
  #version = 0;
  /** How long an undisturbed `up` takes. */
  #usualMs = 0;

  private constructor(
    private readonly subject: Subject,
    private readonly setting: Awaited<ReturnType<typeof gatedScene>>,
  ) {}

  static async start(subject: Subject): Promise<Scene> {
    const started = new Scene(subject, await gatedScene(sourceOf(subject), subject.ids, subject.engine));
    started.#keepEmptyState();
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
    const { state, empty } = this.#folders;
    rmSync(state, { recursive: true, force: true });
    if (existsSync(empty)) cpSync(empty, state, { recursive: true });
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
    let arrivedByThen = 0;
    const strike = (): void => {
      if (!kill || struck !== undefined) return;
      struck = engine.kill(kill.victim).length > 0;
      arrivedByThen = gate.arrivals.length;
    };
    const act = async (): Promise<boolean> => {
      strike();
      return kill?.victim === "program";
    };
    const { request, point = "arrived", change, share }: Moment = kill?.moment ?? {};
    gate.begin({ faults: {}, ...(request !== undefined && { strike: { at: request, point, act } }) });
    let changes = 0;
    const watcher = watch(this.#stateFolder, () => ++changes === change && strike());
    const engine = new EngineProcess(this.subject.engine, ["up", "--yes", "--skip-preview"], project.directory);
    const timer = share === undefined ? undefined : setTimeout(strike, share * this.#usualMs);
    const { code, printed } = await engine.ended;
    watcher.close();
    clearTimeout(timer);
    await gate.settled();
    await engine.killOrphans();
    if (kill && this.subject.engine.leavesOrphans) await this.#repair();
    return {
      code,
      printed,
      struck: struck ?? false,
      late: struck ? gate.arrivals.length - arrivedByThen : 0,
      told: this.#told(),
    };
  }

  /** Both sides of every database. The state must load. */
  async see(): Promise<Databases> {
    const { platform, stack } = this.setting;
    const state = await stack.exportState(true);
    const operations = state.deployment.pending_operations ?? [];
    const pendingOf = (name: string) =>
      operations.filter(({ resource }) => resource.urn.endsWith(`::${name}`)).map(({ type }) => type);
    const { ids, resourceOf, databasesIn } = this.subject;
    return new Map(
      ids.map((id) => {
        const { resets, password } = platform.database(id);
        const resource = resourceOf(id);
        const found = resourceNamed(state, resource);
        const saved = found && savedOf(found, databasesIn(plainOutputs(found)), id);
        return [id, { resource, resets, password, saved, pending: pendingOf(resource) }];
      }),
    );
  }

  get #stateFolder(): string {
    return this.setting.project.path(this.subject.engine.stateFolder);
  }

  /** The state of all stacks, and how it was before the first `up`. */
  get #folders() {
    const [name = ""] = this.subject.engine.stateFolder.split("/");
    const state = this.setting.project.path(name);
    return { state, empty: `${state}-empty` };
  }

  #keepEmptyState(): void {
    const { state, empty } = this.#folders;
    if (existsSync(state)) cpSync(state, empty, { recursive: true });
  }

  /**
   * A killed CLI leaves its lock. If it was writing the attributes of a file of the state, it also leaves them empty,
   * and refuses the state ("failed to load checkpoint: EOF") until a user removes them.
   */
  async #repair(): Promise<void> {
    for (const name of readdirSync(this.#stateFolder)) {
      const file = join(this.#stateFolder, name);
      if (name.endsWith(".attrs") && statSync(file).size === 0) rmSync(file);
    }
    const { code, printed } = await runEngine(this.subject.engine, ["cancel", "--yes"], this.setting.project.directory);
    if (code !== 0) throw new Error(printed);
  }

  #told(): Map<string, string> {
    const path = this.setting.project.path("told");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    return new Map(lines.map((line) => line.split(" ") as [string, string]));
  }
}

function savedOf({ initErrors }: StateResource, databases: ReturnType<Subject["databasesIn"]>, id: string) {
  const found = databases.find(({ databaseId }) => databaseId === id);
  if (!found) return undefined;
  const { rotationCount = 0, outcome, password = "" } = found;
  return { rotationCount, outcome, password, initErrors: initErrors?.length ?? 0 };
}
