import assert from "node:assert/strict";
import * as ts from "typescript";
import { readPage } from "../docs/page";
import { type Engine, fails, pluginOnCli, pulumiCli, resourceNamed, succeeds } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { type Fixture, fixture, onEngines } from "../support/onEngines";

const databases = ["t", "replaceWith", "deletedWith", "dependsOn"];

/** A rotation `t` whose replacement is requested by its trigger, and others that refer to it. */
const related = (trigger: string) => `
const { PasswordRotation } = require("pulumi-rekey");
const rotation = (name, options) => new PasswordRotation(name, { databaseId: name, version: 1 }, options);
const t = rotation("t", { replacementTrigger: ${JSON.stringify(trigger)} });
rotation("replaceWith", { replaceWith: [t] });
rotation("deletedWith", { deletedWith: t });
rotation("dependsOn", { dependsOn: t });`;

const single = (args: string, options = "{}") => `
const { PasswordRotation } = require("pulumi-rekey");
exports.password = new PasswordRotation("sessions", { databaseId: "sessions", ${args} }, ${options}).password;`;

/** The program in docs/guide.md whose hook retries. */
const [guide = "", ...others] = readPage("docs/guide.md")
  .blocks.filter(({ code }) => code.includes("ErrorHook"))
  .map(({ code }) => ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.CommonJS } }).outputText);
assert.deepEqual(others, []);

// What docs/guide.md states about resets by Pulumi's own options and commands. The local engine refuses them.
onEngines(
  "Pulumi's options and commands",
  (engine) => {
    const open = (program: string): Promise<Fixture> =>
      fixture(engine, program, { databases: [...databases, "sessions"], credentials: "always" });
    const resetsOf = ({ platform }: Fixture): Record<string, number> =>
      Object.fromEntries(databases.map((id) => [id, platform.database(id).resets]));

    it("reset with a replacement: replacementTrigger, replaceWith and deletedWith do, dependsOn does not", async () => {
      const opened = await open(related("1"));
      await succeeds(opened.stack.up());
      opened.project.rewrite(related("2"));
      await succeeds(opened.stack.up());
      assert.deepEqual(resetsOf(opened), { t: 2, replaceWith: 2, deletedWith: 2, dependsOn: 1 });
    });

    it("reset with a replacement: state taint, --target-replace and --replace do, and untaint takes it back", async () => {
      const { platform, project, stack } = await open(single("version: 1"));
      await succeeds(stack.up());
      const { urn = "" } = resourceNamed(await stack.exportState(), "sessions") ?? {};
      const up = ["up", "--yes", "--skip-preview"];
      const resets: number[] = [];
      for (const commands of [
        [["state", "taint", urn, "--yes"], ["state", "untaint", urn, "--yes"], up],
        [["state", "taint", urn, "--yes"], up],
        [[...up, "--target-replace", urn]],
        [[...up, "--replace", urn]],
      ]) {
        for (const command of commands) await run(engine, command, project.directory);
        resets.push(platform.resetCount);
      }
      assert.deepEqual(resets, [1, 2, 3, 4]);
    });

    it("do not reset by replaceOnChanges, except after an unconfirmed reset", async () => {
      const program = (args: string) => single(args, '{ replaceOnChanges: ["*"] }');
      const { platform, project, stack } = await open(program('version: 1, host: "localhost", rotateEvery: "30d"'));
      await succeeds(stack.up());
      project.rewrite(program('host: "127.0.0.1", rotateEvery: "40d"'));
      await succeeds(stack.up());
      assert.equal(platform.resetCount, 1);
      project.rewrite(program("version: 2"));
      // Without the option, the fifth run would send nothing.
      platform.failNext({ path: /reset-password/, dropConnection: "after-apply", times: 4 });
      for (let run = 0; run < 4; run++) await fails(stack.up(), /REKEY_UNCONFIRMED/);
      await succeeds(stack.up());
      assert.equal(platform.resetCount, 6);
    });

    it("repeat no reset with the error hook of the guide, which stops at REKEY_UNCONFIRMED", async () => {
      const resetting = guide.replace(", initialRotation: false", "");
      assert.notEqual(resetting, guide);
      const { platform, stack } = await open(resetting);
      platform.failNext({ path: /reset-password/, status: 422, times: 2 });
      await succeeds(stack.up());
      assert.equal(platform.resetCount, 1);
      platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
      await stack.destroy();
      await fails(stack.up(), /REKEY_UNCONFIRMED/);
      assert.equal(platform.resetCount, 2);
      await succeeds(stack.up());
      assert.equal(platform.resetCount, 3);
    });

    for (const [what, before] of Object.entries({ created: [], updated: [single("version: 1")] })) {
      it(`recover by cancel and state delete after an error hook without a bound, when it is ${what}`, async () => {
        const { platform, project, stack } = await open("");
        for (const program of before) {
          project.rewrite(program);
          await succeeds(stack.up());
        }
        const sent = platform.resetCount;
        project.rewrite(
          `const always = new (require("@pulumi/pulumi").ErrorHook)("always", () => true);\n` +
            single("version: 2", "{ hooks: { onError: [always] } }"),
        );
        platform.failNext({ path: /reset-password/, dropConnection: "after-apply" });
        await fails(stack.up(), /maximum number of error hook retries/);
        await fails(stack.up());
        const { code, printed } = await runEngine(
          engine,
          ["up", "--yes", "--refresh", "--stack", "dev"],
          project.directory,
        );
        assert.notEqual(code, 0, printed);
        assert.doesNotMatch(printed, /was imported/);
        assert.equal(platform.resetCount, sent + 1, "it is not repeated");
        const { urn = "" } = resourceNamed(await stack.exportState(), "sessions") ?? {};
        await run(engine, ["cancel", "--yes"], project.directory);
        await run(engine, ["state", "delete", urn, "--yes"], project.directory);
        project.rewrite(single("version: 2"));
        const { outputs } = await succeeds(stack.up());
        assert.equal(platform.resetCount, sent + 2);
        assert.equal(outputs["password"]?.value, platform.database("sessions").password);
      });
    }
  },
  [pulumiCli, pluginOnCli],
);

async function run(engine: Engine, command: readonly string[], directory: string): Promise<void> {
  const { code, printed } = await runEngine(engine, [...command, "--stack", "dev"], directory);
  assert.equal(code, 0, `${command.join(" ")}\n${printed}`);
}
