import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Document, parse, parseDocument } from "yaml";
import { z } from "zod";
import { whyUnreadable } from "../unreadable";
import { EngineError, firstIssue, messageOf, readable, UnsupportedError } from "./errors";
import { type Crypter } from "./secrets";

/** The content of `Pulumi.yaml`. */
export interface Project {
  readonly name: string;
  readonly directory: string;
  /** The working directory of the program, and the file to run there: `.` for the package's main file. */
  readonly programDirectory: string;
  readonly entryPoint: string;
  readonly typescript: boolean;
  readonly tsconfig: string | undefined;
  readonly nodeArgs: string[];
  /** Default settings of all stacks. */
  readonly config: Record<string, string>;
}

/** A setting of a stack. It is secret if any part of it is. */
export interface ConfigValue {
  /** The text as written, or JSON if the value is not text. Secrets are in plain text. */
  readonly value: string;
  /** Whether it is encrypted in the settings file. */
  readonly secret: boolean;
}

const runtimeOptions = z.object({
  typescript: z.boolean().default(true),
  tsconfig: z.string().optional(),
  nodeargs: z.string().default(""),
});
const projectFile = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]+$/),
  runtime: z.union([
    z.string().transform((name) => ({ name, options: runtimeOptions.parse({}) })),
    z.object({ name: z.string(), options: runtimeOptions.prefault({}) }),
  ]),
  main: z.string().default("."),
  config: z.record(z.string(), z.unknown()).default({}),
});

const fixFile = "Nothing was changed. Fix the file";

/** Reads the project file of `directory`. */
export function readProject(directory: string): Project {
  const path = findFile(directory);
  if (path === undefined) {
    throw new EngineError(`no Pulumi.yaml project file found in ${directory}. Use the folder of a project`);
  }
  const result = projectFile.safeParse(readable(path, fixFile, () => parse(readFileSync(path, "utf8")) as unknown));
  if (!result.success) throw new EngineError(`${path} is invalid: ${firstIssue(result.error)}. ${fixFile}`);
  const { name, runtime, main, config, ...others } = result.data;
  if (runtime.name !== "nodejs") throw new UnsupportedError(`the runtime ${JSON.stringify(runtime.name)}`);
  for (const key of ["stackConfigDir", "plugins", "packages"]) {
    if (key in others) throw new UnsupportedError(`\`${key}\` in ${path}`);
  }
  const program = resolve(directory, main);
  const found = statSync(program, { throwIfNoEntry: false });
  if (!found) {
    throw new EngineError(`the project's \`main\` could not be read: ${program} does not exist. Correct it in ${path}`);
  }
  return {
    name,
    directory: resolve(directory),
    programDirectory: found.isDirectory() ? program : dirname(program),
    entryPoint: found.isDirectory() ? "." : basename(program),
    typescript: runtime.options.typescript,
    tsconfig: runtime.options.tsconfig,
    nodeArgs: runtime.options.nodeargs.split(/\s+/).filter((arg) => arg !== ""),
    config: projectConfig(name, config),
  };
}

/** The closest folder with a project file: `directory` or a parent. */
export function findProject(directory: string): string {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    if (findFile(folder) !== undefined) return folder;
    if (folder === dirname(folder)) {
      throw new EngineError(
        `no Pulumi.yaml project file found in ${directory} or a parent folder. Set the folder of a project with --cwd`,
      );
    }
  }
}

function findFile(directory: string): string | undefined {
  return ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(directory, name)).find((path) => existsSync(path));
}

function projectConfig(project: string, config: Record<string, unknown>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [key, given] of Object.entries(config)) {
    const declared = z.object({ value: z.unknown().optional(), default: z.unknown().optional() }).safeParse(given).data;
    const value = declared ? (declared.value ?? declared.default) : given;
    if (value !== undefined) settings[fullKey(project, key)] = asText(value);
  }
  return settings;
}

