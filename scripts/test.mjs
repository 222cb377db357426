// npm test: installs and builds what is needed, then runs the test files that are not slow, or those that are named.
// `all` runs every file, `slow` only those that `npm test` leaves out: their names end in .slow.test.ts.
import { runTests } from "./lib.mjs";

const all = ["test/**/*.test.ts", "examples/**/*.test.ts"];
const slow = "test/**/*.slow.test.ts";
const selections = { fast: [...all, "--ignore", slow], slow: [slow], all };
const [selected = "fast", ...more] = process.argv.slice(2);
// Most tests wait for processes of their own: two files at a time take little more than half as long.
runTests(["--parallel", "--jobs", "2", ...(selections[selected] ?? [selected, ...more])]);
