import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExportedDeployment, LocalStack, type Platform, startPlatform } from "../../local/index";
import { type Engine, localEngine, pluginOnCli, pulumiCli, succeeds } from "../support/engine";
import { passphrase, runEngine } from "../support/engineProcess";
import { projectRoot } from "../support/host";
import { fixture, onEngine } from "../support/onEngines";
import { Project } from "../support/project";

const fixtures = join(projectRoot, "test/fixtures");

/** Both resources, one that depends on the other, a secret in the settings, and outputs of both kinds. */
const source = `
const pulumi = require("@pulumi/pulumi");
const { FlowControlReset, PasswordRotation } = require("pulumi-rekey");
const version = new pulumi.Config().requireSecret("version");
const rotation = new PasswordRotation("cache", { databaseId: "db-quickstart", version, rotateEvery: "3650d" });
const reset = new FlowControlReset("orders", { flowControlKey: "orders", triggers: { rotated: rotation.rotatedAt } });
exports.version = version;
exports.password = rotation.password;
exports.endpoint = rotation.endpoint;
exports.count = rotation.rotationCount;
exports.resetAt = reset.resetAt;`;

/** A stack of the local engine that holds an exported state. @param change changes it before */
async function importStack(
  project: Project,
  name: string,
  change: (state: ExportedDeployment) => void = () => undefined,
): Promise<LocalStack> {
  copyFileSync(join(fixtures, name, "Pulumi.dev.yaml"), project.path("Pulumi.dev.yaml"));
  const stack = await LocalStack.open({ projectDir: project.directory, passphrase });
  const state = JSON.parse(readFileSync(join(fixtures, name, "stack.json"), "utf8")) as ExportedDeployment;
  change(state);
  await stack.importStack(state);
  return stack;
}

/** Runs commands of an engine, and returns what they print. */
const commandsOf =
  (engine: Engine, { directory }: Project) =>
  async (...args: string[]): Promise<string> => {
    const { code, printed } = await runEngine(engine, args, directory);
    assert.equal(code, 0, `${args.join(" ")}: ${printed}`);
    return printed;
  };
const json = <T = unknown>(text: string): T => JSON.parse(text.slice(text.indexOf("{"))) as T;

onEngine(pulumiCli, `A stack of the local engine that the ${pulumiCli.name} takes over`, () => {
  it("runs there, and back on the local engine, with no update planned", async () => {
    const { platform, project, stack } = await fixture(localEngine, source, { credentials: "always" });
    const [pulumi, rekey] = [commandsOf(pulumiCli, project), commandsOf(localEngine, project)];
    const outputsOf = {
      pulumi: ["stack", "output", "--json", "--show-secrets"],
      rekey: ["output", "--json", "--show-secrets"],
    };
    mkdirSync(project.path("backend"));

    await stack.setConfig("version", "one", true);
    await succeeds(stack.up());
    const outputs = json<Record<string, unknown>>(await rekey(...outputsOf.rekey));
    const { version, password, count } = outputs;
    assert.deepEqual({ version, count }, { version: "one", count: 1 });
    assert.equal(password, platform.database("db-quickstart").password);

    await rekey("export", "--file", "local.json");
    await pulumi("stack", "init", "dev");
    await pulumi("stack", "import", "--file", "local.json");
    await pulumi("preview", "--expect-no-changes");
    await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
    assert.deepEqual(json(await pulumi(...outputsOf.pulumi)), outputs);
    assert.equal(platform.resetCount, 1);

    await pulumi("config", "set", "--secret", "version", "two");
    await pulumi("up", "--yes", "--skip-preview");
    assert.equal(platform.resetCount, 2);
    const { length } = platform.requests;
    await pulumi("stack", "export", "--file", "cli.json");
    await rekey("import", "--file", "cli.json");
    for (const operation of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { changes } = json<{ changes: object }>(await rekey(...operation, "--json"));
      assert.deepEqual(changes, { same: 3 }, operation[0]);
    }
    assert.deepEqual(json(await rekey(...outputsOf.rekey)), json(await pulumi(...outputsOf.pulumi)));
    assert.equal(platform.requests.length, length, "nothing was sent");
  });
});

