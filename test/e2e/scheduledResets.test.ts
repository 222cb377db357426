import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { PasswordRotation, PasswordRotationFleet } from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, TestStack } from "../support/memory";

const waits = "scheduledResets is off";

/** Until the interval has elapsed. */
const untilDue = () => sleep(1_000);

describe("rekey:scheduledResets", () => {
  afterEach(closePlatforms);

  /** A rotation and a fleet, both due a second after each reset. */
  const start = async () => {
    let version: number | undefined;
    const stack = await TestStack.start(
      () => {
        const every = { rotateEvery: "PT1S", ...(version !== undefined && { version }) };
        const one = new PasswordRotation("one", { databaseId: "a", ...every });
        const fleet = new PasswordRotationFleet("fleet", { databases: { b: "b" }, ...every });
        return { outcomes: [one.outcome, fleet.states.apply((all) => all["b"]?.outcome)], next: one.nextRotationAt };
      },
      { databases: ["a", "b"] },
    );
    const resets = () => ["a", "b"].map((id) => stack.platform.database(id).resets);
    return { stack, resets, change: (next: number) => void (version = next) };
  };

  it("off postpones what only rotateEvery asks for, reports it, and nothing else", async () => {
    const { stack, resets, change } = await start();
    const { next } = valuesOf(await succeeds(stack.up()));
    await untilDue();
    stack.config["rekey:scheduledResets"] = "off";
    for (const { printed } of [await succeeds(stack.preview()), await succeeds(stack.up())]) {
      assert.match(printed, new RegExp(`"a" has been due since \\S+Z for a reset by rotateEvery.*${waits}`));
      assert.match(printed, new RegExp(`1 that are due by rotateEvery: rekey:${waits}.*"b".*waited since \\S+Z`));
      assert.ok(printed.includes(`since ${String(next)}`), "it is the time of nextRotationAt");
    }
    assert.deepEqual(resets(), [1, 1]);
    change(2);
    await succeeds(stack.up());
    assert.deepEqual(resets(), [2, 2], "a version resets");
    await untilDue();
    stack.config["rekey:scheduledResets"] = "on";
    await succeeds(stack.up());
    assert.deepEqual(resets(), [3, 3]);
  });

  it("off postpones repeating an unconfirmed reset that only rotateEvery asked for", async () => {
    const { stack, resets } = await start();
    await succeeds(stack.up());
    await untilDue();
    for (const id of ["a", "b"]) {
      stack.platform.failNext({ path: new RegExp(`reset-password/${id}`), dropConnection: "after-apply" });
    }
    await fails(stack.up(), /may have been changed/);
    stack.config["rekey:scheduledResets"] = "off";
    // The SDK fails a program whose credentials are unknown.
    const { printed } = await stack.up();
    assert.match(printed, new RegExp(`database "a", at \\S+Z, was not confirmed.* waits: rekey:${waits}`));
    assert.deepEqual(resets().at(0), 2);
    stack.config["rekey:scheduledResets"] = "on";
    await succeeds(stack.up());
    assert.equal(stack.saved("one")?.["outcome"], "reset");
  });
});
