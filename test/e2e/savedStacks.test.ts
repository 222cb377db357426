import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExportedDeployment, LocalStack, type Platform } from "../../local/index";
import { type Engine, localEngine, pulumiCli, type Stack, succeeds } from "../support/engine";
import { passphrase, runEngine } from "../support/engineProcess";
import { projectRoot } from "../support/host";
import { endFixtures, fixture, onEngine, onEveryEngine } from "../support/onEngines";
import { Project } from "../support/project";
import { methodsOf, resetIds, savedFixture, unconfirmedIds } from "../support/savedStacks";
import { databasePath } from "../support/resources";

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

/** A stack of the local engine that holds an exported state. */
async function importStack(project: Project, name: string): Promise<LocalStack> {
  copyFileSync(join(fixtures, name, "Pulumi.dev.yaml"), project.path("Pulumi.dev.yaml"));
  const stack = await LocalStack.open({ projectDir: project.directory, passphrase });
  await stack.importStack(JSON.parse(readFileSync(join(fixtures, name, "stack.json"), "utf8")) as ExportedDeployment);
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

/** Asserts that a state has the passwords of databases. */
async function isKnown(stack: Stack, platform: Platform, ...ids: string[]): Promise<void> {
  const text = JSON.stringify(await stack.exportState(true));
  for (const id of ids) assert.ok(text.includes(platform.database(id).password), id);
}

// It has each kind of resource and of outcome: see its program.
onEveryEngine("A stack that an earlier commit saved", (engine) => {
  it("has nothing to update but unconfirmed resets after a refresh", async () => {
    const { platform, stack, resources } = await savedFixture(engine);
    await stack.setConfig("rekey:databasePath", databasePath);
    const planned = { same: resources - unconfirmedIds.length, update: unconfirmedIds.length };

    // The engine counts those whose creation or update failed.
    assert.deepEqual((await succeeds(stack.refresh())).changes, planned);
    assert.deepEqual((await succeeds(stack.preview())).changes, planned);
    assert.deepEqual(methodsOf(platform), ["GET"]);
    await isKnown(stack, platform, "unread", "fleet-d");

    assert.deepEqual((await succeeds(stack.up())).changes, planned);
    assert.deepEqual(resetIds(platform), unconfirmedIds);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: resources });
    assert.deepEqual(resetIds(platform), unconfirmedIds);
  });

  it("has nothing to update but unconfirmed resets without a read, and reads what it can later", async () => {
    const { platform, stack, resources } = await savedFixture(engine);
    const planned = { same: resources - unconfirmedIds.length, update: unconfirmedIds.length };
    assert.deepEqual((await succeeds(stack.preview())).changes, planned);
    assert.equal(platform.requests.length, 0);
    assert.deepEqual((await succeeds(stack.up())).changes, planned);
    assert.deepEqual(resetIds(platform), unconfirmedIds);
    assert.deepEqual(methodsOf(platform), ["POST"]);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: resources });

    await stack.setConfig("rekey:databasePath", databasePath);
    assert.deepEqual((await succeeds(stack.up())).changes, { same: resources - 2, update: 2 });
    await isKnown(stack, platform, "unread", "fleet-d");
    assert.deepEqual((await succeeds(stack.up())).changes, { same: resources });
    assert.deepEqual(resetIds(platform), unconfirmedIds);
  });
});

describe("A saved stack", function () {
  this.timeout(600_000);
  after(endFixtures);

  it("that a real CLI exported runs on the local engine with no update planned", async () => {
    const project = new Project(source);
    try {
      const stack = await importStack(project, "hand-over");
      assert.deepEqual((await stack.preview()).changes, { same: 3 });
      // The platform that it was made with is gone: a request would be an error.
      const { changes, outputs } = await stack.up();
      assert.deepEqual(changes, { same: 3 });
      assert.deepEqual(outputs["version"], { value: "two", secret: true });
      assert.deepEqual(outputs["count"], { value: 2, secret: false });
    } finally {
      project.remove();
    }
  });

  it("with resources of the plugin updates them once, resets only unconfirmed ones, and can then be refreshed and destroyed", async () => {
    const { platform, stack, resources } = await savedFixture(localEngine, ({ deployment }) => {
      for (const { outputs } of deployment.resources ?? []) delete outputs?.["__provider"];
    });
    // The stack and its two fleets.
    const updated = { same: 3, update: resources - 3 };
    assert.deepEqual((await succeeds(stack.preview())).changes, updated);
    assert.equal(platform.requests.length, 0);
    assert.deepEqual((await succeeds(stack.up())).changes, updated);
    assert.deepEqual(resetIds(platform), unconfirmedIds);
    assert.deepEqual(methodsOf(platform), ["POST"]);
    for (const run of ["refresh", "preview", "up"] as const) {
      assert.deepEqual((await succeeds(stack[run]())).changes, { same: resources });
    }
    assert.deepEqual((await succeeds(stack.destroy())).changes, { delete: resources });
    assert.deepEqual(resetIds(platform), unconfirmedIds);
  });
});
