// npm run verify: everything that CI checks; at the end what failed, and one line with the counts.
import { bin, build, ensureInstalled, root, run, runAndRead } from "./lib.mjs";
import { join } from "node:path";

ensureInstalled();
build();

let [passed, skipped] = [1, 0]; // A failed build ends the script.
const failures = [];
const checks = {
  format: [bin("prettier/bin/prettier.cjs"), "--check", "."],
  lint: [bin("eslint/bin/eslint.js"), "."],
  types: [bin("typescript/bin/tsc"), "-p", "tsconfig.json"],
  unused: [bin("knip/bin/knip.js")],
  reference: [bin("typedoc/bin/typedoc"), "--emit", "none"],
  package: [join(root, "scripts", "check-package.mjs")],
};
// Two at a time: each needs one processor.
const waiting = Object.entries(checks);
const runWaiting = async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, args] = next;
    const { code, output } = await runAndRead(process.execPath, args);
    process.stdout.write(output);
    report(name, code === 0);
  }
};
await Promise.all([runWaiting(), runWaiting()]);

// The same command as `npm test`, then the slow files.
for (const selected of ["fast", "slow"]) {
  const tests = await runAndRead(process.execPath, [join(root, "scripts", "test.mjs"), selected], {
    onOutput: (text) => process.stdout.write(text),
  });
  const counts = /^(\d+) passed, \d+ failed, (\d+) skipped$/m.exec(tests.output)?.slice(1).map(Number);
  const [ok, pending] = counts ?? [0, 0];
  passed += ok;
  skipped += pending;
  const failed = tests.output.match(/^FAILED .*$/gm) ?? [];
  if (tests.code !== 0 && failed.length === 0) failed.push(`FAILED the ${selected} tests ended early`);
  failures.push(...failed);
}
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed, ${skipped} skipped`);
process.exit(failures.length === 0 ? 0 : 1);

function report(name, ok) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (ok) passed++;
  else failures.push(`FAILED ${name}`);
}
