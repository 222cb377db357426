// npm test: installs and builds if necessary, then runs the fast test files, or the given ones. `all` runs all files,
// `slow` only the slow ones, whose names end in .slow.test.ts.
import { bin, build, ensureInstalled, run, root } from "./lib.mjs";
import { join } from "node:path";

const all = ["test/**/*.test.ts", "examples/**/*.test.ts"];
const slow = "test/**/*.slow.test.ts";
const selections = { fast: [...all, "--ignore", slow], slow: [slow], all };

ensureInstalled();
build();
const [selected = "fast", ...more] = process.argv.slice(2);
const spec = selections[selected] ?? [selected, ...more];
const reporter = join(root, "scripts", "reporter.cjs");
// Most tests wait for child processes, so two files in parallel take little more than half the time.
const parallel = ["--parallel", "--jobs", "2"];
process.exit(run(process.execPath, [bin("mocha/bin/mocha.js"), ...parallel, "--reporter", reporter, ...spec]));
