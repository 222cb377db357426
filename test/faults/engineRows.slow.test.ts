import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { type Engine, fails, pulumiCli, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { fixture, onEngine, onEngines, rotating } from "../support/onEngines";
import { environmentOf, Project } from "../support/project";
import { titled } from "./describeFaults";
import { Proxy } from "./network";

onEngines("faults: rows of an engine", (engine: Engine) => {
  it(titled(43, "two resources, one database", "preview, up", "refused in check; 0 sent"), async () => {
    const source = `${rotating()} new PasswordRotation("other", { databaseId: "db-quickstart" });`;
    const { platform, stack } = await fixture(engine, source);
    for (const operation of [stack.preview, stack.up]) {
      await fails(operation(), /"db-quickstart" is already rotated by urn:pulumi:.*::(cache|other)/);
    }
    assert.equal(platform.requests.length, 0);
  });

  it(titled(43, "a replacement of one resource", "up", "not refused; 1 sent for the other database"), async () => {
    const { platform, project, stack } = await fixture(engine, rotating());
    await stack.up();
    project.rewrite(rotating('databaseId: "db-sessions"'));
    const { changes } = await succeeds(stack.up());
    assert.equal(changes["replace"] ?? changes["create-replacement"], 1, JSON.stringify(changes));
    for (const id of ["db-quickstart", "db-sessions"]) assert.equal(platform.database(id).resets, 1, id);
  });

  it(titled(44, "two stacks, one database", "up", "1 sent by each"), async () => {
    const { platform, stack } = await fixture(engine, rotating());
    const other = new Project(rotating());
    const stacks = [stack, await engine.open(other.directory, environmentOf(platform))];
    for (const each of stacks) await succeeds(each.up());
    assert.equal(platform.database("db-quickstart").resets, 2);
    for (const each of stacks) assert.deepEqual((await each.up()).changes, { same: 2 });
    other.remove();
  });

  it(titled(48, "unknown id or version", "preview", "passes; 0 sent"), async () => {
    const { platform, stack } = await fixture(
      engine,
      `const { FlowControlReset, getFlowControlKeyOutput, PasswordRotation } = require("pulumi-rekey");
       const reset = new FlowControlReset("orders", { flowControlKey: "orders" });
       new PasswordRotation("version", { databaseId: "db-quickstart", version: reset.resetAt, triggers: { at: reset.resetAt } });
       const id = reset.resetAt.apply(() => "db-sessions");
       new PasswordRotation("id", { databaseId: id });
       getFlowControlKeyOutput({ flowControlKey: id });`,
    );
    assert.deepEqual((await succeeds(stack.preview())).changes, { create: 4 });
    assert.equal(platform.requests.length, 0);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 2);
  });

  it(titled(57, "http platform, proxy on another host", "up", "fails, state kept; 0 sent"), async function () {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const host = addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
    if (host === undefined) {
      console.log("      skipped: this machine has no address other than loopback");
      return this.skip();
    }
    const proxy = await Proxy.start({ host });
    const { platform, stack } = await fixture(engine, rotating());
    await stack.setConfig("rekey:proxy", `http://${host}:${proxy.port}`);
    await fails(stack.up(), /rekey:proxy.*Nothing was sent/s);
    assert.deepEqual({ proxy: proxy.heads.length, platform: platform.requests.length }, { proxy: 0, platform: 0 });
    await proxy.close();
  });

  const tooLarge = "lost response, former outputs too large for an init error";
  it(titled(58, tooLarge, "up", "fails, consumers are held back; 1 sent"), async () => {
    const using = (version: number): string => `${rotating(`version: ${version}`)}
      const { FlowControlReset } = require("pulumi-rekey");
      new FlowControlReset("consumer", { flowControlKey: "orders", version: rotation.password });`;
    const { platform, project, stack } = await fixture(engine, using(1), {
      databases: [{ database_id: "db-quickstart", essay: "x".repeat(40_000) }],
      credentials: "always",
    });
    const resets = () => ({
      password: platform.resetCount,
      consumer: platform.requests.filter(({ path }) => path.endsWith("/orders/reset")).length,
    });
    await succeeds(stack.up());
    project.rewrite(using(2));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await fails(stack.up(), /may have been changed/);
    assert.equal(resourceNamed(await stack.exportState(), "cache")?.outputs?.["outcome"], "unknown");
    assert.deepEqual(resets(), { password: 2, consumer: 1 });
    assert.equal(valuesOf(await stack.up())["outcome"], "reset");
    assert.deepEqual(resets(), { password: 3, consumer: 2 });
  });

  it(titled(51, "not installed where the host runs", "destroy", "succeeds"), async () => {
    const { project, stack } = await fixture(engine, rotating());
    await stack.up();
    project.uninstall("pulumi-rekey");
    await succeeds(stack.destroy());
  });
});

// The local engine has no hooks.
onEngine(pulumiCli, "faults: an error hook, on the pulumi CLI", (engine) => {
  // Not a line of the table, which must not depend on whether there is a CLI. The host's own tests show the row.
  it("row 47: an error hook that repeats update makes no second request", async () => {
    // Three times only: after the hundredth repeat the engine saves no outputs, nor the id of a create.
    const source = (version: number): string => `
      const pulumi = require("@pulumi/pulumi");
      const { PasswordRotation } = require("pulumi-rekey");
      const again = new pulumi.ErrorHook("again", ({ errors }) => errors.length < 3);
      new PasswordRotation("one", { databaseId: "db-quickstart", version: ${version} }, { hooks: { onError: [again] } });`;
    const { platform, project, stack } = await fixture(engine, source(1));
    await stack.up();
    project.rewrite(source(2));
    platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
    await fails(stack.up());
    assert.equal(platform.requests.length, 2, "the repeat got the result of the first call");
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 3);
  });
});
