import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPlatform } from "../../local/platform/index";
import { environmentIn } from "../support/engine";
import { onEngine } from "../support/engineStack";
import { Folder } from "../support/folder";
import { environmentOf, examples, installPackages } from "../support/project";
import { runToEnd } from "../support/processes";

onEngine("The example automation-api", () => {
  it("rotates now, and not again for the same version", async () => {
    const platform = await startPlatform();
    const project = new Folder();
    cpSync(join(examples, "automation-api"), project.directory, { recursive: true });
    installPackages(project.directory);
    mkdirSync(project.path("backend"));
    const env = {
      ...environmentIn(project),
      ...environmentOf(platform),
      TS_NODE_PROJECT: project.path("tsconfig.json"),
    };
    const loader = require.resolve("ts-node/register/transpile-only");
    const args = ["-r", loader, project.path("rotate.ts"), "production", "db-sessions", "leak"];
    try {
      for (const printed of [/in all 1\n$/, /Nothing was reset: .*\n.*in all 1\n$/]) {
        // From another folder, as a scheduler does.
        assert.match(await runToEnd(process.execPath, args, { cwd: tmpdir(), env }), printed);
        assert.equal(platform.resetCount, 1);
      }
    } finally {
      await platform.close();
      project.remove();
    }
  });
});
