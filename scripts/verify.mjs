// npm run verify: everything that CI checks; at the end what failed, and one line with the counts.
import { join } from "node:path";
import { bin, build, ensureInstalled, root, runAndRead } from "./lib.mjs";

ensureInstalled();
const results = [["build", build()]];
const checks = [
  ["format", bin("prettier/bin/prettier.cjs"), "--check", "."],
  ["lint", bin("eslint/bin/eslint.js"), "."],
  ["types", bin("typescript/bin/tsc"), "-p", "tsconfig.json"],
  ["unused", bin("knip/bin/knip.js")],
];
// Two at a time: each needs one processor.
const runChecks = async () => {
  for (let next = checks.shift(); next; next = checks.shift()) {
    const [name, ...command] = next;
    const { code, output } = await runAndRead(process.execPath, command, { show: false });
    process.stdout.write(output);
    results.push([name, code === 0]);
  }
};
await Promise.all([runChecks(), runChecks()]);
for (const [name, ok] of results) console.log(`${ok ? "ok    " : "FAILED"} ${name}`);

const failures = results.filter(([, ok]) => !ok).map(([name]) => `FAILED ${name}`);
let [passed, skipped] = [results.length - failures.length, 0];
// The same command as `npm test`, then the slow files.
for (const suite of ["fast", "slow"]) {
  const { code, output } = await runAndRead(process.execPath, [join(root, "scripts", "test.mjs"), suite]);
  const counts = /^(\d+) passed, \d+ failed, (\d+) skipped$/m.exec(output)?.slice(1).map(Number);
  const [ok, pending] = counts ?? [0, 0];
  passed += ok;
  skipped += pending;
  const failed = output.match(/^FAILED .*$/gm) ?? [];
  if (code !== 0 && failed.length === 0) failed.push(`FAILED the ${suite} tests ended early`);
  failures.push(...failed);
}
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed, ${skipped} skipped`);
process.exit(failures.length === 0 ? 0 : 1);
