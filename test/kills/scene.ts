import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LocalStack, type Platform, startPlatform } from "../../local/index";
import { EngineProcess } from "../model/real/engineProcess";
import { Gate } from "../model/real/gate";
import { Program } from "../support/program";
import { ended, type Process } from "../support/processes";
import { type Kill, type Moment, resources } from "./kill";

/** What the state says of a database. */
interface Saved {
  readonly rotationCount: number;
  readonly password: string;
  readonly outcome: string;
  readonly initErrors: number;
}

/** What there is to see of one database, on both sides. */
interface Database {
  readonly resets: number;
  readonly password: string;
  readonly saved: Saved | undefined;
  /** What the state says was under way when an engine ended: interrupted creates of former runs, then those of the last. */
  readonly pending: readonly string[];
}

export type Databases = ReadonlyMap<string, Database>;

export interface Up {
  readonly code: number | null;
  readonly printed: string;
  /** Whether somebody was there to be killed. */
  readonly struck: boolean;
  /** The passwords that the program was told, by database. The engine tells only what it has saved. */
  readonly told: ReadonlyMap<string, string>;
}

const ids = Array.from({ length: resources }, (_, index) => `db-${index}`);
const passphrase = "kills";

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
  /** Milliseconds that an `up` takes when nobody disturbs it. */
  #usual = 0;

  private constructor(
    private readonly platform: Platform,
    private readonly gate: Gate,
    private readonly program: Program,
    private readonly stack: LocalStack,
  ) {}

  static async start(): Promise<Scene> {
    const platform = await startPlatform({ databases: ids, credentialsInAnswer: "always" });
    const program = new Program(source);
    // Without TypeScript a program starts in half the time.
    const project = "name: program\nmain: index.js\nruntime: { name: nodejs, options: { typescript: false } }\n";
    writeFileSync(join(program.directory, "Pulumi.yaml"), project);
    const stack = await LocalStack.open({ projectDir: program.directory, passphrase });
    const scene = new Scene(platform, await Gate.start(platform.url), program, stack);
    await scene.startOver();
    scene.newVersion();
    const began = Date.now();
    const { code, printed } = await scene.up();
    if (code !== 0) throw new Error(printed);
    scene.#usual = Date.now() - began;
    return scene;
  }

  async end(): Promise<void> {
    this.gate.close();
    await this.platform.close();
    this.program.remove();
  }

  /** Takes the state and the platform back to before the first `up`. */
  async startOver(): Promise<void> {
    rmSync(this.#path(".rekey"), { recursive: true, force: true });
    mkdirSync(this.#stateFolder, { recursive: true });
    await this.platform.reset();
  }

  /** Gives every resource a new version, so that every database is to be reset. */
  newVersion(): void {
    writeFileSync(this.#path("version"), String(++this.#version));
  }

  async up(kill?: Kill): Promise<Up> {
    rmSync(this.#path("told"), { force: true });
    let left: Process[] | undefined;
    const strike = (): void => {
      if (kill) left ??= killed(engine, kill.victim);
    };
    const act = async (): Promise<boolean> => {
      strike();
      return kill?.victim === "program";
    };
    const { request, point = "arrived", change, share }: Moment = kill?.moment ?? {};
    this.gate.begin({ faults: {}, ...(request !== undefined && { strike: { at: request, point, act } }) });
    let changes = 0;
    const watcher = watch(this.#stateFolder, () => ++changes === change && strike());
    const engine = new EngineProcess("up", this.program.directory, this.#environment());
    const timer = share === undefined ? undefined : setTimeout(strike, share * this.#usual);
    const { code, printed } = await engine.ended;
    watcher.close();
    clearTimeout(timer);
    await ended(left ?? []);
    await this.gate.settled();
    return { code, printed, struck: left !== undefined && left.length > 0, told: this.#told() };
  }

  /** Both sides of every database. The state must load. */
  async see(): Promise<Databases> {
    const { deployment } = await this.stack.exportStack({ showSecrets: true });
    const nameOf = (resource: Record<string, unknown>): string => String(resource["urn"]).split("::").at(-1) ?? "";
    const saved = new Map(deployment.resources?.map((resource) => [nameOf(resource), resource]));
    const operations = deployment.pending_operations ?? [];
    const pendingOf = (id: string) =>
      operations.filter(({ resource }) => nameOf(resource) === id).map(({ type }) => type);
    return new Map(
      ids.map((id) => {
        const { resets, password } = this.platform.database(id);
        return [id, { resets, password, saved: savedOf(saved.get(id)), pending: pendingOf(id) }];
      }),
    );
  }

  get #stateFolder(): string {
    return this.#path(".rekey/stacks/program");
  }

  #path(name: string): string {
    return join(this.program.directory, name);
  }

  #told(): Map<string, string> {
    const path = this.#path("told");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    return new Map(lines.map((line) => line.split(" ") as [string, string]));
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      REKEY_BASE_URL: this.gate.url,
      REKEY_USERNAME: this.platform.username,
      REKEY_PASSWORD: this.platform.password,
    };
  }
}

/** Kills the victim now. @returns the processes whose end is to be waited for; none where the victim did not run */
function killed(engine: EngineProcess, victim: Kill["victim"]): Process[] {
  if (victim === "program" || victim === "host") {
    const script = victim === "program" ? "cmd/run" : "dynamic-provider";
    const found = engine.children().filter(({ args }) => args.includes(script));
    for (const { pid } of found) process.kill(pid, "SIGKILL");
    return found;
  }
  if (!engine.signal("SIGSTOP")) return [];
  // It does nothing more while its children are looked up.
  const children = engine.children();
  if (victim === "everyone") for (const { pid } of children) process.kill(pid, "SIGKILL");
  engine.signal("SIGKILL");
  return [{ pid: engine.pid ?? 0, parent: process.pid, args: "" }, ...children];
}

function savedOf(resource: Record<string, unknown> | undefined): Saved | undefined {
  if (!resource) return undefined;
  const { outputs = {}, initErrors = [] } = resource as { outputs?: Record<string, unknown>; initErrors?: string[] };
  const { rotationCount, outcome, password } = outputs;
  // A secret is shown as its JSON text.
  const { plaintext } = (password ?? {}) as { plaintext?: string };
  return {
    rotationCount: Number(rotationCount),
    outcome: String(outcome),
    password: plaintext === undefined ? "" : String(JSON.parse(plaintext)),
    initErrors: initErrors.length,
  };
}
