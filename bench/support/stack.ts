import { type Engine } from "../../test/support/engine";
import { engineEnvironment } from "../../test/support/engineProcess";
import { type Project } from "../../test/support/project";
import { type Measured, measure } from "./run";

/** A stack whose operations are measured on the engine's command line, as a user starts it. */
export interface BenchStack {
  preview(): Promise<Measured>;
  up(): Promise<Measured>;
  /** Bytes of the resources in the state, without what is only layout. */
  stateSize(): Promise<number>;
}

/** Makes a new stack of a project. */
export async function openBenchStack(
  engine: Engine,
  { directory }: Project,
  environment: Readonly<Record<string, string>> = {},
  name = "dev",
): Promise<BenchStack> {
  const stack = await engine.open(directory, environment, name);
  const env = { ...engineEnvironment(directory), ...environment };
  const [command, ...first] = engine.command;
  const run = (...args: string[]) => measure(command, [...first, ...args, "--stack", name], { cwd: directory, env });
  return {
    preview: () => run("preview"),
    up: () => run("up", "--yes", "--skip-preview"),
    stateSize: async () => Buffer.byteLength(JSON.stringify((await stack.exportState()).deployment.resources)),
  };
}
