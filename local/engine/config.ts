import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Document, isMap, isScalar, parseDocument, parse } from "yaml";
import { EngineError, readable, UnsupportedError } from "./errors";
import { type Crypter } from "./secrets";

/** What `Pulumi.yaml` says. */
export interface Project {
  readonly name: string;
  readonly directory: string;
  /** Where the program runs, and what is run there: `.` for the package's main file. */
  readonly programDirectory: string;
  readonly entryPoint: string;
  readonly typescript: boolean;
  readonly tsconfig: string | undefined;
  readonly nodeArgs: string[];
  /** Settings that every stack has unless it has its own. */
  readonly config: Record<string, string>;
}

/** A setting of a stack; `secret` where any part of it is. */
export interface ConfigValue {
  readonly value: string;
  readonly secret: boolean;
}

/** Reads the project file of `directory`. */
export function readProject(directory: string): Project {
  const path = projectFile(directory);
  if (path === undefined) throw new EngineError(`no Pulumi.yaml project file found in ${directory}`);
  const yaml = readable(path, () => parse(readFileSync(path, "utf8")) as Record<string, unknown> | null);
  const name = yaml?.name;
  if (typeof name !== "string" || !/^[A-Za-z0-9_.-]+$/.test(name))
    throw new EngineError(`${path} has no usable \`name\``);
  const runtime =
    typeof yaml?.runtime === "string" ? { name: yaml.runtime } : (yaml?.runtime as Record<string, unknown>);
  if (runtime?.name !== "nodejs") throw new UnsupportedError(`the runtime ${JSON.stringify(runtime?.name ?? null)}`);
  const options = (runtime.options ?? {}) as Record<string, unknown>;
  const main = typeof yaml?.main === "string" ? resolve(directory, yaml.main) : undefined;
  const found = main === undefined ? undefined : statSync(main, { throwIfNoEntry: false });
  if (main !== undefined && !found)
    throw new EngineError(`the project's \`main\` could not be read: there is no ${main}`);
  const isFile = main !== undefined && found?.isDirectory() === false;
  return {
    name,
    directory: resolve(directory),
    programDirectory: main === undefined ? resolve(directory) : isFile ? dirname(main) : main,
    entryPoint: isFile ? basename(main) : ".",
    typescript: options.typescript !== false,
    tsconfig: typeof options.tsconfig === "string" ? options.tsconfig : undefined,
    nodeArgs: typeof options.nodeargs === "string" ? options.nodeargs.split(/\s+/).filter((arg) => arg !== "") : [],
    config: projectConfig(name, yaml?.config),
  };
}

/** The nearest folder, from `directory` upwards, that has a project file. */
export function findProject(directory: string): string {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    if (projectFile(folder) !== undefined) return folder;
    if (folder === dirname(folder))
      throw new EngineError(`no Pulumi.yaml project file found in ${directory} or above it`);
  }
}

function projectFile(directory: string): string | undefined {
  return ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(directory, name)).find((path) => existsSync(path));
}

function projectConfig(project: string, config: unknown): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [key, given] of Object.entries((config ?? {}) as Record<string, unknown>)) {
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    const about: { value?: unknown; default?: unknown } = isObject ? given : { value: given };
    const value = about.value ?? about.default;
    if (value !== undefined) settings[fullKey(project, key)] = asText(value);
  }
  return settings;
}

/** `name` alone belongs to the project. */
export function fullKey(project: string, key: string): string {
  const parts = key.split(":");
  if (parts.length === 3 && parts[1] === "config") return `${parts[0] ?? ""}:${parts[2] ?? ""}`;
  if (parts.length > 2 || parts.some((part) => part === ""))
    throw new EngineError(`${JSON.stringify(key)} is no configuration key`);
  return parts.length === 1 ? `${project}:${key}` : key;
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A stack's settings file, `Pulumi.<stack>.yaml`, in the CLI's format. What we don't understand in it stays. */
export class StackFile {
  private readonly document: Document;

  constructor(
    readonly path: string,
    private readonly project: Project,
  ) {
    this.document = existsSync(path) ? parseDocument(readFileSync(path, "utf8")) : new Document({});
    if (this.document.errors[0]) throw new EngineError(`${path}: ${this.document.errors[0].message}`);
    const settings = readable(path, () => this.document.toJSON() as { config?: unknown } | null);
    if (!isMapping(settings ?? {}) || !isMapping(settings?.config ?? {}))
      throw new EngineError(`${path}: it must be a mapping, and so must its \`config\``);
    const provider = this.document.get("secretsprovider");
    if (provider !== undefined && provider !== "passphrase")
      throw new UnsupportedError(`the secrets provider ${asText(provider)}`);
  }

  get salt(): string | undefined {
    const salt = this.document.get("encryptionsalt");
    return typeof salt === "string" ? salt : undefined;
  }

  setSalt(salt: string): void {
    this.document.set("encryptionsalt", salt);
  }

  get hasSecrets(): boolean {
    return JSON.stringify(this.document.toJSON()).includes('"secure":');
  }

  /** Every setting, those of the project file included, under its full name. */
  settings(crypter: Crypter | undefined): Record<string, ConfigValue> {
    const all: Record<string, ConfigValue> = {};
    for (const [key, value] of Object.entries(this.project.config)) all[key] = { value, secret: false };
    const config = this.document.get("config");
    for (const item of isMap(config) ? config.items : []) {
      const key = fullKey(this.project.name, String(isScalar(item.key) ? item.key.value : item.key));
      // The text as written: `1.10` is not 1.1, and `007` not 7.
      if (isScalar(item.value)) all[key] = { value: item.value.source ?? String(item.value.value), secret: false };
      else {
        // An alias means what it names.
        const json = (this.document.toJSON() as { config: Record<string, unknown> }).config;
        const written = json[String(isScalar(item.key) ? item.key.value : item.key)] ?? null;
        all[key] = readable(`the setting ${key} in ${this.path}`, () => reveal(written, crypter));
      }
    }
    return all;
  }

  set(key: string, value: string | { secure: string }): void {
    this.document.setIn(["config", fullKey(this.project.name, key)], value);
  }

  /** Removes a setting; says whether there was one. */
  remove(key: string): boolean {
    return this.document.deleteIn(["config", fullKey(this.project.name, key)]);
  }

  save(): void {
    const aside = `${this.path}.${process.pid}.tmp`;
    writeFileSync(aside, this.document.toString({ lineWidth: 0 }));
    renameSync(aside, this.path);
  }
}

function reveal(json: unknown, crypter: Crypter | undefined): ConfigValue {
  let secret = false;
  const open = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(open);
    if (typeof value !== "object" || value === null) return value;
    const { secure, ...others } = value as { secure?: unknown };
    if (typeof secure === "string" && Object.keys(others).length === 0) {
      if (crypter === undefined)
        throw new EngineError("a setting is secret, and there is no passphrase to read it with");
      secret = true;
      return crypter.decrypt(secure);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, open(item)]));
  };
  const value = asText(open(json));
  return { value, secret };
}
