import assert from "node:assert/strict";
import * as rekey from "pulumi-rekey";
import { succeeds } from "../e2e/engineStack";
import { closePlatforms, TestStack } from "../e2e/memory";
import { titled } from "./describeFaults";
import { Proxy } from "./network";

// Row 51, a host without the package, is tested on the real engine.
describe("faults: rows of an engine", () => {
  afterEach(closePlatforms);

  const rotating = (args: Partial<rekey.PasswordRotationArgs> = {}) =>
    new rekey.PasswordRotation("cache", { databaseId: "db-quickstart", ...args });

  it(titled(43, "a replacement of one resource", "up", "not refused; 1 sent for the other database"), async () => {
    let databaseId = "db-quickstart";
    const stack = await TestStack.start(() => rotating({ databaseId }));
    await succeeds(stack.up());
    databaseId = "db-sessions";
    assert.equal((await stack.up()).changes["replace"], 1);
    for (const id of ["db-quickstart", "db-sessions"]) assert.equal(stack.platform.database(id).resets, 1, id);
  });

  it(titled(44, "two stacks, one database", "up", "1 sent by each"), async () => {
    const stack = await TestStack.start(rotating);
    const { platform } = stack;
    const stacks = [stack, await TestStack.start(rotating, { platform })];
    for (const each of stacks) await succeeds(each.up());
    assert.equal(platform.database("db-quickstart").resets, 2);
    for (const each of stacks) assert.deepEqual((await each.up()).changes, { same: 2 });
  });

  it(titled(48, "unknown id or version", "preview", "passes; 0 sent"), async () => {
    const program = () => {
      const { resetAt } = new rekey.FlowControlReset("orders", { flowControlKey: "orders" });
      const at = resetAt.apply(String);
      rotating({ version: at, triggers: { at } });
      const databaseId = resetAt.apply(() => "db-sessions");
      new rekey.PasswordRotation("id", { databaseId });
      const flowControlKey = resetAt.apply(() => "orders");
      return { waiting: rekey.getFlowControlKeyOutput({ flowControlKey }).waitListSize };
    };
    const stack = await TestStack.start(program);
    assert.deepEqual((await stack.preview()).changes, { create: 4 });
    assert.equal(stack.platform.requests.length, 0);
    await succeeds(stack.up());
    assert.equal(stack.platform.resetCount, 2);
  });

  it(titled(57, "http platform, proxy", "up", "passes; the proxy sees nothing; 1 sent"), async () => {
    const proxy = await Proxy.start({ answers: 502 });
    const stack = await TestStack.start(rotating, { config: { "rekey:proxy": `http://127.0.0.1:${proxy.port}` } });
    await succeeds(stack.up());
    assert.deepEqual([proxy.heads, stack.platform.resetCount], [[], 1]);
    await proxy.close();
  });
});
