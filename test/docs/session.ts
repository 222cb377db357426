import { join } from "node:path";
import * as ts from "typescript";
import { MemoryStack, type Platform, startPlatform } from "../../local/index";
import { Project, settingsOf } from "../support/project";
import { runToEnd } from "../support/processes";
import { aclOf, type RedisServer, startRedisServer } from "../support/redis";
import { type Block } from "./page";

/** What a reader of these pages has: databases, one of them with a user, keys, and credentials to type in. */
const fixture = {
  // As the preset of the README has it.
  databasePath: "/v2/redis/database/{id}",
  username: "you@example.com",
  password: "local-only",
  queueToken: "local-only",
  databases: ["96ad0856-03b1-4ee7-9666-e81abd0349e1", "sessions", "carts", "db-1f0c", "db-77aa"],
  flowControlKeys: ["orders", "emails", "invoices"],
  credentials: "always",
} as const;

/** The address of a platform that a reader starts. */
const address = "http://127.0.0.1:8480";

/** The port of a Redis that a reader starts. */
const redisPort = 6379;

/** Whether a block needs a real Redis. */
export const needsRedis = ({ language, code }: Block): boolean =>
  language === "acl" || code.includes(`port: ${redisPort}`);

/** Reads like `import … from "pulumi-rekey"`: a program that Pulumi runs. */
export const isProgram = (block: Block): boolean =>
  ["ts", "js"].includes(block.language) &&
  /from "pulumi-rekey"|require\("pulumi-rekey"\)/.test(block.code) &&
  !isScript(block);

/** One that imports the platform is run by Node. */
export const isScript = ({ language, code }: Block): boolean =>
  ["ts", "js"].includes(language) && code.includes('from "rekey-local"');

/** The folder in which a reader follows a page: its blocks run in order, against one platform, on a stack in memory. */
export class Session {
  readonly #project = new Project();
  readonly #stack: MemoryStack;
  #redis: RedisServer | undefined;

  private constructor(private readonly platform: Platform) {
    const more = { "rekey:databasePath": fixture.databasePath, "rekey:databaseListPath": "/v2/redis/databases" };
    this.#stack = new MemoryStack(() => this.#program(), { ...settingsOf(platform), ...more });
  }

  static async start(): Promise<Session> {
    const platform = await startPlatform(fixture);
    await aclOf(platform.database("sessions"))("SETUSER", "app", "on");
    return new Session(platform);
  }

  get resets(): number {
    return this.platform.resetCount;
  }

  /** Runs a block. @throws Error if it fails */
  async run(block: Block): Promise<unknown> {
    if (isScript(block)) return this.#node(block);
    if (block.language === "acl") return this.#startRedis(block);
    const isWritten = block.file !== undefined || isProgram(block);
    if (isWritten) this.#project.write("index.js", this.#atRedis(javaScript(block, ts.ModuleKind.CommonJS)));
    if (block.file !== undefined) return;
    if (isProgram(block)) return this.#pulumi("up");
    const isOfPulumi = /^(npx )?pulumi /m.test(block.code);
    return isOfPulumi ? this.#commands(block.code) : this.#shell(block.code);
  }

  /** Starts a Redis with a file of its users, which the programs after it use. */
  async #startRedis({ file = "", code }: Block): Promise<void> {
    this.#project.write(file, code);
    this.#redis = await startRedisServer({ aclFile: this.#project.path(file) });
  }

  async end(): Promise<void> {
    await this.#redis?.close();
    await this.platform.close();
    this.#project.remove();
  }

  #atRedis(code: string): string {
    return this.#redis ? code.replace(`port: ${redisPort}`, `port: ${this.#redis.port}`) : code;
  }

  /** Runs the program in the folder again. */
  #program(): unknown {
    const file = join(this.#project.directory, "index.js");
    delete require.cache[file];
    return require(file);
  }

  /** Runs the commands of `pulumi` that the pages have, line by line. */
  async #commands(script: string): Promise<void> {
    for (const line of script.trim().split("\n")) {
      const [, command = ""] = /^(?:npx )?pulumi (.*?) *(?:#.*)?$/.exec(line) ?? refuse(line);
      await this.#pulumi(command);
    }
  }

  async #pulumi(command: string): Promise<void> {
    const { config } = this.#stack;
    const [verb = "", , name = "", ...more] = command.split(" ");
    if (verb === "up") await this.#stack.up();
    // A person types a secret that is asked for.
    else if (verb === "config" && name === "--secret") config[more[0] ?? ""] = { secret: fixture.password };
    else if (verb === "config") config[name] = more.join(" ");
    else refuse(command);
  }

  /** Runs a script in a new folder: it starts its own platform. */
  async #node(block: Block): Promise<string> {
    const project = new Project();
    try {
      project.write("script.mjs", javaScript(block, ts.ModuleKind.ESNext));
      return await runToEnd(process.execPath, ["script.mjs"], { cwd: project.directory });
    } finally {
      project.remove();
    }
  }

  #shell(code: string): Promise<string> {
    const script = code.replaceAll(address, this.platform.url);
    return runToEnd("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd: this.#project.directory });
  }
}

function refuse(command: string): never {
  throw new Error(`${command}: no page had such a command before`);
}

function javaScript({ language, code }: Block, kind: ts.ModuleKind): string {
  if (language === "js") return code;
  return ts.transpileModule(code, { compilerOptions: { module: kind, target: ts.ScriptTarget.ES2022 } }).outputText;
}
