import { type Engine } from "../../test/support/engine";
import { engineEnvironment } from "../../test/support/engineProcess";
import { type Project } from "../../test/support/project";
import { type Measured, measure } from "./run";

/** A stack whose operations are measured with the engine's command line. */
export interface BenchStack {
  preview(): Promise<Measured>;
  up(): Promise<Measured>;
  /** Size of the resources in the state in bytes, without white space. */
  stateSize(): Promise<number>;
}

/** Creates a stack. */
export async function openBenchStack(
  engine: Engine,
  { directory }: Project,
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchStack> {
  const stack = await engine.open(directory, environment);
  const env = { ...engineEnvironment(directory), ...environment };
  const [command, ...first] = engine.command;
  const run = (...args: string[]) => measure(command, [...first, ...args, "--stack", "dev"], { cwd: directory, env });
  return {
    preview: () => run("preview"),
    up: () => run("up", "--yes", "--skip-preview"),
    stateSize: async () => Buffer.byteLength(JSON.stringify((await stack.exportState()).deployment.resources)),
  };
}
