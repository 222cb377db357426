import assert from "node:assert/strict";
import { join } from "node:path";
import { projectRoot } from "../support/host";
import { runAsync } from "../support/processes";

describe("npm run quickstart", () => {
  it("makes exactly two resets, releases waiting messages, shows the outputs, and prints what comes next", async function () {
    const script = join(projectRoot, "scripts/quickstart.mjs");
    const { code, output } = await runAsync(process.execPath, [script], { cwd: projectRoot });
    assert.equal(code, 0, output);
    assert.match(output, /the platform counted 2 password resets/);
    assert.match(output, /redisUrl *:? +\[secret\]/);
    assert.match(output, /the consumer has received 10 of the 12 messages/);
    const [, outputs = ""] = output.split("The stack's outputs");
    assert.match(outputs, /\bverifiedAt *:? +"?\d{4}-/);
    const before = { waitingBefore: 7, dispatchedBefore: 5 };
    for (const [name, count] of Object.entries({ ...before, waiting: 2, dispatched: 5 })) {
      assert.match(outputs, new RegExp(`\\b${name} *:? +${count}\\b`));
    }
    assert.match(output, /install it in your own Pulumi project as README\.md describes/);
  });
});
