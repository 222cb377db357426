import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Settings } from "../settings/settings";
import { nameOf } from "../settings/table";

/** A Pulumi project, from its `Pulumi.yaml`. */
export interface Project {
  readonly name: string;
  readonly directory: string;
  /** The folder of the program, or its file. */
  readonly program: string;
  /** The language host of the program: `nodejs`, `python`. */
  readonly runtime: string;
  /** Whether the program uses the native plugin. */
  readonly usesPlugin: boolean;
}

/** The project in a folder, or in the nearest folder above it. @throws Error if there is none */
export function findProject(cwd: string): Project {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(directory, name)).find((file) => existsSync(file));
    if (path !== undefined) return readProject(directory, readFileSync(path, "utf8"));
    if (directory === dirname(directory)) {
      throw new Error(`there is no Pulumi.yaml in ${cwd} or in a folder above it`);
    }
  }
}

/** Reads the few top-level values that are needed here. They are plain, so no YAML parser is needed. */
function readProject(directory: string, text: string): Project {
  const valueOf = (key: string): string | undefined =>
    new RegExp(`^${key}:[ \\t]*(["']?)(.*?)\\1(?:\\s+#.*)?\\s*$`, "m").exec(text)?.[2];
  const below = (key: string): string => new RegExp(`^${key}:(.*(?:\\n[ \\t]+.*)*)`, "m").exec(text)?.[1] ?? "";
  const [, runtime = "nodejs"] =
    /\bname:\s*["']?([\w-]+)/.exec(below("runtime")) ?? /([\w-]+)/.exec(below("runtime")) ?? [];
  // `pulumi package add` writes it.
  const usesPlugin = runtime !== "nodejs" || /^[ \t]+rekey:/m.test(below("packages"));
  const program = resolve(directory, valueOf("main") ?? ".");
  return { name: valueOf("name") ?? "", directory, program, runtime, usesPlugin };
}

/** A stack of a project, and its settings. */
export interface Stack {
  readonly name: string;
  /** What `pulumi config` prints of its `rekey:` settings, by full name. */
  readonly stored: ReadonlyMap<string, { readonly value: string; readonly secret: boolean }>;
  /** Why that was not read, if it was not. Without a CLI, this is not an error: the environment may have everything. */
  readonly unread?: { readonly state: "unchecked" | "wrong"; readonly message: string; readonly fix?: string };
  /** The settings as the provider would read them. */
  readonly settings: Settings;
}

/**
 * Reads the settings of a stack. Secrets stay in this process.
 *
 * @param name default: the stack that `pulumi stack select` has chosen for the project, otherwise `dev`
 */
export function readStack(project: Project, name = selectedStack(project)): Stack {
  const printed = runPulumi(project, "config", "--json", "--show-secrets", "--stack", name);
  const all = "text" in printed ? (JSON.parse(printed.text) as Record<string, { value: string; secret: boolean }>) : {};
  const stored = new Map(Object.entries(all).filter(([key]) => key.startsWith("rekey:")));
  const settings = new Settings((setting) => stored.get(nameOf(setting))?.value, process.env);
  if ("text" in printed) return { name, stored, settings };
  const message = `The stack's configuration was not read: ${printed.error}. Only the environment was read.`;
  if (printed.error === noCli) return { name, stored, settings, unread: { state: "unchecked", message } };
  const fix = `Log in, name the right stack, correct its file, or set PULUMI_CONFIG_PASSPHRASE until \`pulumi config --show-secrets --stack ${name}\` succeeds in ${project.directory}.`;
  return { name, stored, settings, unread: { state: "wrong", message, fix } };
}

function selectedStack(project: Project): string {
  const printed = runPulumi(project, "stack", "--show-name");
  return "text" in printed ? printed.text.trim() : "dev";
}

const noCli = "there is no pulumi CLI on PATH";

/** A backend that does not respond must not block the command permanently. */
const timeoutMs = 60_000;

/** Runs the `pulumi` CLI without input, so that it asks for nothing. @returns what it printed, or why nothing */
export function runPulumi(
  { directory }: Project,
  ...args: readonly string[]
): { readonly text: string } | { readonly error: string } {
  const { status, stdout, stderr, error } = spawnSync("pulumi", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    // The state of a large stack has megabytes.
    maxBuffer: Infinity,
  });
  if (error) return { error: (error as NodeJS.ErrnoException).code === "ENOENT" ? noCli : error.message };
  if (status === 0) return { text: stdout };
  // Only the first line: the lines after it may show parts of the settings file, and so a secret in plain text.
  return { error: /^error: (.*?)[.:]?$/m.exec(stderr)?.[1] ?? `it ended with exit code ${status}` };
}
