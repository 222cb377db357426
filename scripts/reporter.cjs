// Mocha's own report, and the one line at the end that machines read.
const { reporters, Runner } = require("mocha");

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      process.on("exit", () => console.log(`${passes} passed, ${failures} failed, ${pending} skipped`));
    });
  }
};
