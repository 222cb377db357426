import assert from "node:assert/strict";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/host";
import { runAsync } from "../support/processes";

describe("The build of a package", () => {
  const built = (path: string) => join(projectRoot, path);
  const identityOf = (path: string) => (({ ino, mtimeMs }) => ({ ino, mtimeMs }))(statSync(built(path)));

  it("removes what has no source, and leaves what is unchanged: a test may be loading it", async () => {
    const kept = ["dist/sdk/index.js", "local/dist/index.js"];
    const stale = ["dist/provider/removed.js", "local/dist/removed.js"];
    const before = kept.map(identityOf);
    for (const path of stale) writeFileSync(built(path), "", { flag: "w" });
    const { code, output } = await runAsync("npm", ["run", "prepack"], { cwd: projectRoot });
    assert.equal(code, 0, output);
    assert.deepEqual(kept.map(identityOf), before);
    assert.deepEqual(
      stale.filter((path) => existsSync(built(path))),
      [],
    );
  });
});
