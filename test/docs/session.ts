import { join } from "node:path";
import * as ts from "typescript";
import { type MemoryResult, MemoryStack, type Platform, startPlatform } from "../../local/index";
import { environmentOf, Project } from "../support/project";
import { runAsync } from "../support/processes";
import { type Block } from "./page";

/** What a reader of these pages has: databases, keys, and credentials to type in. */
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

/** The addresses of the platform on the pages: one in production, and one that a reader starts. */
const addresses = /https:\/\/(api|queue)\.example\.com|http:\/\/127\.0\.0\.1:8480/g;

/** A program for scripts without one. */
const smallProgram = `
const { PasswordRotation } = require("pulumi-rekey");
exports.endpoint = new PasswordRotation("sessions", { databaseId: "sessions" }).endpoint;`;

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
  readonly #project = new Project("");
  readonly #files = new Map<string, string>();
  readonly #stack: MemoryStack;
  #outputs: MemoryResult["outputs"] = {};
  /** Ends a command that still runs after its test. */
  readonly #over = new AbortController();

  private constructor(private readonly platform: Platform) {
    this.#stack = new MemoryStack(() => this.#program(), {
      "rekey:baseUrl": platform.url,
      "rekey:queueUrl": platform.url,
      "rekey:username": platform.username,
      "rekey:password": { secret: platform.password },
      "rekey:queueToken": { secret: platform.queueToken },
      "rekey:databasePath": fixture.databasePath,
      "rekey:databaseListPath": "/v2/redis/databases",
    });
  }

  static async start(): Promise<Session> {
    return new Session(await startPlatform(fixture));
  }

  get resets(): number {
    return this.platform.resetCount;
  }

  /** Runs a block. @returns what it prints @throws Error if it fails */
  async run(block: Block): Promise<string> {
    if (block.file !== undefined) return this.#save(block);
    if (isScript(block)) return this.#script(block);
    if (isProgram(block)) return this.#save({ ...block, file: "index.ts" }) + (await this.#pulumi("up"));
    const isOfPulumi = /^(npx )?pulumi /m.test(block.code);
    return isOfPulumi ? this.#commands(block.code) : this.#shell(block.code);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.platform.close();
    this.#project.remove();
  }

  /** Runs the program in the folder again. */
  #program(): unknown {
    const file = join(this.#project.directory, "index.js");
    delete require.cache[file];
    return require(file);
  }

  /** Runs the commands of `pulumi` that the pages have, line by line. */
  async #commands(script: string): Promise<string> {
    let printed = "";
    for (const line of script.trim().split("\n")) {
      const [, command = ""] = /^(?:npx )?pulumi (.*?) *(?:#.*)?$/.exec(line) ?? refuse(line);
      printed += `${await this.#pulumi(command)}\n`;
    }
    return printed;
  }

  async #pulumi(command: string): Promise<string> {
    const { config } = this.#stack;
    const [verb = "", ...words] = command.split(" ").filter((word) => word !== "--show-secrets");
    const operation = { preview: "preview", up: "up", refresh: "refresh" }[verb] as "up" | undefined;
    if (operation) {
      const { notices, outputs } = await this.#stack[operation]();
      this.#outputs = outputs;
      return notices.join("\n");
    }
    const [action = "", name = "", ...more] = words;
    if (verb === "config" && action === "rm") delete config[name];
    // A person types a secret that is asked for.
    else if (verb === "config" && name === "--secret") config[more[0] ?? ""] = { secret: fixture.password };
    else if (verb === "config") config[name] = more.join(" ").replaceAll(addresses, this.platform.url);
    else if (action === "output") return String(this.#outputs[name]?.value);
    else if (action !== "init") refuse(command);
    return "";
  }

  /** A script brings its own platform, and so has another folder; the files of the page are there. */
  async #script(block: Block): Promise<string> {
    const project = new Project(smallProgram);
    try {
      for (const [name, text] of this.#files) project.write(name, text);
      project.write("script.mjs", javaScript(block, ts.ModuleKind.ESNext));
      return await runToEnd(process.execPath, ["script.mjs"], { cwd: project.directory, signal: this.#over.signal });
    } finally {
      project.remove();
    }
  }

  #save(block: Block): string {
    const { file = "", code } = block;
    if (file === "index.ts") this.#project.rewrite(javaScript(block, ts.ModuleKind.CommonJS));
    this.#files.set(file, code);
    this.#project.write(file, code);
    return "";
  }

  async #shell(code: string): Promise<string> {
    const script = code.replaceAll(addresses, this.platform.url);
    const output = await runToEnd("bash", ["--norc", "-euo", "pipefail", "-c", script], {
      cwd: this.#project.directory,
      signal: this.#over.signal,
      env: environmentOf(this.platform),
    });
    return output.replaceAll(this.platform.url, "https://api.example.com");
  }
}

function refuse(command: string): never {
  throw new Error(`${command}: no page had such a command before`);
}

function javaScript({ language, code }: Block, kind: ts.ModuleKind): string {
  if (language === "js") return code;
  return ts.transpileModule(code, { compilerOptions: { module: kind, target: ts.ScriptTarget.ES2022 } }).outputText;
}

async function runToEnd(command: string, args: string[], options: Parameters<typeof runAsync>[2]): Promise<string> {
  const { code, output } = await runAsync(command, args, options);
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
  return output;
}

/** What a page shows, as an expression for what is printed: `…` matches anything. */
export function shows(expected: string): RegExp {
  const literal = normalized(expected)
    .split("…")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("[\\s\\S]*");
  return new RegExp(`^${literal}$`);
}

export function normalized(output: string): string {
  return output
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replace(/\b\d+(\.\d+)? ?m?s\b/g, "<duration>")
    .replace(/127\.0\.0\.1:\d+/g, "<address>")
    .replace(/[ \t]+$/gm, "")
    .trim();
}
