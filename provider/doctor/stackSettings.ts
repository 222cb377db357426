import { type Check, unchecked, wrong } from "./check";
import { type Project } from "../settings/project";
import { runPulumi } from "./pulumiCli";

/** A setting of a stack, as `pulumi config` prints it. */
export interface StackSetting {
  /** Undefined if it is encrypted and cannot be decrypted. */
  readonly value: string | undefined;
  readonly secret: boolean;
}

export interface StackSettings {
  /** By full name; undefined if they could not be read. */
  readonly settings: ReadonlyMap<string, StackSetting> | undefined;
  /** What prevented reading some or all of them. */
  readonly problems: readonly Check[];
}

/** Reads the `rekey:` settings of a stack with `pulumi config`. Secrets stay in this process: no check shows them. */
export function readStackSettings(project: Project, stack: string): StackSettings {
  const all = runPulumiConfig(project, stack, "--show-secrets");
  if (all instanceof Map) return { settings: all, problems: [] };
  const subject = "the stack's configuration";
  if (all === undefined) {
    const message =
      "The stack's configuration was not read, because there is no pulumi CLI on PATH. Only the environment was checked.";
    return { settings: undefined, problems: [unchecked(subject, message)] };
  }
  const withoutSecrets = runPulumiConfig(project, stack);
  if (withoutSecrets instanceof Map) {
    const fix =
      "Set PULUMI_CONFIG_PASSPHRASE (or PULUMI_CONFIG_PASSPHRASE_FILE) to the stack's passphrase, or give this machine access to the key of its secrets provider.";
    const message = `The stack's secrets cannot be decrypted: ${all}.`;
    return { settings: withoutSecrets, problems: [wrong("the stack's secrets", message, fix)] };
  }
  const fix = `Log in, name the right stack, or correct its file until \`pulumi config --stack ${stack}\` succeeds there.`;
  const message = `\`pulumi config\` failed in ${project.directory}: ${all}. Only the environment was checked.`;
  return { settings: undefined, problems: [wrong(subject, message, fix)] };
}

/** The stack if none is named: the one that `pulumi stack select` has chosen for the project, otherwise `dev`. */
export function defaultStack({ directory }: Project): string {
  const printed = runPulumi(directory, "stack", "--show-name");
  return printed && "text" in printed ? printed.text.trim() : "dev";
}

/** @returns the settings, or the error that the CLI printed, or undefined if there is no CLI */
function runPulumiConfig(
  { directory }: Project,
  stack: string,
  ...flags: readonly string[]
): Map<string, StackSetting> | string | undefined {
  const printed = runPulumi(directory, "config", "--json", ...flags, "--stack", stack);
  if (printed === undefined || "error" in printed) return printed?.error;
  const all = JSON.parse(printed.text) as Record<string, { value?: string; secret: boolean }>;
  const settings = Object.entries(all).filter(([key]) => key.startsWith("rekey:"));
  return new Map(settings.map(([key, { value, secret }]) => [key, { value, secret }]));
}
