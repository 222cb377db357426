// npm run verify: everything that CI checks; at the end what was skipped and why, what failed, and one line with the
// counts.
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
const skipped = [];
let passed = results.length - failures.length;
// The same command as `npm test`, then the slow files.
for (const suite of ["fast", "slow"]) {
  const { code, output } = await runAndRead(process.execPath, [join(root, "scripts", "test.mjs"), suite]);
  passed += Number(/^(\d+) passed, \d+ failed, \d+ skipped$/m.exec(output)?.[1] ?? 0);
  skipped.push(...(output.match(/^SKIPPED .*$/gm) ?? []));
  const failed = output.match(/^FAILED .*$/gm) ?? [];
  if (code !== 0 && failed.length === 0) failed.push(`FAILED the ${suite} tests ended early`);
  failures.push(...failed);
}
for (const line of [...skipped, ...failures]) console.log(line);
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
process.exit(failures.length === 0 ? 0 : 1);
