import assert from "node:assert/strict";
import { resourceNamed } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

/** One spec for each kind of rotation. The slow files hold their details. */
onEngines("Each feature, once", (engine) => {
  const rotations = (version: number) => `
const { PasswordRotation } = require("pulumi-rekey");
const reset = new PasswordRotation("reset", { databaseId: "db-reset", version: ${version} });
const adopted = new PasswordRotation("adopted", { databaseId: "db-adopted", initialRotation: false });
const scheduled = new PasswordRotation("scheduled", { databaseId: "db-scheduled", rotateEvery: "30d" });
exports.outcomes = [reset.outcome, adopted.outcome, scheduled.outcome];
exports.reason = reset.rotationReason;
exports.password = reset.password;
exports.next = scheduled.nextRotationAt;`;

  it("PasswordRotation resets once for a trigger, adopts, has a schedule, and recovers from a lost answer", async () => {
    const { platform, project, stack } = await scene(engine, rotations(1), {
      databases: ["db-reset", "db-adopted", "db-scheduled"],
      credentialsInResponse: "always",
    });
    const resets = () => ["reset", "adopted", "scheduled"].map((name) => platform.database(`db-${name}`).resets);
    assert.deepEqual((await stack.preview()).changes, { create: 4 });
    assert.equal(platform.requests.length, 0, "a preview sends nothing");

    const { outputs, printed } = await stack.up();
    assert.deepEqual(outputs["outcomes"]?.value, ["reset", "adopted", "reset"], printed);
    assert.deepEqual(outputs["password"], { value: platform.database("db-reset").password, secret: true });
    assert.match(String(outputs["next"]?.value), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual((await stack.up()).changes, { same: 4 });
    assert.deepEqual(resets(), [1, 0, 1]);

    project.rewrite(rotations(2));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    const lost = await stack.up();
    assert.equal(lost.succeeded, false);
    assert.match(lost.printed, /may have been changed/);
    assert.equal(resourceNamed(await stack.exportState(), "reset")?.outputs?.["outcome"], "unknown");
    assert.deepEqual(resets(), [2, 0, 1]);

    const recovered = await stack.up();
    assert.deepEqual(recovered.outputs["outcomes"]?.value, ["reset", "adopted", "reset"], recovered.printed);
    assert.equal(recovered.outputs["reason"]?.value, "unconfirmed");
    assert.equal(recovered.outputs["password"]?.value, platform.database("db-reset").password);
    assert.equal((await stack.destroy()).succeeded, true);
    assert.deepEqual(resets(), [3, 0, 1]);
  });

  const fleetOf = (version: number) => `
const { PasswordRotationFleet } = require("pulumi-rekey");
const databases = { one: { databaseId: "db-1", version: ${version} }, two: "db-2", three: "db-3" };
const fleet = new PasswordRotationFleet("caches", { databases, version: 1 });
exports.outcomes = fleet.databases.apply((all) => Object.fromEntries(Object.entries(all).map(([name, { outcome }]) => [name, outcome])));
exports.failed = fleet.failed;`;

  it("PasswordRotationFleet resets what is asked for, saves the others if one fails, and resets that one later", async () => {
    const { platform, project, stack } = await scene(engine, fleetOf(1), { databases: ["db-1", "db-2", "db-3"] });
    const resets = () => ["db-1", "db-2", "db-3"].map((id) => platform.database(id).resets);
    platform.failNext({ path: "/v2/keyvalue/reset-password/db-2", status: 422, body: `{"error":"id: is locked"}` });
    const failing = await stack.up();
    assert.equal(failing.succeeded, false);
    assert.match(failing.printed, /"caches": 1 of 3 databases failed:[^]*two: Could not .*422: id: is locked/);
    assert.deepEqual(resets(), [1, 0, 1]);

    const { outputs, printed } = await stack.up();
    assert.deepEqual(outputs["outcomes"]?.value, { one: "reset", two: "reset", three: "reset" }, printed);
    assert.deepEqual(outputs["failed"]?.value, []);
    project.rewrite(fleetOf(2));
    assert.equal((await stack.up()).succeeded, true);
    assert.deepEqual(resets(), [2, 1, 1]);
  });
});
