import { type Platform, type PlatformOptions, startPlatform } from "../../local/index";
import { type Engine, localEngine, pluginOnCli, pulumiCli, type Stack } from "./engine";
import { Project } from "./project";

/** Describes specs on each engine that runs here; skips the others, with the reason. */
export function onEngines(
  title: string,
  specs: (engine: Engine) => void,
  engines: readonly Engine[] = [localEngine, pulumiCli],
): void {
  for (const engine of engines) {
    onEngine(engine, [`${title}, on the ${engine.name}`, engine.version].join(" ").trim(), specs);
  }
}

/** Describes specs on both engines, and with the native plugin on the CLI, which alone can start it. */
export function onEveryEngine(title: string, specs: (engine: Engine) => void): void {
  onEngines(title, specs, [localEngine, pulumiCli, pluginOnCli]);
}

/** Describes specs on one engine; skips them, with the reason, if it cannot run here. */
export function onEngine(engine: Engine, title: string, specs: (engine: Engine) => void): void {
  if (engine.unavailable !== undefined) return void it.skip(`${title} (skipped: ${engine.unavailable})`);
  describe(title, function () {
    // Each spec starts several processes.
    after(endFixtures);
    specs(engine);
  });
}

/** A platform, a project, and a stack that is configured for that platform. */
export interface Fixture {
  readonly platform: Platform;
  readonly project: Project;
  readonly stack: Stack;
  /** Closes the platform and removes the project; `onEngine` ends those that are left when its specs are done. */
  readonly end: () => Promise<void>;
}

const fixtures = new Set<Fixture>();

export async function fixture(
  engine: Engine,
  program: string | Project,
  options: PlatformOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Fixture> {
  const platform = await startPlatform(options);
  const project = typeof program === "string" ? new Project(program, { native: engine.native }) : program;
  const stack = await engine.open(project.directory, environment);
  const { url, username, password, queueToken } = platform;
  const settings = { baseUrl: url, queueUrl: url, username, password, queueToken };
  for (const [name, value] of Object.entries(settings)) {
    await stack.setConfig(`rekey:${name}`, value, value === password || value === queueToken);
  }
  const made: Fixture = {
    platform,
    project,
    stack,
    async end() {
      fixtures.delete(made);
      await platform.close();
      project.remove();
    },
  };
  fixtures.add(made);
  return made;
}

/**
 * A program with a rotation of `db-quickstart`, and its outputs as outputs of the stack.
 *
 * @param args further arguments, or another databaseId
 */
export function rotating(args = ""): string {
  return `
const { PasswordRotation } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", ${args} });
for (const name of ["outcome", "password", "restToken", "rotationCount", "rotationReason", "nextRotationAt", "endpoint",
  "port", "tls", "record", "exactIntegers", "problems"]) exports[name] = rotation[name];
`;
}

/** Ends the fixtures that are left. `onEngine` calls it itself. */
export async function endFixtures(): Promise<void> {
  for (const { end } of fixtures) await end();
}
