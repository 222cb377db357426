import { delimiter } from "node:path";
import * as ts from "typescript";
import { type Platform, startPlatform } from "../../local/index";
import { localEngine, succeeds } from "../support/engine";
import { engineEnvironment } from "../support/engineProcess";
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

/** Reads like `import … from "pulumi-rekey"`: a program that an engine runs. */
export const isProgram = ({ language, code }: Block): boolean =>
  ["ts", "js"].includes(language) && /from "pulumi-rekey"|require\("pulumi-rekey"\)/.test(code);

/** One that imports the platform or the engine is run by Node. */
export const isScript = ({ language, code }: Block): boolean =>
  ["ts", "js"].includes(language) && code.includes('from "rekey-local"');

/** The folder in which a reader follows a page: its blocks run in order, against one platform, on the local engine. */
export class Session {
  readonly #project = new Project("");
  readonly #files = new Map<string, string>();
  /** Ends a command that still runs after its test. */
  readonly #over = new AbortController();

  private constructor(private readonly platform: Platform) {
    const node = localEngine.command.map((part) => `"${part}"`).join(" ");
    // `pulumi stack output` is `rekey-local output`; a person types a secret that is asked for.
    const commands = {
      "rekey-local": `exec ${node} "$@"`,
      pulumi: `[ "$1" = stack ] && shift\nprintf %s ${fixture.password} | ${node} "$@"`,
    };
    for (const [name, text] of Object.entries(commands)) {
      this.#project.write(`node_modules/.bin/${name}`, `#!/bin/sh\n${text}\n`, 0o755);
    }
  }

  static async start(): Promise<Session> {
    return new Session(await startPlatform(fixture));
  }

  get resets(): number {
    return this.platform.resetCount;
  }

  get #environment(): Record<string, string> {
    return { ...environmentOf(this.platform), REKEY_DATABASE_LIST_PATH: "/v2/redis/databases" };
  }

  /** Runs a block. @returns what it prints @throws Error if it fails */
  async run(block: Block): Promise<string> {
    if (block.file !== undefined) return this.#save(block.file, block.code);
    if (isScript(block)) return this.#script(block);
    if (isProgram(block)) return this.#up(block);
    return this.#shell(block.code);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.platform.close();
    this.#project.remove();
  }

  async #up(block: Block): Promise<string> {
    this.#project.rewrite(javaScript(block, ts.ModuleKind.CommonJS));
    const stack = await localEngine.open(this.#project.directory, this.#environment);
    return (await succeeds(stack.up())).printed;
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

  #save(name: string, text: string): string {
    this.#files.set(name, text);
    this.#project.write(name, text);
    return "";
  }

  async #shell(code: string): Promise<string> {
    const script = code.replaceAll(addresses, this.platform.url);
    const { directory } = this.#project;
    const output = await runToEnd("bash", ["--norc", "-euo", "pipefail", "-c", script], {
      cwd: directory,
      signal: this.#over.signal,
      env: {
        ...engineEnvironment(directory),
        ...this.#environment,
        PATH: `${this.#project.path("node_modules/.bin")}${delimiter}${process.env.PATH}`,
      },
    });
    return output.replaceAll(this.platform.url, "https://api.example.com");
  }
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
