// npm run build: compiles both packages. Mocha loads this file, too: processes that a test starts run `dist`, which is
// then never older than the sources.
import { fileURLToPath } from "node:url";
import { build, buildIfChanged } from "./lib.mjs";

export function mochaGlobalSetup() {
  if (!buildIfChanged()) console.error("The build has errors. The tests run what it wrote.");
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !build()) process.exitCode = 1;
