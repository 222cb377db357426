// Mocha's report, the ten slowest files, and one machine-readable line.
const { relative } = require("node:path");
const { reporters, Runner } = require("mocha");

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { EVENT_TEST_END, EVENT_HOOK_END, EVENT_RUN_END } = Runner.constants;
    const milliseconds = new Map();
    const add = ({ file, duration = 0 }) => {
      if (file) milliseconds.set(file, (milliseconds.get(file) ?? 0) + duration);
    };
    runner.on(EVENT_TEST_END, add).on(EVENT_HOOK_END, add);
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      const slowest = [...milliseconds].sort(([, a], [, b]) => b - a).slice(0, 10);
      process.on("exit", () => {
        console.log("The slowest files, in seconds:");
        for (const [file, time] of slowest) {
          console.log(`${(time / 1000).toFixed(1).padStart(7)}  ${relative(process.cwd(), file)}`);
        }
        console.log(`${passes} passed, ${failures} failed, ${pending} skipped`);
      });
    });
  }
};
