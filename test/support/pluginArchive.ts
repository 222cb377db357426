import assert from "node:assert/strict";
import { join } from "node:path";
import { projectRoot } from "./host";
import { runAsync } from "./runAsync";

/** Writes the archive of the plugin, as it is built. @returns its path */
export async function writePluginArchive(folder: string): Promise<string> {
  const script = join(projectRoot, "scripts", "plugin-archive.mjs");
  const { code, output } = await runAsync(process.execPath, [script, folder], { cwd: projectRoot });
  assert.equal(code, 0, output);
  return output.trim();
}
