// npm run test:e2e: builds what is needed, and runs the end-to-end suite on the local engine, and on a `pulumi` on
// PATH.
import { join } from "node:path";
import { bin, build, ensureInstalled, root, run } from "../../scripts/lib.mjs";

ensureInstalled();
build();
const files = process.argv.slice(2);
const reporter = join(root, "scripts", "reporter.cjs");
const spec = files.length > 0 ? files : ["test/e2e/**/*.test.ts"];
process.exit(run(process.execPath, [bin("mocha/bin/mocha.js"), "--reporter", reporter, ...spec]));
