import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { TestProject } from "./project";

describe("the local engine on a disk that cannot be written", function () {
  this.timeout(300_000);

  let project: TestProject;
  let mounted: string | undefined;
  beforeEach(() => (project = new TestProject({ wanted: [{ name: "a", props: { v: 1 } }] })));
  afterEach(() => {
    if (mounted !== undefined) spawnSync("umount", [mounted]);
    mounted = undefined;
    project.remove();
  });

  /** A small disk for the state. */
  function mountOrSkip(test: Mocha.Context): string {
    const folder = project.path("disk");
    mkdirSync(folder, { recursive: true });
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
    if (status !== 0) {
      console.log("    skipped: only root on Linux can mount a small disk");
      test.skip();
    }
    return (mounted = folder);
  }

  async function refused(stateDir: string | undefined, expected: RegExp): Promise<void> {
    const stack = await project.open({ stateDir });
    for (const operation of ["up", "refresh", "destroy"] as const) {
      await assert.rejects(stack[operation](), { name: "EngineError", message: expected });
    }
    assert.deepEqual(project.newChanges(), []);
  }

  it("refuses every operation before a resource is touched when it is full", async function () {
    const folder = mountOrSkip(this);
    // Sixteen pages in all: files and folders take every page.
    const fill = () => {
      for (let n = 0; ; n++) writeFileSync(`${folder}/filler${n}`, Buffer.alloc(4096));
    };
    assert.throws(fill, { code: "ENOSPC" });
    await refused(folder, /the state (folder )?cannot be written: ENOSPC/);
  });

  it("touches nothing when it fills up after the operation has begun", async function () {
    const folder = mountOrSkip(this);
    // The state with the resource in it does not fit: the note that it is about to be created cannot be written.
    project.want([{ name: "a", props: { v: "x".repeat(70_000) } }]);
    const stack = await project.open({ stateDir: folder });
    await assert.rejects(stack.up(), /the state cannot be written: ENOSPC/);
    assert.deepEqual(project.newChanges(), []);
  });

  it("refuses every operation in a read-only folder", async function () {
    const folder = mountOrSkip(this);
    mkdirSync(`${folder}/stacks/trace`, { recursive: true });
    assert.equal(spawnSync("mount", ["-o", "remount,ro", folder]).status, 0);
    await refused(folder, /the state folder cannot be written: EROFS/);
  });

  it("refuses every operation if the state file cannot be replaced, and leaves it unchanged", async () => {
    await (await project.open()).up();
    project.newCalls();
    const before = readFileSync(project.statePath, "utf8");
    mkdirSync(`${project.statePath}.tmp/in-the-way`, { recursive: true });
    project.want([{ name: "a", props: { v: 2 } }]);
    await refused(project.path(".rekey"), /the state cannot be written: EISDIR/);
    assert.equal(readFileSync(project.statePath, "utf8"), before);
  });
});
