import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPlatform } from "../../local/platform/index";
import { environmentIn } from "./engine";
import { onEngine } from "./engineStack";
import { projectRoot } from "../support/host";
import { environmentOf, examples, installPackages } from "../support/project";
import { runAsync, runToEnd } from "../support/processes";
import { Folder } from "../support/folder";

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

describe("npm run quickstart", () => {
  it("makes exactly two resets, releases waiting messages, shows the outputs, and prints what comes next", async function () {
    const script = join(projectRoot, "scripts/quickstart.mjs");
    const { code, output } = await runAsync(process.execPath, [script], { cwd: projectRoot });
    assert.equal(code, 0, output);
    assert.match(output, /Using pulumi \d+\.\d+\.\d+\S* \(.*pulumi(\.exe)?\)|The program runs in memory/);
    assert.match(output, /the platform counted 2 password resets/);
    assert.match(output, /redisUrl *:? +\[secret\]/);
    assert.match(output, /the consumer has received 10 of the 12 messages/);
    const [, outputs = ""] = output.split("The stack's outputs");
    assert.match(outputs, /\bverifiedAt *:? +"?\d{4}-/);
    const before = { waitingBefore: 7, dispatchedBefore: 5 };
    for (const [name, count] of Object.entries({ ...before, waiting: 2, dispatched: 5 })) {
      assert.match(outputs, new RegExp(`\\b${name} *:? +${count}\\b`));
    }
    assert.match(output, /install it in your own Pulumi project as README\.md describes/);
  });
});
