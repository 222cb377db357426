// npm run verify: all checks of CI, one after the other, with the result on the last line.
import { bin, build, ensureInstalled, root, run, runAndRead } from "./lib.mjs";
import { join } from "node:path";

ensureInstalled();
build();

let [passed, failed, skipped] = [1, 0, 0]; // A failed build ends the script.
const checks = {
  format: [bin("prettier/bin/prettier.cjs"), "--check", "."],
  lint: [bin("eslint/bin/eslint.js"), "."],
  types: [bin("typescript/bin/tsc"), "-p", "tsconfig.json"],
  unused: [bin("knip/bin/knip.js")],
  reference: [bin("typedoc/bin/typedoc"), "--emit", "none"],
  package: [join(root, "scripts", "check-package.mjs")],
};
for (const [name, args] of Object.entries(checks)) {
  const ok = run(process.execPath, args) === 0;
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (ok) passed++;
  else failed++;
}

// The same command as `npm test`, then the slow files.
for (const selected of ["fast", "slow"]) {
  const tests = await runAndRead(process.execPath, [join(root, "scripts", "test.mjs"), selected]);
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(tests.output)?.slice(1).map(Number);
  if (counts) {
    passed += counts[0];
    failed += counts[1];
    skipped += counts[2];
  }
  if (!counts || (tests.code !== 0 && counts[1] === 0)) failed++; // The test process crashed.
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);
