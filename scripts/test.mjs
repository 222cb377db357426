// npm test [suite | file …]: installs what is needed, then runs a suite: one of these, or a folder of test/. Mocha
// builds first (build.mjs).
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bin, ensureInstalled, root, run } from "./lib.mjs";

const all = ["test/**/*.test.ts", "examples/**/*.test.ts"];
const slow = "test/**/*.slow.test.ts";

/** For the suites that look for new failures; others make the same choices in each run. REKEY_SEED repeats a run. */
const randomSeed = { REKEY_SEED: String(randomInt(2 ** 31)) };

const suites = {
  fast: { args: ["--ignore", slow, ...all], jobs: "3" },
  slow: { args: [slow] },
  all: { args: all },
  /** Writes test/faults/faults.md. */
  faults: { report: "faults.cjs" },
  /** Many more random values than the other suites use. */
  fuzz: { env: { ...randomSeed, REKEY_FUZZ_SCALE: "34" } },
  /** 100 random kills of each kind of `up`. */
  kills: { env: { ...randomSeed, REKEY_KILLS: "100" } },
  /** The model-based tests at full size. */
  model: { env: { ...randomSeed, REKEY_MODEL_RUNS: "1000" } },
};

const [name = "fast", ...files] = process.argv.slice(2);
const isSuite = name in suites || existsSync(join(root, "test", name));
const { args = [`test/${name}/**/*.test.ts`], env, report, jobs = "2" } = suites[name] ?? {};
// Only the whole suite has the whole table.
const reporter = join(root, "scripts", files.length === 0 ? (report ?? "reporter.cjs") : "reporter.cjs");
const spec = isSuite ? (files.length > 0 ? files : args) : [name, ...files];
ensureInstalled();
// Most tests wait for other processes: three files at a time keep two cores busy. Slow ones measure times: two.
// The tools of a rehearsal have tests, too.
const options = ["--parallel", "--jobs", jobs, "--reporter", reporter, "--ignore", "**/node_modules/**"];
process.exit(
  run(process.execPath, [bin("mocha/bin/mocha.js"), ...options, ...spec], { env: { ...env, ...process.env } }),
);
