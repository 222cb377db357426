import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Platform, startPlatform } from "../../local/platform/index";
import { onEngine, passphrase, pulumiPath } from "../support/engineStack";
import { projectRoot } from "../support/host";
import { environmentOf, Project } from "../support/project";
import { runAsync } from "../support/processes";

/** Runs the script from another folder, as a scheduler does. */
async function runAutomation(project: Project, args: readonly string[], environment: Record<string, string> = {}) {
  mkdirSync(project.path("backend"), { recursive: true });
  const path = [dirname(pulumiPath), join(projectRoot, "test/engine/bin"), process.env["PATH"]];
  const env = {
    ...environment,
    PATH: path.join(delimiter),
    PULUMI_BACKEND_URL: `file://${project.path("backend")}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    TS_NODE_PROJECT: project.path("tsconfig.json"),
  };
  const loader = require.resolve("ts-node/register/transpile-only");
  return runAsync(process.execPath, ["-r", loader, project.path("rotate.ts"), ...args], { cwd: tmpdir(), env });
}

onEngine("The example automation-api", () => {
  const args = ["production", "db-sessions", "leak"];
  let platform: Platform;
  let project: Project;

  beforeEach(async () => {
    platform = await startPlatform();
    project = new Project("automation-api");
  });
  afterEach(async () => {
    await platform.close();
    project.remove();
  });

  it("rotates now, and not again for the same version", async () => {
    for (const printed of [/in all 1\n$/, /Nothing was reset: .*\n.*in all 1\n$/]) {
      const { code, output } = await runAutomation(project, args, environmentOf(platform));
      assert.equal(code, 0, output);
      assert.match(output, printed);
      assert.equal(platform.resetCount, 1);
    }
  });
});
