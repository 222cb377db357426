// npm test: installs and builds what is needed, then runs every test, or those of the files that are named.
import { bin, build, ensureInstalled, run, root } from "./lib.mjs";
import { ensureChromium, ensureRedis } from "./tools.mjs";
import { join } from "node:path";

ensureInstalled();
build();
ensureRedis();
ensureChromium();
const files = process.argv.slice(2);
const spec = files.length > 0 ? files : ["test/**/*.test.ts", "examples/**/*.test.ts"];
const reporter = join(root, "scripts", "reporter.cjs");
// Most tests wait for processes of their own, so that two files at a time take little more than half the time.
const parallel = ["--parallel", "--jobs", "2"];
process.exit(run(process.execPath, [bin("mocha/bin/mocha.js"), ...parallel, "--reporter", reporter, ...spec]));
