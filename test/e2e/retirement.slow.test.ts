import assert from "node:assert/strict";
import { type Process } from "../support/processes";
import { hasRedis } from "../support/redis";
import { type Way, ways } from "./deployments";
import { endAll, onEngineByAdapter, succeeds } from "./engineStack";
import { type App, Apps } from "./retiredApps";

const quick: readonly App[] = [
  { name: "plain", user: "app" },
  { name: "replaced", isReplaced: true, drainMs: 500 },
  { name: "constructor", way: "inConstructor" },
  { name: "await", way: "afterAwait" },
  { name: "apply300", way: "inApplyAfter300", isReplaced: true },
  { name: "value", way: "inApplyByValue", isReplaced: true, drainMs: 500 },
  { name: "second", user: "app", at: "second" },
  { name: "queue", at: "queue" },
];

/** One stack for each of these: none hides behind the time that another one takes. */
const thorough: readonly (readonly App[])[] = [
  ...(Object.keys(ways) as Way[]).map((way) => [
    { name: `${way}Updated`, way },
    { name: `${way}Replaced`, way, isReplaced: true },
  ]),
  [{ name: "draining", isReplaced: true, drainMs: 3_000 }],
  [
    { name: "first", user: "app", way: "inApply" },
    { name: "second", user: "app", isReplaced: true, at: "second" },
    { name: "queue", way: "inConstructor", at: "queue" },
  ],
];

/** How many clients each deployment has. With 20, each way is in a stack of its own. */
const clientCount = Number(process.env["REKEY_CLIENTS"] ?? 3);
const stacks = clientCount >= 20 ? thorough : [quick];
const isRemoval = /^ACL SETUSER \S+ !/;

if (!hasRedis) it.skip("A retirement (skipped: there is no redis-server on PATH)");
for (const list of hasRedis ? stacks : []) {
  onEngineByAdapter(`Clients are never refused: ${list.map(({ name }) => name).join(", ")}`, (adapter) => {
    const users = list.filter(({ at }) => at !== "queue");
    let apps: Apps;
    before(async () => (apps = await Apps.start(list, adapter, clientCount)));
    after(async () => {
      console.log(`      ${apps.deployments.attempts} attempts of ${clientCount} clients of each deployment`);
      await apps.close();
    });

    it("when deployments are new, and former secrets are retired in the next `up`", async () => {
      const result = await succeeds(apps.stack.up());
      await apps.assertNoneRefused(result);
      const areAccepted = () => Promise.all(users.map((app) => apps.accepts(app, apps.formerOf(app))));
      assert.ok((await areAccepted()).every(Boolean), result.printed);
      assert.equal((await apps.dueLater()).length, list.length);
      await apps.succeeds();
      assert.ok(!(await areAccepted()).some(Boolean));
      const { output } = await apps.stack.run("stack", "export");
      assert.ok(!list.some(({ name }) => apps.deployments.given(name).some((secret) => output.includes(secret))));
    });

    it("when a version rotates, and the two that follow learn of it and do nothing", async () => {
      apps.version++;
      await apps.succeeds();
      for (const app of list) assert.equal(apps.deployments.given(app.name).length, 2);
      assert.deepEqual(await apps.dueLater(), []);
      await apps.succeeds();
      const { changes } = await apps.succeeds();
      assert.deepEqual(Object.keys(changes), ["same"]);
    });

    it("when deployments fail in two versions, and succeed in the next `up`", async () => {
      apps.deployments.failing = () => true;
      for (const next of [3, 4]) {
        apps.version = next;
        await apps.fails(/is broken/);
      }
      apps.deployments.failing = () => false;
      await apps.succeeds();
      // The version of a queue token has waited for the retirement.
      await apps.succeeds();
    });

    it("when deletes can neither retire nor save the users, and the servers are restarted", async () => {
      apps.version++;
      const [saving, removing] = apps.gates;
      removing.fail({ command: isRemoval, does: { reply: "-ERR busy" } });
      let isRetired = false;
      saving.meet = (command, point) => {
        if (isRemoval.test(command)) isRetired = true;
        return isRetired && command === "ACL SAVE" && point === "arrived" ? { reply: "-ERR disk full" } : undefined;
      };
      await apps.fails(/disk full/);
      saving.meet = () => undefined;
      const restart = () => Promise.all(apps.servers.map((server) => server.restart()));
      await restart();
      await apps.succeeds();
      await restart();
      await apps.assertOnlyLatestValid();
    });

    it("when the engine is killed between the hand-over and the first delete", async () => {
      apps.version++;
      let left: readonly Process[] | undefined;
      apps.gates[0].meet = (command) => {
        if (!isRemoval.test(command)) return undefined;
        left ??= apps.stack.kill("engine");
        return "close";
      };
      await apps.fails();
      await endAll(left ?? assert.fail("nothing was killed"));
      apps.gates[0].meet = () => undefined;
      await apps.stack.unlock();
      await apps.succeeds();
    });

    it("by a destroy, which retires nothing", async () => {
      apps.version++;
      apps.deployments.failing = () => true;
      await apps.fails(/is broken/);
      const before = await Promise.all(list.map((app) => apps.validOf(app)));
      const { printed } = await succeeds(apps.stack.destroy());
      await apps.assertNoneRefused({ printed });
      assert.deepEqual(await Promise.all(list.map((app) => apps.validOf(app))), before);
      assert.deepEqual(apps.deployments.running, []);
    });
  });
}
