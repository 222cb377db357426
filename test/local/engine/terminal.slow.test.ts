import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { localEngine } from "../../support/engine";
import { TestProject } from "./project";

const makesTerminals = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe("rekey-local on a terminal", function () {
  this.timeout(300_000);
  if (!makesTerminals) return void it.skip("skipped: there is no `script` of util-linux, or it cannot make a terminal");

  let project: TestProject;
  before(() => (project = new TestProject({ wanted: [{ name: "a", props: { v: 1 } }] })));
  after(() => project.remove());

  /** Runs a command on a terminal, with `typed` as its input. */
  function onTerminal(args: string, typed: string): { status: number | null; shown: string } {
    const command = `${localEngine.command.map((part) => `"${part}"`).join(" ")} ${args}`;
    const env = { ...process.env, ...project.environment };
    const options = { cwd: project.directory, encoding: "utf8", env, input: typed } as const;
    const { status, stdout: shown } = spawnSync("script", ["-qec", command, "/dev/null"], options);
    return { status, shown };
  }

  for (const typed of ["no", "y"]) {
    it(`does nothing if the user types ${JSON.stringify(typed)}`, () => {
      const { status, shown } = onTerminal("up", `${typed}\n`);
      assert.equal(status, 1, shown);
      assert.match(shown, /\+ 2 to create.*Do you want to perform this update\? \(yes\/no\)/s);
      assert.match(shown, /confirmation declined, not proceeding with the update/);
      assert.deepEqual(project.newChanges(), []);
    });
  }

  it("updates in colours if the user types yes", () => {
    const { status, shown } = onTerminal("up", "yes\n");
    assert.equal(status, 0, shown);
    assert.match(stripVTControlCharacters(shown), /\(yes\/no\).*Updating \(dev\):.*\+ 2 created/s);
    assert.notEqual(stripVTControlCharacters(shown), shown);
  });
});
