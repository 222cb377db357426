import { spawnSync } from "node:child_process";
import { type Check, unchecked, wrong } from "./check";
import { type Project } from "./project";

/** What the `pulumi` CLI printed, or why it printed nothing. */
export type Printed = { readonly text: string } | { readonly error: string };

/** The error if there is no CLI. */
const noCli = "there is no pulumi CLI on PATH";

/** A backend that does not respond must not block the command permanently. */
const timeoutMs = 60_000;

/** Runs the `pulumi` CLI without input, so that it asks for nothing. */
export function runPulumi({ directory }: Project, ...args: readonly string[]): Printed {
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

/** The stack if none is named: the one that `pulumi stack select` has chosen for the project, otherwise `dev`. */
export function defaultStack(project: Project): string {
  const printed = runPulumi(project, "stack", "--show-name");
  return "text" in printed ? printed.text.trim() : "dev";
}

/** A setting of a stack, as `pulumi config` prints it. */
interface StackSetting {
  readonly value: string;
  readonly secret: boolean;
}

export interface StackSettings {
  /** By full name. */
  readonly settings: ReadonlyMap<string, StackSetting>;
  /** Why they were not read, if they were not. */
  readonly problems: readonly Check[];
}

/** Reads the `rekey:` settings of a stack with `pulumi config`. Secrets stay in this process: no check shows them. */
export function readStackSettings(project: Project, stack: string): StackSettings {
  const printed = runPulumi(project, "config", "--json", "--show-secrets", "--stack", stack);
  if ("text" in printed) {
    const all = Object.entries(JSON.parse(printed.text) as Record<string, StackSetting>);
    return { settings: new Map(all.filter(([key]) => key.startsWith("rekey:"))), problems: [] };
  }
  const subject = "the stack's configuration";
  const message = `The stack's configuration was not read: ${printed.error}. Only the environment was checked.`;
  const fix = `Log in, name the right stack, correct its file, or set PULUMI_CONFIG_PASSPHRASE until \`pulumi config --show-secrets --stack ${stack}\` succeeds in ${project.directory}.`;
  const problem = printed.error === noCli ? unchecked(subject, message) : wrong(subject, message, fix);
  return { settings: new Map(), problems: [problem] };
}
