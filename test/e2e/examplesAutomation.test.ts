import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startPlatform } from "../../local/index";
import { environmentFor, Example } from "../support/example";
import { runAsync } from "../support/runAsync";
import { pulumiCli } from "./pulumiCli";

describe("The example automation-api", function () {
  this.timeout(300_000);

  const run = async (args: readonly string[], environment: Record<string, string> = {}) => {
    const example = new Example("automation-api");
    const backend = join(example.directory, "backend");
    mkdirSync(backend);
    const env = {
      ...environment,
      PULUMI_BACKEND_URL: `file://${backend}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
    };
    try {
      const script = ["-r", "ts-node/register/transpile-only", "rotate.ts", ...args];
      return await runAsync(process.execPath, script, { cwd: example.directory, env });
    } finally {
      example.remove();
    }
  };

  it("says how it is used", async () => {
    const { code, output } = await run(["production"]);
    assert.deepEqual([code, output.trim()], [2, "usage: rotate.ts <stack> <databaseId> <why: anything that is new>"]);
  });

  if (pulumiCli.unavailable !== undefined) it.skip(`rotates now (skipped: ${pulumiCli.unavailable})`);
  else
    it("rotates now", async () => {
      const platform = await startPlatform();
      try {
        const { code, output } = await run(["production", "db-sessions", "leak"], environmentFor(platform));
        assert.deepEqual([code, platform.resetCount], [0, 1], output);
      } finally {
        await platform.close();
      }
    });
});