onEngine(
  pluginOnCli,
  `A stack that the native plugin of an earlier commit saved, on the ${pulumiCli.name}`,
  (engine) => {
    it("has nothing to update, in refresh, preview and up", async () => {
      const program = readFileSync(join(fixtures, "commit-43daa59/native/index.js"), "utf8");
      const { platform, project, stack } = await fixture(engine, program);
      const run = commandsOf(engine, project);
      await run("stack", "import", "--stack", "dev", "--file", join(fixtures, "commit-43daa59/native/stack.json"));
      await succeeds(stack.refresh());
      assert.deepEqual((await succeeds(stack.preview())).changes, { same: 11 });
      assert.deepEqual((await succeeds(stack.up())).changes, { same: 11 });
      assert.equal(platform.requests.length, 0);
    });
  },
);

describe("A saved stack", function () {
  this.timeout(600_000);
  let project: Project;
  let platform: Platform | undefined;
  afterEach(async () => {
    project.remove();
    await platform?.close();
  });

  it("that a real CLI exported runs on the local engine with no update planned", async () => {
    project = new Project(source);
    const stack = await importStack(project, "hand-over");
    assert.deepEqual((await stack.preview()).changes, { same: 3 });
    // The platform that it was made with is gone: a request would be an error.
    const { changes, outputs } = await stack.up();
    assert.deepEqual(changes, { same: 3 });
    assert.deepEqual(outputs["version"], { value: "two", secret: true });
    assert.deepEqual(outputs["count"], { value: 2, secret: false });
  });

  // Fleets have records, and everything is verified.
  it("of an earlier commit has nothing to update, in refresh, preview and up", async () => {
    project = new Project(readFileSync(join(fixtures, "commit-43daa59/dynamic/index.js"), "utf8"));
    const stack = await importStack(project, "commit-43daa59/dynamic");
    // The platform that it was made with is gone: a request would be an error.
    for (const run of ["refresh", "preview", "up"] as const) {
      assert.deepEqual((await stack[run]()).changes, { same: 9 });
    }
  });

  it("with resources of the plugin updates them once without a request, and can then be refreshed and destroyed", async () => {
    project = new Project(readFileSync(join(fixtures, "commit-43daa59/dynamic/index.js"), "utf8"));
    const stack = await importStack(project, "commit-43daa59/dynamic", ({ deployment }) => {
      for (const { outputs } of deployment.resources ?? []) delete outputs?.["__provider"];
    });
    const updated = { same: 2, update: 7 };
    // The platform that it was made with is gone: a request would be an error.
    assert.deepEqual((await stack.preview()).changes, updated);
    assert.deepEqual((await stack.up()).changes, updated);
    for (const run of ["refresh", "preview", "up"] as const) {
      assert.deepEqual((await stack[run]()).changes, { same: 9 });
    }
    assert.deepEqual((await stack.destroy()).changes, { delete: 9 });
  });

  // It has every kind of resource, and one reset that was not confirmed.
  it("of version 0.1 has nothing to update but the unconfirmed reset, in refresh, preview and up", async () => {
    platform = await startPlatform({ databases: ["single", "adopted", "unconfirmed", "fleet-a", "fleet-b"] });
    project = new Project(readFileSync(join(fixtures, "version-0.1/index.js"), "utf8"));
    const stack = await importStack(project, "version-0.1");
    await stack.setConfig("rekey:baseUrl", platform.url);
    await stack.setConfig("rekey:username", platform.username);
    await stack.setConfig("rekey:password", platform.password, { secret: true });

    await stack.refresh();
    assert.deepEqual((await stack.preview()).changes, { same: 7, update: 1 });
    assert.equal(platform.requests.length, 0, "neither sends anything");
    assert.deepEqual((await stack.up()).changes, { same: 7, update: 1 });
    const paths = platform.requests.map(({ path }) => path);
    assert.deepEqual(paths, ["/v2/keyvalue/reset-password/unconfirmed"]);
    assert.deepEqual((await stack.up()).changes, { same: 8 });
    assert.equal(platform.requests.length, 1);
  });
});
