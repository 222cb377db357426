// Mocha's report, the ten slowest files, the skipped and failed tests, and one machine-readable line.
const { relative } = require("node:path");
const { reporters, Runner } = require("mocha");

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { EVENT_TEST_END, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_HOOK_END, EVENT_RUN_END } = Runner.constants;
    const milliseconds = new Map();
    const add = ({ file, duration = 0 }) => {
      if (file) milliseconds.set(file, (milliseconds.get(file) ?? 0) + duration);
    };
    runner.on(EVENT_TEST_END, add).on(EVENT_HOOK_END, add);
    const skipped = [];
    runner.on(EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
    const failed = [];
    runner.on(EVENT_TEST_FAIL, (test) => failed.push(test.fullTitle()));
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      const slowest = [...milliseconds].sort(([, a], [, b]) => b - a).slice(0, 10);
      process.on("exit", () => {
        console.log("The slowest files, in seconds:");
        for (const [file, time] of slowest) {
          console.log(`${(time / 1000).toFixed(1).padStart(7)}  ${relative(process.cwd(), file)}`);
        }
        for (const title of skipped) console.log(`SKIPPED ${title}`);
        for (const title of failed) console.log(`FAILED ${title}`);
        console.log(`${passes} passed, ${failures} failed, ${pending} skipped`);
      });
    });
  }
};
