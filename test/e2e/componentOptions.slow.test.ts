import assert from "node:assert/strict";
import { pluginOnCli, pulumiCli, succeeds } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { fixture, onEngine, onEngines, onEveryEngine } from "../support/onEngines";

const databases = ["db-1", "db-2", "db-3"];

/** A program with a fleet of all databases. @param options source of Pulumi's options */
const fleetOf = (version: number, options = "{}", name = "caches") => `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotationFleet } = require("pulumi-rekey");
const hook = (name) => new pulumi.ResourceHook(name, (args) => console.log("hook " + name + " of " + args.name + "."));
const databases = Object.fromEntries(${JSON.stringify(databases)}.map((databaseId) => [databaseId, { databaseId }]));
new PasswordRotationFleet("${name}", { databases, version: ${version} }, ${options});`;

onEveryEngine("Options of a fleet", (engine) => {
  it("ignores changes of inputs, until the option is removed", async () => {
    const { platform, project, stack } = await fixture(engine, fleetOf(1), { databases });
    const { changes } = await succeeds(stack.up());
    project.rewrite(fleetOf(2, '{ ignoreChanges: ["version"] }'));
    for (const operation of [stack.preview, stack.up]) {
      assert.deepEqual((await succeeds(operation())).changes, { same: changes["create"] });
    }
    assert.equal(platform.resetCount, databases.length);
    project.rewrite(fleetOf(2));
    await succeeds(stack.up());
    assert.equal(platform.resetCount, 2 * databases.length);
  });
});

onEngines(
  "Options of a fleet that only the CLI has",
  (engine) => {
    it("runs hooks for each resource of the fleet", async () => {
      const hooks = `{ hooks: { beforeCreate: [hook("before")], afterUpdate: [hook("after")] } }`;
      const { project, stack } = await fixture(engine, fleetOf(1, hooks), { databases });
      const ran = (printed: string) => [...new Set(printed.match(/hook \w+ of \S+\./g))].sort();
      const ofShards = (name: string) => ["08", "10", "11"].map((shard) => `hook ${name} of caches-${shard}.`);
      assert.deepEqual(ran((await succeeds(stack.up())).printed), ofShards("before"));
      project.rewrite(fleetOf(2, hooks));
      assert.deepEqual(ran((await succeeds(stack.up())).printed), ofShards("after"));
    });

    it("resets nothing after a new name with aliases", async () => {
      const { platform, project, stack } = await fixture(engine, fleetOf(1), { databases });
      const { changes } = await succeeds(stack.up());
      project.rewrite(fleetOf(1, `{ aliases: [{ name: "caches" }] }`, "renamed"));
      assert.deepEqual((await succeeds(stack.up())).changes, { same: changes["create"] });
      assert.equal(platform.resetCount, databases.length);
    });
  },
  [pulumiCli, pluginOnCli],
);

onEngine(pluginOnCli, `A fleet in the native plugin, on the ${pulumiCli.name}`, (engine) => {
  it("is not complete after ^C, and what was sent is saved", async () => {
    let onRequest = (): void => undefined;
    const { platform, project, stack } = await fixture(engine, fleetOf(1), { databases, onRequest: () => onRequest() });
    await stack.setConfig("rekey:maxConcurrency", "1");
    platform.failNext({ delayMs: 1_000, times: databases.length });
    const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview", "--stack", "dev"], project.directory);
    onRequest = () => void up.interrupt();
    const notComplete = /'caches' has a problem: It is not complete: the run ended first.*REKEY_FLEET_INCOMPLETE/;
    assert.match((await up.ended).printed, notComplete);
    onRequest = () => undefined;
    assert.ok(platform.resetCount < databases.length, `${platform.resetCount} were sent`);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, databases.length);
  });
});
