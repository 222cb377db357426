import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import type * as pulumi from "@pulumi/pulumi";
import * as rekey from "pulumi-rekey";
import { type MemoryResult, MemoryStack, MemoryStackError } from "../../local/memoryStack";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { titled } from "./describeFaults";
import { Proxy } from "./network";

// Row 51, a host without the package, is tested on the real engine.
describe("faults: rows of an engine", () => {
  let platform: Platform;
  afterEach(() => platform.close());

  async function start(options: PlatformOptions = {}): Promise<MemoryStack["config"]> {
    platform = await startPlatform(options);
    return {
      "rekey:baseUrl": platform.url,
      "rekey:queueUrl": platform.url,
      "rekey:username": platform.username,
      "rekey:password": { secret: platform.password },
      "rekey:queueToken": { secret: platform.queueToken },
    };
  }

  /** The messages of an operation that must fail. */
  async function failureOf(operation: Promise<MemoryResult>, pattern: RegExp): Promise<void> {
    const error = await operation.then(
      () => assert.fail("it succeeded"),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof MemoryStackError, String(error));
    assert.match(error.message, pattern);
  }

  const rotating = (args: Partial<rekey.PasswordRotationArgs> = {}) =>
    new rekey.PasswordRotation("cache", { databaseId: "db-quickstart", ...args });

  it(titled(43, "two resources, one database", "preview, up", "refused in the program; 0 sent"), async () => {
    const program = () => [rotating(), new rekey.PasswordRotation("other", { databaseId: "db-quickstart" })];
    const stack = new MemoryStack(program, await start());
    for (const operation of [() => stack.preview(), () => stack.up()]) {
      await assert.rejects(operation(), /database "db-quickstart" already belongs to PasswordRotation "cache"/);
    }
    assert.equal(platform.requests.length, 0);
  });

  it(titled(43, "a replacement of one resource", "up", "not refused; 1 sent for the other database"), async () => {
    let databaseId = "db-quickstart";
    const stack = new MemoryStack(() => rotating({ databaseId }), await start());
    await stack.up();
    databaseId = "db-sessions";
    assert.equal((await stack.up()).changes.replace, 1);
    for (const id of ["db-quickstart", "db-sessions"]) assert.equal(platform.database(id).resets, 1, id);
  });

  it(titled(44, "two stacks, one database", "up", "1 sent by each"), async () => {
    const config = await start();
    const stacks = [new MemoryStack(rotating, config), new MemoryStack(rotating, config)];
    for (const each of stacks) await each.up();
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
    const stack = new MemoryStack(program, await start());
    assert.deepEqual((await stack.preview()).changes, { create: 4 });
    assert.equal(platform.requests.length, 0);
    await stack.up();
    assert.equal(platform.resetCount, 2);
  });

  it(titled(57, "http platform, proxy on another host", "up", "fails, state kept; 0 sent"), async function () {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const host = addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
    const config = await start();
    if (host === undefined) {
      console.log("      skipped: this machine has no address other than loopback");
      return this.skip();
    }
    const proxy = await Proxy.start({ host });
    const stack = new MemoryStack(rotating, { ...config, "rekey:proxy": `http://${host}:${proxy.port}` });
    await failureOf(stack.up(), /rekey:proxy.*Nothing was sent/s);
    assert.deepEqual({ proxy: proxy.heads.length, platform: platform.requests.length }, { proxy: 0, platform: 0 });
    await proxy.close();
  });

  it(
    titled(58, "lost response, a consumer uses the password", "up", "fails, consumers are held back; 1 sent"),
    async () => {
      const config = await start({ databases: ["db-quickstart"], credentials: "always" });
      let version = 1;
      const stack = new MemoryStack(() => {
        const { password } = rotating({ version });
        return new rekey.FlowControlReset("consumer", {
          flowControlKey: "orders",
          version: password as pulumi.Output<string>,
        });
      }, config);
      const resets = () => ({
        password: platform.resetCount,
        consumer: platform.requests.filter(({ path }) => path.endsWith("/orders/reset")).length,
      });
      const outcome = () => stack.resources.find(({ urn }) => urn.endsWith("::cache"))?.outputs["outcome"];
      await stack.up();
      version = 2;
      platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
      await failureOf(stack.up(), /may have been changed/);
      assert.equal(outcome(), "unknown");
      assert.deepEqual(resets(), { password: 2, consumer: 1 });
      await stack.up();
      assert.equal(outcome(), "reset");
      assert.deepEqual(resets(), { password: 3, consumer: 2 });
    },
  );
});
