import assert from "node:assert/strict";
import { join } from "node:path";
import { packageVersion } from "../../provider/domain/ownPackage";
import { passphrase } from "./engine";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { findOnPath, runAsync, runToEnd } from "../support/processes";
import { skip } from "../support/skip";

/** Why programs in a language cannot run here; undefined if they can. @param programs what they need on PATH */
export function whyNoPrograms(...programs: readonly string[]): string | undefined {
  const missing = ["pulumi", ...programs].find((program) => findOnPath(program) === undefined);
  return (
    missing && `no \`${missing}\` on PATH; the CLI that https://www.pulumi.com/docs/install installs has its hosts`
  );
}

/** What pip, Go and npm print without a package registry. */
const unreachable =
  /Failed to establish a new connection|proxy\.golang\.org\S*: dial tcp|ENOTFOUND|EAI_AGAIN|ECONNREFUSED/;

/** Writes the archives of the plugin, as it is built, and their checksums. @returns their paths, the checksums last */
export async function writePluginArchives(folder: string): Promise<string[]> {
  const script = join(projectRoot, "scripts", "plugin-archive.mjs");
  const paths = await runToEnd(process.execPath, [script, folder], { cwd: projectRoot });
  return paths.trim().split("\n");
}

/** A new home of Pulumi in which the plugin is installed, as docs/plugin.md does it. */
export class HomeWithPlugin extends Folder {
  /** For commands that use this home, and no plugin on PATH. */
  readonly environment = {
    PULUMI_HOME: this.path("home"),
    PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };

  /** @param pulumi the path of the CLI. Default: the one on PATH */
  static async make(pulumi = findOnPath("pulumi") ?? ""): Promise<HomeWithPlugin> {
    const home = new HomeWithPlugin();
    const [archive = ""] = await writePluginArchives(home.directory);
    const args = ["plugin", "install", "resource", "rekey", packageVersion(), "--file", archive];
    await runToEnd(pulumi, args, { cwd: home.directory, env: home.environment });
    return home;
  }

  /**
   * Runs commands as a user does, in a folder that has also the state. @returns what they printed
   *
   * @param test is skipped if a package registry cannot be reached
   */
  async run(directory: string, commands: string, test: Mocha.Context, more: Record<string, string> = {}) {
    const env = {
      ...this.environment,
      PULUMI_BACKEND_URL: `file://${directory}`,
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      PULUMI_SKIP_CONFIRMATIONS: "true",
      ...more,
    };
    const { code, output } = await runAsync("sh", ["-e", "-c", commands], { cwd: directory, env });
    if (code !== 0 && unreachable.test(output)) {
      skip(test, "the package registry cannot be reached from here");
    }
    assert.equal(code, 0, `${commands}\n${output}`);
    return output;
  }
}
