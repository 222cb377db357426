import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExportedDeployment, LocalStack } from "../../local/index";
import { projectRoot } from "../support/host";
import { type Engine, localEngine, pulumiCli, succeeds } from "../support/engine";
import { passphrase, runEngine } from "../support/engineProcess";
import { onEngine, scene } from "../support/onEngines";
import { Project } from "../support/project";

const fixture = join(projectRoot, "test/fixtures/hand-over");

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

const json = (text: string): unknown => JSON.parse(text.slice(text.indexOf("{")));

onEngine(localEngine, "A stack that is handed over", (engine) => {
  if (pulumiCli.unavailable !== undefined) {
    it.skip(`goes on with a pulumi CLI, and back (skipped: ${pulumiCli.unavailable})`);
  } else {
    it(`goes on with the ${pulumiCli.name}, and back, with no update planned`, async () => {
      const { platform, project, stack } = await scene(engine, source, { credentialsInResponse: "always" });
      const runOn =
        (engine: Engine) =>
        async (...args: string[]): Promise<string> => {
          const { code, printed } = await runEngine(engine, args, project.directory);
          assert.equal(code, 0, `${args.join(" ")}: ${printed}`);
          return printed;
        };
      const [pulumi, rekey] = [runOn(pulumiCli), runOn(localEngine)];
      mkdirSync(project.path("backend"));

      await stack.setConfig("version", "one", true);
      await succeeds(stack.up());
      const outputs = json(await rekey("output", "--json", "--show-secrets")) as Record<string, unknown>;
      assert.deepEqual(
        [outputs["version"], outputs["password"], outputs["count"]],
        ["one", platform.database("db-quickstart").password, 1],
      );

      await rekey("export", "--file", "local.json");
      await pulumi("stack", "init", "dev");
      await pulumi("stack", "import", "--file", "local.json");
      await pulumi("preview", "--expect-no-changes");
      await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
      assert.deepEqual(json(await pulumi("stack", "output", "--json", "--show-secrets")), outputs);
      assert.equal(platform.resetCount, 1);

      await pulumi("config", "set", "--secret", "version", "two");
      await pulumi("up", "--yes", "--skip-preview");
      assert.equal(platform.resetCount, 2);
      const { length } = platform.requests;
      await pulumi("stack", "export", "--file", "cli.json");
      await rekey("import", "--file", "cli.json");
      for (const operation of [["preview"], ["up", "--yes", "--skip-preview"]]) {
        const { changes } = json(await rekey(...operation, "--json")) as { changes: object };
        assert.deepEqual(changes, { same: 3 }, operation[0]);
      }
      const theirs = json(await pulumi("stack", "output", "--json", "--show-secrets")) as object;
      assert.deepEqual(json(await rekey("output", "--json", "--show-secrets")), theirs);
      assert.equal(platform.requests.length, length, "nothing was sent");
    });
  }

  it("goes on from what a real CLI exported, with no update planned", async () => {
    const project = new Project(source);
    try {
      copyFileSync(join(fixture, "Pulumi.dev.yaml"), project.path("Pulumi.dev.yaml"));
      const stack = await LocalStack.open({ projectDir: project.directory, passphrase });
      const exported: unknown = JSON.parse(readFileSync(join(fixture, "stack.json"), "utf8"));
      await stack.importStack(exported as ExportedDeployment);
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
});
