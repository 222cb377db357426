// npm run test:fuzz: builds what is needed, and tries everything with many more values than npm test does.
import { join } from "node:path";
import { bin, build, ensureInstalled, root, run } from "../../scripts/lib.mjs";

ensureInstalled();
build();
const files = process.argv.slice(2);
const reporter = join(root, "scripts", "reporter.cjs");
const spec = files.length > 0 ? files : ["test/fuzz/**/*.test.ts"];
const env = { REKEY_FUZZ_SCALE: "34", ...process.env };
process.exit(run(process.execPath, [bin("mocha/bin/mocha.js"), "--reporter", reporter, ...spec], { env }));