/** The full name of a setting. A name without a namespace belongs to the project. */
export function fullKey(project: string, key: string): string {
  const [, namespace = project, name] = /^(?:([^:]+):(?:config:)?)?([^:]+)$/.exec(key) ?? [];
  if (name === undefined) {
    throw new EngineError(`${JSON.stringify(key)} is not a configuration key: use \`name\` or \`namespace:name\``);
  }
  return `${namespace}:${name}`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const stackFile = z.looseObject({
  config: z.record(z.string(), z.unknown()).nullish(),
  encryptionsalt: z.string().optional(),
  secretsprovider: z.string().optional(),
});

/** A stack's settings file, `Pulumi.<stack>.yaml`, in the CLI's format. Unknown content is preserved. */
export class StackFile {
  readonly salt: string | undefined;
  readonly #document: Document;

  constructor(
    readonly path: string,
    private readonly project: Project,
  ) {
    this.#document = existsSync(path) ? parseDocument(readFileSync(path, "utf8")) : new Document({});
    const [error] = this.#document.errors;
    if (error) throw new EngineError(`${path} cannot be read: ${whyUnreadable(error)}. ${fixFile}`, { cause: error });
    const result = stackFile.safeParse(readable(path, fixFile, () => this.#document.toJSON() as unknown) ?? {});
    if (!result.success) throw new EngineError(`${path} is invalid: ${firstIssue(result.error)}. ${fixFile}`);
    const { encryptionsalt, secretsprovider = "passphrase" } = result.data;
    if (secretsprovider !== "passphrase") throw new UnsupportedError(`the secrets provider ${secretsprovider}`);
    this.salt = encryptionsalt;
  }

  /** The settings as written in the file. */
  get #config(): Record<string, unknown> {
    return (this.#document.toJSON() as z.infer<typeof stackFile> | null)?.config ?? {};
  }

  get hasSecrets(): boolean {
    return JSON.stringify(this.#config).includes('"secure":');
  }

  /** All settings by full name, including those of the project file. */
  settings(crypter: Crypter | undefined): Record<string, ConfigValue> {
    const own = Object.entries(this.#config).map(([name, value]): [string, ConfigValue] => {
      const key = fullKey(this.project.name, name);
      const what = `the setting ${key} in ${this.path}`;
      const whatToDo = `Set it again: rekey-local config set --secret ${key}`;
      return [key, readable(what, whatToDo, () => this.#read(name, value, crypter))];
    });
    const given = Object.entries(this.project.config).map(([key, value]) => [key, { value, secret: false }] as const);
    return Object.fromEntries([...given, ...own]);
  }

  #read(name: string, given: unknown, crypter: Crypter | undefined): ConfigValue {
    // The text as written: `1.10` must not become 1.1, and `007` not 7.
    const node = this.#document.getIn(["config", name], true) as { source?: unknown } | undefined;
    if (typeof node?.source === "string") return { value: node.source, secret: false };
    let secret = false;
    const value = JSON.stringify(given, (_, part: unknown) => {
      const sealed = z.strictObject({ secure: z.string() }).safeParse(part);
      if (!sealed.success) return part;
      if (!crypter) throw new EngineError("it is secret, and no passphrase is set");
      secret = true;
      return crypter.decrypt(sealed.data.secure);
    });
    return { value: asText(JSON.parse(value)), secret };
  }

  setSalt(salt: string): void {
    this.#document.set("encryptionsalt", salt);
  }

  set(key: string, value: string | { secure: string }): void {
    const path = ["config", fullKey(this.project.name, key)];
    // Nothing can be added to an empty `config:`.
    if (this.#document.has("config") && this.#document.get("config") === undefined) this.#document.delete("config");
    this.#document.setIn(path, value);
  }

  /** Removes a setting. @returns whether it existed */
  remove(key: string): boolean {
    const path = ["config", fullKey(this.project.name, key)];
    return this.#document.hasIn(path) && this.#document.deleteIn(path);
  }

  save(): void {
    const aside = `${this.path}.${process.pid}.tmp`;
    try {
      writeFileSync(aside, this.#document.toString({ lineWidth: 0 }));
      renameSync(aside, this.path);
    } catch (error) {
      rmSync(aside, { force: true });
      const why = `the settings cannot be written: ${messageOf(error)}`;
      throw new EngineError(`${why}. ${this.path} is unchanged. Free some space, or make the folder writable`, {
        cause: error,
      });
    }
  }
}
