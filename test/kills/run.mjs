// npm run test:kills: 200 random kills during `up` of 50 resources. REKEY_KILLS says how many, REKEY_SEED replays a
// run.
import { join } from "node:path";
import { bin, build, ensureInstalled, root, run } from "../../scripts/lib.mjs";

ensureInstalled();
build();
const reporter = join(root, "scripts", "reporter.cjs");
const env = { REKEY_KILLS: "200", ...process.env };
process.exit(
  run(process.execPath, [bin("mocha/bin/mocha.js"), "--reporter", reporter, "test/kills/*.test.ts"], { env }),
);
