import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { PasswordRotation, PasswordRotationFleet } from "pulumi-rekey";
import { succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, TestStack } from "../support/memory";

describe("rekey:scheduledResets", () => {
  afterEach(closePlatforms);

  it("off postpones what only rotateEvery asks for, reports it, and nothing else", async () => {
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const every = { rotateEvery: "PT1S", version };
        const one = new PasswordRotation("one", { databaseId: "a", initialRotation: false, ...every });
        const fleet = new PasswordRotationFleet("fleet", { databases: { b: "b" }, ...every });
        return { outcomes: [one.outcome, fleet.states.apply((all) => all["b"]?.outcome)], next: one.nextRotationAt };
      },
      { databases: ["a", "b"] },
    );
    const resets = () => ["a", "b"].map((id) => stack.platform.database(id).resets);
    const untilDue = () => sleep(1_000);

    const { next, outcomes } = valuesOf(await succeeds(stack.up()));
    assert.deepEqual(outcomes, ["adopted", "reset"]);
    assert.deepEqual(resets(), [0, 1]);
    await untilDue();
    stack.config["rekey:scheduledResets"] = "off";
    for (const { printed } of [await succeeds(stack.preview()), await succeeds(stack.up())]) {
      for (const id of ["a", "b"]) {
        assert.match(printed, new RegExp(`"${id}".*is due by rotateEvery.*waits: rekey:scheduledResets is off`));
      }
      assert.ok(printed.includes(`since ${String(next)}`), "it is the time of nextRotationAt");
    }
    assert.deepEqual(resets(), [0, 1]);
    version = 2;
    await succeeds(stack.up());
    assert.deepEqual(resets(), [1, 2], "a version resets");
    await untilDue();
    stack.config["rekey:scheduledResets"] = "on";
    await succeeds(stack.up());
    assert.deepEqual(resets(), [2, 3]);
  });
});
