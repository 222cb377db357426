// npm run verify: everything that CI checks, one after the other, and one line at the end with the counts.
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
  prose: [join(root, "scripts", "prose.mjs")],
};
for (const [name, args] of Object.entries(checks)) {
  const ok = run(process.execPath, args) === 0;
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (ok) passed++;
  else failed++;
}

if (run("pulumi", ["version"], { stdio: "ignore" }) !== 0) {
  console.log("skipped schema: no `pulumi` on PATH");
  skipped++;
} else if (run("pulumi", ["schema", "check", join(root, "schema.json")]) === 0) {
  console.log("ok     schema");
  passed++;
} else {
  console.log("FAILED schema");
  failed++;
}

// The same command as `npm test`, then the slow files.
for (const selected of ["fast", "slow"]) {
  const tests = await runAndRead(process.execPath, [join(root, "scripts", "test.mjs"), selected]);
  const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(tests.output)?.slice(1).map(Number);
  const [ok, broken, pending] = counts ?? [0, 0, 0];
  passed += ok;
  failed += tests.code !== 0 && broken === 0 ? 1 : broken; // The tests ended early.
  skipped += pending;
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);
