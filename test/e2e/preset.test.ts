import assert from "node:assert/strict";
import { succeeds } from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";
import { databasePath } from "../support/resources";

const program = `
const { FlowControlReset, getFlowControlKeyOutput, getGlobalParallelismOutput, PasswordRotation } = require("pulumi-rekey");
const rotation = new PasswordRotation("cache", { databaseId: "db-1", version: 1 });
const reset = new FlowControlReset("orders", { flowControlKey: "orders", version: 1 }, { dependsOn: rotation });
exports.password = rotation.password;
exports.read = getFlowControlKeyOutput({ flowControlKey: reset.flowControlKey });
exports.global = getGlobalParallelismOutput({ dependsOn: reset });`;

const orders = {
  flowControlKey: "orders",
  waitListSize: 7,
  parallelismMax: 3,
  parallelismCount: 3,
  rateMax: 10,
  rateCount: 9,
  ratePeriod: 3600,
  ratePeriodStart: 1_700_000_000,
};

onEngines("rekey:platform: upstash, with another address", (engine) => {
  it("rotates, resets the rate if there is no whole reset, and reads, by the platform's paths", async () => {
    const options = { databases: ["db-1"], flowControlKeys: [orders], credentials: "read", databasePath } as const;
    const { platform, stack } = await fixture(engine, program, options);
    await stack.setConfig("rekey:platform", "upstash");
    platform.failNext({ path: "/v2/flowControl/orders/reset", status: 404 });
    const { outputs, printed } = await succeeds(stack.up());
    assert.match(printed, /Flow-control key "orders" was reset by `resetRate`, which clears only the rate counter\./);
    assert.deepEqual(outputs["password"], { value: platform.database("db-1").password, secret: true });
    const posted = platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    const actions = ["reset", "resetRate"].map((action) => `/v2/flowControl/orders/${action}`);
    assert.deepEqual(posted, ["/v2/redis/reset-password/db-1", ...actions]);
    const { rateCount, parallelismCount } = outputs["read"]?.value as Record<string, number>;
    assert.deepEqual({ rateCount, parallelismCount }, { rateCount: 0, parallelismCount: 3 });
    assert.deepEqual(outputs["global"]?.value, { parallelismMax: 100, parallelismCount: 3 });
    await succeeds(stack.up());
    assert.equal(platform.database("db-1").resets, 1);
  });
});
