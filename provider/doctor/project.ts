import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type * as yaml from "yaml";
import { isObject, orUndefined } from "../records/fields";
import { Settings } from "../settings/settings";
import { settingKey } from "../settings/table";

/** A Pulumi project, from its `Pulumi.yaml`. */
export interface Project {
  readonly name: string;
  readonly directory: string;
  /** The folder of the program, or its file. */
  readonly program: string;
  /** The language host of the program: `nodejs`, `python`. */
  readonly runtime: string;
  /** The program uses the native plugin. */
  readonly usesPlugin: boolean;
}

/**
 * The project in a folder, or in the nearest folder above it; undefined if there is none.
 *
 * @throws Error if its file is not YAML
 */
export function findProject(cwd: string): Project | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = ["Pulumi.yaml", "Pulumi.yml"]
      .map((name) => join(directory, name))
      .find((file) => existsSync(file));
    if (path !== undefined) return readProject(directory, path);
    if (directory === dirname(directory)) return undefined;
  }
}

/** The message for a folder that is in no project. */
export function noProject(cwd: string): string {
  return `there is no Pulumi.yaml in ${cwd} or in a folder above it`;
}

function readProject(directory: string, path: string): Project {
  const { name, main, runtime, packages } = readYaml(path);
  const language = textOr("nodejs", isObject(runtime) ? runtime["name"] : runtime);
  return {
    name: textOr("", name),
    directory,
    program: resolve(directory, textOr(".", main)),
    runtime: language,
    // `pulumi package add` writes it.
    usesPlugin: language !== "nodejs" || (isObject(packages) && "rekey" in packages),
  };
}

function textOr(byDefault: string, value: unknown): string {
  return typeof value === "string" && value !== "" ? value : byDefault;
}

/** The values of a YAML file, as text. @throws Error without a part of the file, which may contain a secret */
function readYaml(path: string): Readonly<Record<string, unknown>> {
  const { parse, YAMLError } = require("yaml") as typeof yaml;
  try {
    const value: unknown = parse(readFileSync(path, "utf8"), {
      schema: "failsafe",
      logLevel: "error",
    });
    return isObject(value) ? value : {};
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    throw new Error(`${path} is not YAML (line ${error.linePos?.[0].line}): fix it`);
  }
}

/** The result of one check. */
export interface Check {
  /** `unchecked` if no problem was seen, but there may be one. */
  readonly state: "ok" | "unchecked" | "wrong";
  readonly message: string;
  /** How to fix the problem, unless the message says it. */
  readonly fix?: string;
}

/** A setting that is stored in the configuration of a stack. */
interface Stored {
  readonly value: string;
  readonly secret: boolean;
}

/** A stack of a project, and its settings. */
export interface Stack {
  readonly name: string;
  /** Its `rekey:` settings as `pulumi config` prints them, by full name. */
  readonly stored: ReadonlyMap<string, Stored>;
  /** Why that was not read, if it was not. Without a CLI, this is not an error: the environment may have everything. */
  readonly unread?: Check;
  /** The settings as the provider would read them. */
  readonly settings: Settings;
}

/** Reads the settings of a stack. Secrets stay in this process. @param directory where Pulumi looks for its project */
export function readStack(directory: string, name: string): Stack {
  const args = ["config", "--json", "--show-secrets", "--stack", name];
  const { text = "", error = "the pulumi CLI printed no JSON" } = runPulumi(directory, ...args);
  const read = orUndefined(() => JSON.parse(text) as Record<string, Stored>);
  const stored = new Map(Object.entries(read ?? {}).filter(([key]) => key.startsWith("rekey:")));
  const settings = new Settings((setting) => stored.get(settingKey(setting))?.value, process.env);
  if (read !== undefined) return { name, stored, settings };
  const message = `The stack's configuration was not read: ${error}. Only the environment was read.`;
  if (error === noCli) return { name, stored, settings, unread: { state: "unchecked", message } };
  const fix = `Log in, name the right stack, fix its file, or set PULUMI_CONFIG_PASSPHRASE, until \`pulumi config --show-secrets --stack ${name}\` succeeds in ${directory}.`;
  return { name, stored, settings, unread: { state: "wrong", message, fix } };
}

/** The substitute for a stack in a folder without a project. */
export function environmentOnly(cwd: string): Stack {
  const message = `Only the environment was read: ${noProject(cwd)}.`;
  const settings = new Settings(() => undefined, process.env);
  return { name: "", stored: new Map(), settings, unread: { state: "unchecked", message } };
}

/** The stack that `pulumi stack select` has chosen for the project, otherwise `dev`. */
export function selectedStack({ directory }: Project): string {
  return runPulumi(directory, "stack", "--show-name").text?.trim() ?? "dev";
}

const noCli = "there is no pulumi CLI on PATH";

/** A backend that does not respond must not block the command permanently. */
const timeoutMs = 60_000;

/** Runs the `pulumi` CLI without input, so that it asks for nothing. @returns what it printed, or why nothing */
export function runPulumi(
  directory: string,
  ...args: readonly string[]
): { readonly text?: string; readonly error?: string } {
  const { status, stdout, stderr, error } = spawnSync("pulumi", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    // The state of a large stack has megabytes.
    maxBuffer: Infinity,
  });
  if (error) {
    return { error: (error as NodeJS.ErrnoException).code === "ENOENT" ? noCli : error.message };
  }
  if (status === 0) return { text: stdout };
  // Only the first line: the lines after it may show parts of the settings file, and so a secret in plain text.
  return { error: /^error: (.*?)[.:]?$/m.exec(stderr)?.[1] ?? `it ended with exit code ${status}` };
}
