import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { fails, resourceNamed, succeeds } from "../support/engine";
import { onEngines, scene } from "../support/onEngines";

/** A program with one rotation of the given arguments. */
function rotating(args: string): string {
  return `
const { PasswordRotation } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { ${args} });
exports.outcome = rotation.outcome;
exports.count = rotation.rotationCount;
exports.reason = rotation.rotationReason;
exports.endpoint = rotation.endpoint;
exports.next = rotation.nextRotationAt;
`;
}

const database = `databaseId: "db-quickstart"`;

onEngines("PasswordRotation", (engine) => {
  it("shows no output of an unchanged program as unknown in a preview", async () => {
    const { stack } = await scene(
      engine,
      `const { PasswordRotation } = require("pulumi-rekey");
       const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", rotateEvery: "30d" });
       exports.next = rotation.nextRotationAt;`,
    );
    const up = await stack.up();
    assert.match(String(up.outputs["next"]?.value), /Z$/);
    const { printed } = await succeeds(stack.preview());
    assert.match(printed, /2 unchanged/);
    assert.doesNotMatch(printed, /unknown/);
  });

  it("resets once for one trigger, and never in preview, refresh or destroy", async () => {
    const { platform, project, stack } = await scene(engine, rotating(`${database}, version: 1`));
    assert.deepEqual((await stack.preview()).changes, { create: 2 });
    assert.equal(platform.resetCount, 0);
    const first = await stack.up();
    assert.deepEqual([first.outputs["outcome"]?.value, first.outputs["count"]?.value], ["reset", 1], first.printed);
    assert.equal(platform.resetCount, 1);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    project.rewrite(rotating(`${database}, version: "1", triggers: {}`));
    assert.deepEqual((await stack.up()).changes, { same: 2 }, '1 and "1", none and {} are the same trigger');
    await stack.setConfig("rekey:baseUrl", "https://elsewhere.example.com");
    await stack.setConfig("rekey:password", "another", true);
    await stack.setConfig("rekey:maxConcurrency", "1");
    const { changes, printed } = await stack.up();
    assert.equal(changes["same"], 2, `no other address, credentials or limits ask for a reset: ${printed}`);
    await stack.setConfig("rekey:baseUrl", platform.url);
    await stack.setConfig("rekey:password", platform.password, true);
    assert.equal(platform.resetCount, 1);
    project.rewrite(rotating(`${database}, version: 2`));
    assert.deepEqual((await stack.preview()).changes, { same: 1, update: 1 });
    await stack.refresh();
    assert.equal(platform.resetCount, 1);
    const second = await stack.up();
    assert.deepEqual([second.outputs["reason"]?.value, second.outputs["count"]?.value], ["trigger", 2]);
    project.rewrite(rotating(database));
    assert.deepEqual((await stack.up()).changes, { same: 2 }, "taking the trigger away resets nothing");
    assert.equal(platform.resetCount, 2);
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 2);
  });

  it("replaces when databaseId changes, and resets the new database only", async () => {
    const { platform, project, stack } = await scene(engine, rotating(database));
    await stack.up();
    project.rewrite(rotating(`databaseId: "db-sessions"`));
    const { changes } = await stack.up();
    assert.equal(changes["replace"] ?? changes["create-replacement"], 1, JSON.stringify(changes));
    assert.deepEqual([platform.database("db-quickstart").resets, platform.database("db-sessions").resets], [1, 1]);
  });

  it("adopts a database without a reset", async () => {
    const { platform, project, stack } = await scene(engine, rotating(`${database}, initialRotation: false`));
    const { outputs } = await stack.up();
    assert.equal(outputs["outcome"]?.value, "adopted");
    assert.equal(outputs["endpoint"]?.value, undefined);
    await stack.up();
    assert.equal(platform.resetCount, 0);
    project.rewrite(rotating(`${database}, initialRotation: false, version: 1`));
    assert.equal((await stack.up()).outputs["reason"]?.value, "trigger");
    assert.equal(platform.resetCount, 1);
  });

  it("rotates once when rotateEvery is due, and says why in the preview", async () => {
    const { platform, project, stack } = await scene(engine, rotating(`${database}, rotateEvery: "1s"`));
    const { outputs } = await stack.up();
    assert.match(String(outputs["next"]?.value), /^\d{4}-\d\d-\d\dT.*Z$/);
    await sleep(1_100);
    const preview = await stack.preview();
    assert.match(
      preview.printed,
      /database "db-quickstart" is due to be reset: the last time was .* rotateEvery is 1s/,
    );
    assert.equal(platform.resetCount, 1);
    assert.equal((await stack.up()).outputs["reason"]?.value, "schedule");
    project.rewrite(rotating(`${database}, rotateEvery: "30d"`));
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    assert.equal(platform.resetCount, 2);
  });

  it("keeps what it knows when an answer is lost, and resets once more", async () => {
    const { platform, stack } = await scene(engine, rotating(database));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await fails(stack.up(), /may have been changed/);
    assert.equal(platform.resetCount, 1);
    const saved = resourceNamed(await stack.exportState(), "cache");
    assert.equal(saved?.outputs?.["outcome"], "unknown");
    assert.equal(saved.initErrors?.length, 1);
    const found = await stack.up();
    assert.equal(found.outputs["outcome"]?.value, "reset", found.printed);
    assert.equal(platform.resetCount, 2);
    assert.deepEqual((await stack.up()).changes, { same: 2 });
  });

  it("leaves everything as it was when the platform refuses", async () => {
    const { platform, project, stack } = await scene(engine, rotating(`${database}, version: 1`));
    await stack.up();
    project.rewrite(rotating(`${database}, version: 2`));
    platform.failNext({ path: /reset-password/, status: 422, body: `{"error":"id: is locked"}` });
    await fails(stack.up(), /answered 422: id: is locked/, /The password was not changed/);
    assert.equal(platform.resetCount, 1);
    assert.equal((await stack.up()).outputs["count"]?.value, 2);
  });

  it("refuses two owners of one database before anything is sent", async () => {
    const { platform, stack } = await scene(
      engine,
      `const { PasswordRotation } = require("pulumi-rekey");
       new PasswordRotation("one", { ${database} });
       new PasswordRotation("two", { ${database} });`,
    );
    for (const operation of [stack.preview, stack.up]) {
      await fails(operation(), /database "db-quickstart" is already rotated by urn:pulumi:.*::(one|two)/);
    }
    assert.equal(platform.resetCount, 0);
  });

  it("refuses the option `import` before anything is sent", async () => {
    const { platform, stack } = await scene(
      engine,
      `const { PasswordRotation } = require("pulumi-rekey");
       new PasswordRotation("cache", { ${database} }, { import: "db-quickstart" });`,
    );
    for (const operation of [stack.preview, stack.up]) {
      await fails(operation(), /cannot have the option `import`.*Nothing was sent.*initialRotation: false/);
    }
    assert.equal(platform.requests.length, 0);
  });

  it("refuses bad input by the property's name before anything is sent", async () => {
    const bad = {
      databaseId: `databaseId: ""`,
      rotateEvery: `${database}, rotateEvery: "soon"`,
      version: `${database}, version: true`,
    };
    const { platform, project, stack } = await scene(engine, rotating(database));
    for (const [property, args] of Object.entries(bad)) {
      project.rewrite(rotating(args));
      const { succeeded, printed } = await stack.preview();
      assert.equal(succeeded, false);
      assert.match(printed, new RegExp(`has a problem: ${property} `));
    }
    assert.equal(platform.requests.length, 0);
  });
});
