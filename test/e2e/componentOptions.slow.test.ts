import assert from "node:assert/strict";
import { fails, pluginOnCli, pulumiCli, succeeds } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { onEngine, onEngines, onEveryEngine, scene } from "../support/onEngines";

const databases = ["db-1", "db-2", "db-3"];

/** A program with a fleet of all databases. @param options source of Pulumi's options */
const fleetOf = (version: number, options = "{}", { name = "caches", more = "" } = {}) => `
const pulumi = require("@pulumi/pulumi");
const { PasswordRotation, PasswordRotationFleet } = require("pulumi-rekey");
const hook = (name) => new pulumi.ResourceHook(name, (args) => console.log("hook " + name + " of " + args.name + "."));
const databases = Object.fromEntries(${JSON.stringify(databases)}.map((databaseId) => [databaseId, { databaseId }]));
${more}
new PasswordRotationFleet("${name}", { databases, version: ${version} }, ${options});`;

onEveryEngine("Options of a fleet", (engine) => {
  it("ignores changes of inputs, until the option is removed", async () => {
    const { platform, project, stack } = await scene(engine, fleetOf(1), { databases });
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

  it("refuses an option that would be dropped, and sends nothing", async () => {
    const { platform, stack } = await scene(engine, fleetOf(1, '{ ignoreChanges: ["databases"] }'), { databases });
    const message = /ignoreChanges cannot contain "databases".*Nothing was sent.*REKEY_INPUT_INVALID/;
    for (const operation of [stack.preview, stack.up]) await fails(operation(), message);
    assert.equal(platform.requests.length, 0);
  });
});

onEngines(
  "Options of a fleet that only the CLI has",
  (engine) => {
    it("runs hooks for each resource of the fleet", async () => {
      const hooks = `{ hooks: { beforeCreate: [hook("before")], afterUpdate: [hook("after")] } }`;
      const { project, stack } = await scene(engine, fleetOf(1, hooks), { databases });
      const ran = (printed: string) => new Set(printed.match(/hook \w+ of \S+\./g));
      const ofShards = (name: string) => new Set(["08", "10", "11"].map((shard) => `hook ${name} of caches-${shard}.`));
      assert.deepEqual(sorted(ran((await succeeds(stack.up())).printed)), sorted(ofShards("before")));
      project.rewrite(fleetOf(2, hooks));
      assert.deepEqual(sorted(ran((await succeeds(stack.up())).printed)), sorted(ofShards("after")));
    });

    it("resets nothing after a new name with aliases", async () => {
      const { platform, project, stack } = await scene(engine, fleetOf(1), { databases });
      const { changes } = await succeeds(stack.up());
      project.rewrite(fleetOf(1, `{ aliases: [{ name: "caches" }] }`, { name: "renamed" }));
      assert.deepEqual((await succeeds(stack.up())).changes, { same: changes["create"] });
      assert.equal(platform.resetCount, databases.length);
    });
  },
  [pulumiCli, pluginOnCli],
);

onEngine(pluginOnCli, `Errors of a fleet in the native plugin, on the ${pulumiCli.name}`, (engine) => {
  it("name the fleet and its databases", async () => {
    const more = `databases["wrong"] = { databaseId: "db-4", version: true };`;
    const { platform, stack } = await scene(engine, fleetOf(1, "{}", { more }), { databases });
    const message = /PasswordRotationFleet resource 'caches' has a problem: databases\["wrong"\]: version must be/;
    const { printed } = await fails(stack.up(), message);
    assert.doesNotMatch(printed, /Shard/);
    assert.equal(platform.requests.length, 0);
  });

  it("say that it is not complete if another resource fails", async () => {
    const more = `new PasswordRotation("other", { databaseId: "unknown" });`;
    const { platform, stack } = await scene(engine, fleetOf(1, "{}", { more }), { databases });
    // The fleet is still at work when the other one fails.
    platform.failNext({ delayMs: 1_000, path: /db-/, times: databases.length });
    await stack.setConfig("rekey:maxConcurrency", "2");
    const { printed } = await fails(stack.up(), /REKEY_REJECTED/);
    assert.doesNotMatch(printed, /grpc/);
    assert.match(printed, notComplete);
  });

  it("say so after ^C, and what was sent is saved", async () => {
    let onRequest = (): void => undefined;
    const { platform, project, stack } = await scene(engine, fleetOf(1), { databases, onRequest: () => onRequest() });
    await stack.setConfig("rekey:maxConcurrency", "1");
    platform.failNext({ delayMs: 1_000, times: databases.length });
    const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview", "--stack", "dev"], project.directory);
    onRequest = () => void up.interrupt();
    assert.match((await up.ended).printed, notComplete);
    onRequest = () => undefined;
    assert.ok(platform.resetCount < databases.length, `${platform.resetCount} were sent`);
    await succeeds(stack.up());
    assert.equal(platform.resetCount, databases.length);
  });
});

const notComplete = /'caches' has a problem: It is not complete: the run ended first.*REKEY_FLEET_INCOMPLETE/;

function sorted(texts: ReadonlySet<string>): string[] {
  return [...texts].sort();
}
