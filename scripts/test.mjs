// npm test: installs and builds what is needed, then runs the test files that are not slow, or those that are named.
// `all` runs every file, `slow` only those that `npm test` leaves out: their names end in .slow.test.ts.
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
// Most tests wait for processes of their own: two files at a time take little more than half as long.
const parallel = ["--parallel", "--jobs", "2"];
process.exit(run(process.execPath, [bin("mocha/bin/mocha.js"), ...parallel, "--reporter", reporter, ...spec]));
