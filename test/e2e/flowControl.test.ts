import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import {
  FlowControlLimits,
  type FlowControlLimitsArgs,
  FlowControlReset,
  getFlowControlKey,
  getFlowControlKeyOutput,
  getFlowControlKeysOutput,
  getGlobalParallelismOutput,
} from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, TestStack } from "../support/memory";
import { assertFields } from "../support/results";

const counts = { waitListSize: 7, parallelismMax: 3, parallelismCount: 3, rateMax: 10, rateCount: 9 };
const flags = { isPaused: false, isPinnedParallelism: false, isPinnedRate: false };
const key = { flowControlKey: "orders", ...counts, ...flags };

describe("A program with a FlowControlReset", () => {
  afterEach(closePlatforms);

  it("resets a key once for one trigger, and reads it after the reset", async () => {
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const reset = new FlowControlReset("orders", { flowControlKey: "orders", version });
        const { before, after, flowControlKey, resetCount } = reset;
        const dependsOn = { dependsOn: reset };
        return {
          ...{ before, after, count: resetCount },
          read: getFlowControlKeyOutput({ flowControlKey }, dependsOn),
          missing: getFlowControlKey({ flowControlKey: "missing" }),
          found: getFlowControlKeysOutput({ search: "ord" }, dependsOn).keys.apply(([one]) => one?.flowControlKey),
          parallelismMax: getGlobalParallelismOutput(dependsOn).parallelismMax,
        };
      },
      { flowControlKeys: [key, "emails"] },
    );
    const { printed } = await succeeds(stack.preview());
    assert.match(printed, /Flow-control key "orders": its counters will be reset, because the resource is new\./);
    assert.deepEqual(stack.posts, []);

    const { before, after, read, ...others } = valuesOf(await succeeds(stack.up()));
    assertFields(before as object, { ...key, exists: true });
    assertFields(after as object, { ...key, exists: true, parallelismCount: 0, rateCount: 0 });
    assert.deepEqual(read, after, "read after the reset");
    const missing = { flowControlKey: "missing", exists: false, waitListSize: 0, parallelismCount: 0, rateCount: 0 };
    assert.deepEqual(others, { count: 1, missing, found: "orders", parallelismMax: 100 });
    await succeeds(stack.up());
    await succeeds(stack.refresh());
    version = 2;
    assert.equal(valuesOf(await succeeds(stack.up()))["count"], 2);
    await succeeds(stack.destroy());
    assert.deepEqual(stack.posts, ["/v2/flowControl/orders/reset", "/v2/flowControl/orders/reset"]);
  });
});

const pinned = "pin?parallelism=10&rate=100&period=60";

interface Declared {
  readonly args: Omit<FlowControlLimitsArgs, "flowControlKey"> & { flowControlKey?: string };
  readonly name?: string;
  readonly more?: (limits: FlowControlLimits) => unknown;
}

describe("A program with FlowControlLimits", () => {
  afterEach(closePlatforms);

  const start = async (first: Declared) => {
    let declared = first;
    const stack = await TestStack.start(
      () => {
        const { args, name = "orders", more } = declared;
        const limits = new FlowControlLimits(name, { flowControlKey: "orders", ...args });
        more?.(limits);
        const { parallelism, rate, period, paused } = limits;
        return { parallelism, rate, period, paused };
      },
      { flowControlKeys: [] },
    );
    const { url: baseUrl, queueToken: token } = stack.platform;
    let seen = 0;
    /** The changes of the key since the former call. */
    const sent = () => {
      const { posts } = stack;
      return posts.slice(seen, (seen = posts.length)).map((path) => path.replace("/v2/flowControl/orders/", ""));
    };
    const declare = (next: Declared) => void (declared = next);
    return { stack, sent, declare, vendor: new Client({ baseUrl, token, retry: false }).flowControl };
  };

  it("pins, changes, removes, pauses, resumes, puts back and destroys with exactly these requests", async () => {
    const whole = { parallelism: 10, rate: 100, period: "1m", paused: true };
    const { stack, sent, declare, vendor } = await start({ args: whole });
    const up = async (args?: Declared["args"]) => {
      if (args) declare({ args });
      const result = await succeeds(stack.up());
      return { posts: sent(), outputs: valuesOf(result) };
    };
    await succeeds(stack.preview());
    assert.deepEqual(sent(), []);
    assert.deepEqual((await up()).posts, ["pause", pinned]);
    assert.deepEqual((await up()).posts, []);
    assert.deepEqual((await up({ ...whole, rate: 50 })).posts, ["pin?rate=50&period=60"]);
    assert.deepEqual((await up({ parallelism: 10, paused: false })).posts, ["unpin?rate=true", "resume"]);
    const { posts, outputs } = await up({ parallelism: 10, paused: true });
    assert.deepEqual(posts, ["pause"]);
    assertFields(outputs, { parallelism: 10, paused: true });
    assertFields(await vendor.get("orders"), { isPinnedParallelism: true, isPinnedRate: false, isPaused: true });

    await vendor.pin("orders", { parallelism: 99 });
    await vendor.resume("orders");
    sent();
    await succeeds(stack.refresh());
    const { printed } = await succeeds(stack.preview());
    assert.match(printed, /Flow-control key "orders": pause, pin parallelism 10 \(now 99\)\./);
    assert.deepEqual((await up()).posts, ["pause", "pin?parallelism=10"]);

    const destroyed = await succeeds(stack.destroy());
    assert.deepEqual(sent(), ["unpin?parallelism=true"]);
    assert.match(destroyed.printed, /"orders" stays paused: removing its limits does not resume it/);
    assert.equal((await vendor.get("orders")).isPaused, true);
  });

  it("keeps limits with a new name of the resource, also if another resource fails meanwhile", async () => {
    const args = { rate: 5 };
    const { stack, sent, declare, vendor } = await start({ args });
    await succeeds(stack.up());
    const more = (limits: FlowControlLimits) =>
      new FlowControlReset("orders", { flowControlKey: "orders" }, { dependsOn: limits });
    declare({ args, name: "renamed", more });
    stack.platform.failNext({ path: /\/reset/, status: 403 });
    await fails(stack.up(), /REKEY_REJECTED/);
    assert.match((await succeeds(stack.up())).printed, /"orders" keeps its limits/);
    assert.deepEqual(sent(), ["pin?rate=5&period=1", "reset", "reset"]);
    assert.equal((await vendor.get("orders")).isPinnedRate, true);
  });
});
