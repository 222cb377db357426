import { type Platform, type PlatformOptions, startPlatform } from "../../local/index";
import { Program } from "../support/program";
import { type Engine, type Stack } from "./engine";
import { localEngine } from "./localEngine";
import { pulumiCli } from "./pulumiCli";

/** Describes specs on each engine that runs here; the others are skipped, with the reason. */
export function onEngines(title: string, specs: (engine: Engine) => void): void {
  for (const engine of [localEngine, pulumiCli]) {
    const reason = engine.unavailable;
    if (reason === undefined)
      describe(`${title}, on the ${engine.name}`, function () {
        // Several processes each; a busy machine takes its time.
        this.timeout(600_000);
        specs(engine);
      });
    else it.skip(`${title}, on the ${engine.name} (skipped: ${reason})`);
  }
}

/** A platform, a program, and a stack that is configured for that platform. */
export interface Scene {
  readonly platform: Platform;
  readonly program: Program;
  readonly stack: Stack;
}

const scenes: Scene[] = [];

/** Sets a scene. `after(endScenes)` ends it. */
export async function scene(engine: Engine, source: string | Program, options: PlatformOptions = {}): Promise<Scene> {
  const platform = await startPlatform(options);
  const program = typeof source === "string" ? new Program(source) : source;
  const stack = await engine.open(program.directory);
  await stack.setConfig("rekey:baseUrl", platform.url);
  await stack.setConfig("rekey:queueUrl", platform.url);
  await stack.setConfig("rekey:username", platform.username);
  await stack.setConfig("rekey:password", platform.password, true);
  await stack.setConfig("rekey:queueToken", platform.queueToken, true);
  const made = { platform, program, stack };
  scenes.push(made);
  return made;
}

export async function endScenes(): Promise<void> {
  for (const { platform, program } of scenes.splice(0)) {
    await platform.close();
    program.remove();
  }
}
