import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { startPlatform } from "../../local/index";
import { engineEnvironment } from "../support/engineProcess";
import { environmentOf, Project, transpileOnly } from "../support/project";
import { runAsync } from "../support/runAsync";
import { pulumiCli } from "../support/engine";

describe("The example automation-api", function () {
  this.timeout(300_000);

  const run = async (args: readonly string[], environment: Record<string, string> = {}) => {
    const project = new Project({ example: "automation-api" });
    const { directory } = project;
    mkdirSync(project.path("backend"));
    const env = { ...environment, ...transpileOnly, ...engineEnvironment(directory) };
    try {
      const script = ["-r", "ts-node/register/transpile-only", "rotate.ts", ...args];
      return await runAsync(process.execPath, script, { cwd: directory, env });
    } finally {
      project.remove();
    }
  };

  it("says how it is used", async () => {
    const { code, output } = await run(["production"]);
    assert.deepEqual([code, output.trim()], [2, "usage: rotate.ts <stack> <databaseId> <why: anything that is new>"]);
  });

  if (pulumiCli.unavailable !== undefined) it.skip(`rotates now (skipped: ${pulumiCli.unavailable})`);
  else {
    it("rotates now", async () => {
      const platform = await startPlatform();
      try {
        const { code, output } = await run(["production", "db-sessions", "leak"], environmentOf(platform));
        assert.deepEqual([code, platform.resetCount], [0, 1], output);
      } finally {
        await platform.close();
      }
    });
  }
});
