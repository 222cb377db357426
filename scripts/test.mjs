// npm test: installs and builds what is needed, then runs a suite. Files to run instead may follow the suite's name.
import { bin, build, ensureInstalled, run, root } from "./lib.mjs";
import { randomInt } from "node:crypto";
import { join } from "node:path";

// Most tests wait for processes of their own: two files at a time take little more than half as long.
const parallel = ["--parallel", "--jobs", "2"];
const all = ["test/**/*.test.ts", "examples/**/*.test.ts"];
const slow = "test/**/*.slow.test.ts";

/** For the suites that look for new failures; others make the same choices in each run. REKEY_SEED repeats a run. */
const randomSeed = { REKEY_SEED: String(randomInt(2 ** 31)) };

const suites = {
  fast: { options: [...parallel, "--ignore", slow], files: all },
  slow: { options: parallel, files: [slow] },
  all: { options: parallel, files: all },
  docs: { files: ["test/docs/*.test.ts"] },
  /** On the real engine, and in memory. */
  e2e: { files: ["test/e2e/**/*.test.ts"] },
  /** Many more random values than the other suites use. */
  fuzz: { files: ["test/fuzz/**/*.test.ts"], env: { ...randomSeed, REKEY_FUZZ_SCALE: "34" } },
  /** 100 random kills of each kind of `up`. */
  kills: { files: ["test/kills/*.test.ts"], env: { ...randomSeed, REKEY_KILLS: "100" } },
  /** The model-based tests at full size. */
  model: {
    files: ["test/model/**/*.test.ts"],
    env: { ...randomSeed, REKEY_MODEL_RUNS: "1000" },
  },
};

const [name = "fast", ...named] = process.argv.slice(2);
const { options = [], files, env } = suites[name] ?? { options: parallel, files: [name] };
ensureInstalled();
build();
const reporter = ["--reporter", join(root, "scripts", "reporter.cjs")];
const spec = named.length > 0 ? [...(suites[name] ? [] : [name]), ...named] : files;
const args = [bin("mocha/bin/mocha.js"), ...options, ...reporter, ...spec];
process.exit(run(process.execPath, args, { env: { ...env, ...process.env } }));
