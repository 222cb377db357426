// Packs both packages, and checks them with publint and arethetypeswrong.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, run, runNpm } from "./lib.mjs";

const folder = mkdtempSync(join(tmpdir(), "packages-"));
const quiet = { stdio: ["ignore", "ignore", "inherit"] };
const both = ["--workspaces", "--include-workspace-root"];
try {
  const packed = runNpm(["pack", ...both, "--ignore-scripts", "--loglevel=error", "--pack-destination", folder], quiet);
  const tarballs = readdirSync(folder).map((name) => join(folder, name));
  if (packed !== 0 || tarballs.length !== 2) throw new Error("npm pack failed");
  const results = tarballs.flatMap((tarball) => [
    run(process.execPath, [bin("publint/src/cli.js"), "run", tarball, "--strict"]),
    run(process.execPath, [bin("@arethetypeswrong/cli/dist/index.js"), tarball, "--format", "ascii", "--quiet"]),
  ]);
  process.exitCode = Math.max(...results);
} finally {
  rmSync(folder, { recursive: true });
}
