import { Child } from "./child";
import { type ConfigValue, type Project } from "./config";

/** The exit code of a program that has already reported its error. */
const alreadyReported = 32;

export interface ProgramOptions {
  readonly project: Project;
  readonly stack: string;
  readonly dryRun: boolean;
  readonly parallel: number;
  readonly env: NodeJS.ProcessEnv;
  readonly config: Readonly<Record<string, ConfigValue>>;
}

/** Starts a Pulumi program with the SDK's own runner, as the CLI's language host does. */
export function startProgram(options: ProgramOptions, monitor: string, onLine: (line: string) => void): Child {
  const { project, stack, dryRun, parallel } = options;
  const settings = Object.entries(options.config);
  // Older packages expect `namespace:config:name`; newer ones accept it too.
  const config = settings.map(([key, { value }]) => [key.replace(":", ":config:"), value]);
  const secretKeys = settings.filter(([, { secret }]) => secret).map(([key]) => key);
  const env: NodeJS.ProcessEnv = {
    ...options.env,
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(config)),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(secretKeys),
    ...(project.typescript && { PULUMI_NODEJS_TYPESCRIPT: "true" }),
    ...(project.tsconfig !== undefined && { PULUMI_NODEJS_TSCONFIG_PATH: project.tsconfig }),
  };
  const args = [
    ...["--monitor", monitor, "--engine", monitor, "--organization", "organization", "--project", project.name],
    ...["--root-directory", project.directory, "--stack", stack, "--pwd", project.programDirectory],
    ...(dryRun ? ["--dry-run"] : []),
    ...["--parallel", String(parallel), project.entryPoint],
  ];
  const { programDirectory: cwd, nodeArgs } = project;
  return Child.start("cmd/run/index.js", args, { cwd, env, nodeArgs }, onLine);
}

/** The error message for the exit of a program; undefined if the error has already been reported. */
export function describeExit(code: number | null, signal: string | null): string | undefined {
  if (code === alreadyReported) return undefined;
  const how = code === null ? `was ended by ${String(signal)}` : `exited with non-zero exit code: ${code}`;
  return `an unhandled error occurred: Program ${how}`;
}
