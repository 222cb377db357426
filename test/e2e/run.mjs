// npm run test:e2e: the end-to-end suite, or the files that are named, on the local engine and on a `pulumi` on PATH.
import { runTests } from "../../scripts/lib.mjs";

const files = process.argv.slice(2);
runTests(files.length > 0 ? files : ["test/e2e/**/*.test.ts"]);
