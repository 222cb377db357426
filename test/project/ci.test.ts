import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { findOnPath } from "../support/processes";

/** What `.ci/run` is written in. It finds no other program. */
const tools = ["bash", "dirname", "env", "id"];

describe(".ci/run", () => {
  if (process.platform === "win32") return void it.skip("fails without what tests need (skipped: there is no bash)");
  const folder = new Folder();
  before(() => {
    for (const name of tools) symlinkSync(findOnPath(name) ?? assert.fail(name), folder.path(name));
    // Builds the engine if ENGINE is set, and passes all checks.
    folder.write("node", `#!/bin/sh\necho "node $1"\n[ "$1" != scripts/engine.cjs ] || [ -n "$ENGINE" ]\n`, 0o755);
  });
  after(() => folder.remove());

  const run = (env: Record<string, string>) => {
    const PATH = folder.directory;
    const { status, stdout } = spawnSync(join(projectRoot, ".ci/run"), { env: { PATH, ...env }, encoding: "utf8" });
    return { status, isVerified: stdout.includes("node scripts/verify.mjs"), stdout };
  };

  it("fails without the engine and redis-server, names them, and runs no check", () => {
    const { status, isVerified, stdout } = run({});
    assert.deepEqual({ status, isVerified }, { status: 1, isVerified: false }, stdout);
    assert.match(stdout, /^Nothing was tested\. Not found: redis-server pulumi\. REKEY_ALLOW_SKIPS=1/m);
  });

  it("fails without redis-server alone", () => {
    const { status, isVerified, stdout } = run({ ENGINE: "1" });
    assert.deepEqual({ status, isVerified }, { status: 1, isVerified: false }, stdout);
    assert.match(stdout, /Not found: redis-server\./);
  });

  it("runs all the same with REKEY_ALLOW_SKIPS=1", () => {
    const { status, isVerified, stdout } = run({ REKEY_ALLOW_SKIPS: "1" });
    assert.deepEqual({ status, isVerified }, { status: 0, isVerified: true }, stdout);
  });
});

describe("The report of the tests", () => {
  it("ends with what was skipped and why, what failed, and the counts", () => {
    const folder = new Folder();
    const skip = JSON.stringify(join(projectRoot, "test/support/skip"));
    folder.write(
      "one.test.ts",
      `import { skip } from ${skip};
      describe("suite", () => {
        it.skip("a (skipped: no engine)");
        it("b", function () { skip(this, "no network"); });
        it("c", () => { throw new Error("no"); });
        it("d", () => undefined);
      });`,
    );
    const mocha = join(projectRoot, "node_modules/mocha/bin/mocha.js");
    const reporter = join(projectRoot, "scripts/reporter.cjs");
    const args = ["--no-config", "--no-package", "--require", "ts-node/register/transpile-only", "--parallel"];
    const run = spawnSync(process.execPath, [mocha, ...args, "--reporter", reporter, folder.path("one.test.ts")], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    folder.remove();
    const lines = ["SKIPPED suite a (skipped: no engine)", "SKIPPED suite b (skipped: no network)", "FAILED suite c"];
    assert.ok(run.stdout.endsWith(`${lines.join("\n")}\n1 passed, 1 failed, 2 skipped\n`), run.stdout + run.stderr);
  });
});
