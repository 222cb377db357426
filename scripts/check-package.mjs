// npm run check:package: packs the build, and lets publint and arethetypeswrong look at what users would install.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, run, runNpm } from "./lib.mjs";

const folder = mkdtempSync(join(tmpdir(), "package-"));
const quiet = { stdio: ["ignore", "ignore", "inherit"] };
try {
  const packed = runNpm(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder], quiet);
  const [name] = readdirSync(folder);
  if (packed !== 0 || name === undefined) throw new Error("npm pack failed");
  const tarball = join(folder, name);
  const results = [
    run(process.execPath, [bin("publint/src/cli.js"), "run", tarball, "--strict"]),
    run(process.execPath, [bin("@arethetypeswrong/cli/dist/index.js"), tarball, "--format", "ascii", "--quiet"]),
  ];
  process.exitCode = Math.max(...results);
} finally {
  rmSync(folder, { recursive: true });
}
