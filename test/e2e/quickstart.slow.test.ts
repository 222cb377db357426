import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { runAsync } from "../support/runAsync";

const root = resolve(__dirname, "../..");

describe("npm run quickstart", () => {
  it("makes exactly two resets, lets waiting messages go, shows the outputs, and says what comes next", async function () {
    this.timeout(600_000);
    const { code, output } = await runAsync(process.execPath, [join(root, "scripts", "quickstart.mjs")], { cwd: root });
    assert.equal(code, 0, output);
    assert.match(output, /the platform counted 2 password resets/);
    assert.match(output, /password *:? +\[secret\]/);
    assert.match(output, /the consumer has received 10 of the 12 messages/);
    const [, outputs = ""] = output.split("The stack's outputs");
    const before = { waitingBefore: 7, runningBefore: 5, dispatchedBefore: 5 };
    for (const [name, count] of Object.entries({ ...before, waiting: 2, running: 5, dispatched: 5 })) {
      assert.match(outputs, new RegExp(`\\b${name} *:? +${count}\\b`));
    }
    assert.match(output, /with your own account/);
  });
});
