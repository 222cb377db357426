import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pulumiCli } from "./engine";
import { Folder } from "./folder";
import { projectRoot } from "./host";
import { findOnPath } from "./path";
import { examples } from "./project";
import { runAsync } from "./runAsync";

/** Why programs in a language cannot run here; undefined if they can. @param programs what they need on PATH */
export function whyNoPrograms(...programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => findOnPath(program) === undefined);
  return pulumiCli.unavailable ?? (missing && `no \`${missing}\` on PATH`);
}

/** Writes the archive of the plugin, as it is built. @returns its path */
export async function writePluginArchive(folder: string): Promise<string> {
  const script = join(projectRoot, "scripts", "plugin-archive.mjs");
  const { code, output } = await runAsync(process.execPath, [script, folder], { cwd: projectRoot });
  assert.equal(code, 0, output);
  return output.trim();
}

/** A new home of Pulumi in which the plugin is installed, by the command for users. */
export class HomeWithPlugin extends Folder {
  /** For commands that use this home, and no plugin on PATH. */
  readonly environment = {
    PULUMI_HOME: this.path("home"),
    PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };

  static async make(): Promise<HomeWithPlugin> {
    const home = new HomeWithPlugin();
    await writePluginArchive(home.directory);
    const page = readFileSync(join(examples, "languages", "README.md"), "utf8");
    const command = /^ *(pulumi plugin install .*)$/m.exec(page)?.[1] ?? assert.fail("the page has no command");
    const options = { cwd: home.directory, env: home.environment };
    const { code, output } = await runAsync("sh", ["-e", "-c", command], options);
    assert.equal(code, 0, output);
    return home;
  }
}
