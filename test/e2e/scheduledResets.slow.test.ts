import assert from "node:assert/strict";
import { type Platform } from "../../local/index";
import { fails, succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine } from "../support/onEngines";

/** A rotation and a fleet, both due in each `up`. */
const due = (more = "") => `
const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const every = { rotateEvery: "PT1S", ${more} };
const one = new PasswordRotation("one", { databaseId: "a", ...every });
const fleet = new PasswordRotationFleet("fleet", { databases: { b: "b" }, ...every });
exports.outcomes = [one.outcome, fleet.databases.apply(({ b }) => b.outcome)];
exports.next = [one.nextRotationAt, fleet.nextRotationAt];`;

const options = { databases: [{ database_id: "a" }, { database_id: "b" }] };
const resetsOf = (platform: Platform) => options.databases.map(({ database_id: id }) => platform.database(id).resets);
const waits = "scheduledResets is off";

onEveryEngine("rekey:scheduledResets", (engine) => {
  it("off postpones what only rotateEvery asks for, reports it, and nothing else", async () => {
    const { platform, project, stack } = await fixture(engine, due(), options);
    const { next } = valuesOf(await succeeds(stack.up()));
    await stack.setConfig("rekey:scheduledResets", "off");
    for (const operation of [stack.preview, stack.up]) {
      const { printed } = await succeeds(operation());
      assert.match(printed, new RegExp(`"a" has been due since \\S+Z for a reset by rotateEvery.*${waits}`));
      assert.match(printed, new RegExp(`1 that are due by rotateEvery: rekey:${waits}.*"b".*waited since \\S+Z`));
      const [due] = next as string[];
      assert.ok(printed.includes(`since ${due}`), "it is the time of nextRotationAt");
    }
    assert.deepEqual(resetsOf(platform), [1, 1]);
    project.rewrite(due("version: 2"));
    await succeeds(stack.up());
    assert.deepEqual(resetsOf(platform), [2, 2], "a version resets");
    await stack.setConfig("rekey:scheduledResets", "on");
    await succeeds(stack.up());
    assert.deepEqual(resetsOf(platform), [3, 3]);
  });

  it("off postpones repeating an unconfirmed reset that only rotateEvery asked for", async () => {
    const { platform, stack } = await fixture(engine, due(), options);
    await succeeds(stack.up());
    for (const id of ["a", "b"]) {
      platform.failNext({ path: new RegExp(`reset-password/${id}`), dropConnection: "after-apply" });
    }
    await fails(stack.up(), /may have been changed/);
    await stack.setConfig("rekey:scheduledResets", "off");
    // The SDK fails a program whose credentials are unknown.
    const { printed } = await stack.up();
    assert.match(printed, new RegExp(`database "a", at \\S+Z, was not confirmed.* waits: rekey:${waits}`));
    assert.match(printed, new RegExp(`1 once more, whose last reset was not confirmed: rekey:${waits}.*"b".* since `));
    assert.deepEqual(resetsOf(platform), [2, 2]);
    await stack.setConfig("rekey:scheduledResets", "on");
    assert.deepEqual(valuesOf(await succeeds(stack.up()))["outcomes"], ["reset", "reset"]);
    assert.deepEqual(resetsOf(platform), [3, 3]);
  });
});
