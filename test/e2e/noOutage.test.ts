import assert from "node:assert/strict";
import * as rekey from "pulumi-rekey";
import { withRedis } from "../support/redis";
import { moveOn, resetTime } from "../support/time";
import { fails, succeeds } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";
import { queueUserId, Scenario } from "./noOutage";

// That such a rotation refuses no client is shown on the real engine; here, that clients which are refused are seen.
withRedis("Clients that connect again and again", () => {
  let scenario: Scenario;
  let stack: TestStack;
  beforeEach(async () => {
    scenario = await Scenario.start();
    const config = { "rekey:queueUserId": queueUserId };
    stack = await TestStack.start(() => scenario.program(rekey), { credentials: "read", config });
    delete stack.config["rekey:queueToken"];
    scenario.connect(stack.platform);
  });
  afterEach(resetTime);
  afterEach(async () => {
    await scenario.end();
    await closePlatforms();
  });

  /** Why clients are refused during an `up`. */
  const refusals = async (): Promise<Record<string, string[]>> => {
    await succeeds(stack.up());
    const reasonsIn = (texts: readonly string[]) =>
      new Set(texts.map((text) => /WRONGPASS|401/.exec(text)?.[0] ?? text));
    const { app, queue } = scenario.failures;
    return { app: [...reasonsIn(app)], queue: [...reasonsIn(queue)] };
  };
  const everyKind = { app: ["WRONGPASS"], queue: ["401"] };

  it("are not refused if the former secrets are retired after the deployment", async () => {
    assert.deepEqual(await refusals(), { app: [], queue: [] });
  });

  it("are refused if they are replaced at once", async () => {
    scenario.args = { version: 1, overlap: "none" };
    assert.deepEqual(await refusals(), everyKind);
  });

  it("are refused if they are retired before the deployment", async () => {
    scenario.retires = "before";
    assert.deepEqual(await refusals(), everyKind);
  });

  it("are refused if their deployment has failed for as long as two were valid", async () => {
    scenario.args = { version: 1, overlap: "24h" };
    scenario.retires = "never";
    scenario.isBroken = true;
    await fails(stack.up(), /the deployment has failed/);
    scenario.isBroken = false;
    assert.deepEqual(scenario.failures, { app: [], queue: [] });
    // The rotation comes before the deployment.
    moveOn(24);
    assert.deepEqual(await refusals(), everyKind);
  });
});
