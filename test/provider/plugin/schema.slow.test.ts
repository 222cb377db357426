import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";

describe("schema.json", () => {
  it("is what npm run schema writes", () => {
    const folder = new Folder();
    const file = folder.path("schema.json");
    const { status, stderr } = spawnSync(process.execPath, [join(projectRoot, "scripts", "schema.mjs"), file]);
    assert.equal(status, 0, String(stderr));
    assert.equal(readFileSync(file, "utf8"), readFileSync(join(projectRoot, "schema.json"), "utf8"));
    folder.remove();
  });
});
