import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { fails, succeeds, valuesOf } from "../support/engine";
import { fixture, onEveryEngine } from "../support/onEngines";

const userId = "00000000-0000-4000-8000-000000000001";

/** Rotates the token with which the program itself reads, before and after it, and with which the provider resets. */
const rotating = (version: number) => `
const { FlowControlReset, getGlobalParallelism, QueueTokenRotation } = require("pulumi-rekey");
const queue = new QueueTokenRotation("queue", { queueUserId: "${userId}", version: ${version} });
const first = new FlowControlReset("first", { flowControlKey: "orders", version: ${version} });
const later = new FlowControlReset("later", { flowControlKey: "emails", version: ${version} }, { dependsOn: queue });
exports.before = Promise.resolve(getGlobalParallelism({})).then(({ parallelismMax }) => parallelismMax);
exports.after = queue.rotatedAt.apply(() => getGlobalParallelism({})).apply(({ parallelismMax }) => parallelismMax);
exports.resets = [first.resetCount, later.resetCount];
exports.token = queue.token;`;

onEveryEngine("The token of the queue", (engine) => {
  const start = () => fixture(engine, rotating(1), { flowControlKeys: ["orders", "emails"], credentials: "always" });

  it("is not rotated while it is rekey:queueToken, and nothing is reset", async () => {
    const { platform, stack } = await start();
    await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
    assert.equal(platform.resetCount, 0);
    const posts = platform.requests.filter(({ method, path }) => method === "POST" && path.includes("qstash"));
    assert.deepEqual(posts, []);
  });

  it("is rotated with rekey:queueUserId, and read by each process, also if a response is lost", async () => {
    const { platform, project, stack } = await start();
    const former = platform.queueToken;
    await stack.removeConfig("rekey:queueToken");
    await stack.setConfig("rekey:queueUserId", userId);
    const first = await succeeds(stack.up());
    assert.deepEqual(first.outputs["token"], { value: platform.queueToken, secret: true });
    const { before, after, resets } = valuesOf(first);
    assert.deepEqual({ before, after, resets }, { before: 100, after: 100, resets: [1, 1] });
    assert.deepEqual((await stack.up()).changes, { same: 4 });

    project.rewrite(rotating(2));
    platform.failNext({ path: /rotate-token/, dropConnection: "after-apply" });
    const second = await succeeds(stack.up());
    assert.equal(valuesOf(second)["token"], platform.queueToken);
    assert.deepEqual(valuesOf(second)["resets"], [2, 2]);
    assert.equal(platform.resetCount, 2);
    const client = (token: string) => new Client({ baseUrl: platform.url, token, retry: false });
    await client(platform.queueToken).schedules.list();
    await assert.rejects(client(former).schedules.list(), /Authorization: missing or wrong/);
    for (const secret of [former, platform.queueToken, platform.password]) {
      assert.ok(![first, second].some(({ printed }) => printed.includes(secret)));
    }
    await succeeds(stack.destroy());
    assert.equal(platform.resetCount, 2);
  });
});
