// npm run test:model: the model-based tests in their full number. REKEY_SEED replays a run.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const run = (script, ...args) => {
  const env = { REKEY_MODEL_RUNS: "1000", REKEY_MODEL_REAL_RUNS: "30", ...process.env };
  const command = [join(root, "node_modules", script), ...args];
  const { status } = spawnSync(process.execPath, command, { cwd: root, env, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};
run("typescript/bin/tsc", "-p", "tsconfig.build.json");
run("mocha/bin/mocha.js", "test/model/**/*.test.ts");
