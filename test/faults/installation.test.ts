import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../support/host";
import { titled } from "./describeFaults";

const program = `
const { PasswordRotation } = require(${JSON.stringify(join(projectRoot, "dist/sdk/index.js"))});
try { new PasswordRotation("x", { databaseId: "db" }); console.log("made"); } catch (error) { console.log(error.message); }`;

describe("faults: installation", () => {
  it(titled(51, "not installed where the host runs", "constructor", "refused, says what to add where; 0 sent"), () => {
    const cwd = mkdtempSync(join(tmpdir(), "rekey-nowhere-"));
    const shown = execFileSync(process.execPath, ["-e", program], { cwd, encoding: "utf8" });
    assert.match(shown, /will not find pulumi-rekey from .*Nothing was sent/);
    assert.match(shown, /npm install --prefix .* pulumi-rekey/);
    rmSync(cwd, { recursive: true });
  });
});
