import assert from "node:assert/strict";
import { succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine, rotating } from "../support/onEngines";
import { assertFields } from "../support/results";

// features.test.ts adopts, has a schedule and loses a response; the example nightly-rotation is due. The fault table's
// rows 43 have two owners and a replacement.
onEveryEngine("PasswordRotation", (engine) => {
  it("resets once for one trigger, and never in preview, refresh or destroy", async () => {
    const { platform, project, stack } = await fixture(engine, rotating("version: 1"));
    assert.deepEqual((await stack.preview()).changes, { create: 2 });
    assert.equal(platform.resetCount, 0);
    const first = valuesOf(await succeeds(stack.up()));
    assertFields(first, { outcome: "reset", rotationCount: 1 });
    assert.equal(platform.resetCount, 1);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    project.rewrite(rotating('version: "1", triggers: {}'));
    assert.deepEqual((await stack.up()).changes, { same: 2 }, '1 and "1", none and {} are the same trigger');
    await stack.setConfig("rekey:baseUrl", "https://elsewhere.example.com");
    await stack.setConfig("rekey:password", "another", true);
    await stack.setConfig("rekey:maxConcurrency", "1");
    const { changes, printed } = await stack.up();
    assert.equal(changes["same"], 2, `another address, credentials or limits ask for no reset: ${printed}`);
    await stack.setConfig("rekey:baseUrl", platform.url);
    await stack.setConfig("rekey:password", platform.password, true);
    project.rewrite(rotating("version: 2"));
    assert.deepEqual((await stack.preview()).changes, { same: 1, update: 1 });
    await stack.refresh();
    assert.equal(platform.resetCount, 1);
    const second = valuesOf(await stack.up());
    assertFields(second, { rotationReason: "trigger", rotationCount: 2 });
    project.rewrite(rotating());
    assert.deepEqual((await stack.up()).changes, { same: 2 }, "removing the trigger resets nothing");
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 2);
  });
});
