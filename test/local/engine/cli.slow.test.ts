import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { localEngine } from "../../support/engine";
import { EngineProcess, runEngine } from "../../support/engineProcess";
import { until } from "../../support/results";
import { type Json, TestProject } from "./project";

describe("rekey-local", function () {
  // Each test starts several processes.
  this.timeout(300_000);

  const wanted = [{ name: "a", props: { v: 1 }, secrets: { token: "s3cret" } }];
  let project: TestProject;
  before(() => {
    project = new TestProject({ wanted });
  });
  after(() => project.remove());

  const rekey = (command: string, env: Record<string, string> = {}) =>
    runEngine(localEngine, command.split(" "), project.directory, { ...project.environment, ...env });
  const succeeds = async (command: string, env?: Record<string, string>): Promise<string> => {
    const { code, stdout, printed } = await rekey(command, env);
    assert.equal(code, 0, printed);
    return stdout;
  };
  const fails = async (command: string, error: RegExp, env?: Record<string, string>): Promise<string> => {
    const { code, printed, stdout } = await rekey(command, env);
    assert.equal(code, 1, printed);
    assert.match(printed, error);
    return stdout;
  };

  it("asks before it changes anything, and stops if it cannot ask", async () => {
    await fails("up", /--yes or --skip-preview .* non-interactive mode/);
    assert.deepEqual(project.newCalls(), []);
  });

  it("previews, then updates; in plain text without a terminal", async () => {
    const stdout = await succeeds("up --yes");
    const [preview = "", update = ""] = stdout.split("Updating (dev):");
    assert.match(
      preview,
      /^Previewing update \(dev\):\n \+ {2}pulumi:pulumi:Stack trace-dev create\n.*\+ 2 to create/s,
    );
    assert.match(update, /\+ {2}pulumi-nodejs:dynamic\/trace:Thing a created \(0\.\d\ds\)\n/);
    assert.match(update, /Resources:\n {4}\+ 2 created\n\nDuration: \d+s/);
    assert.doesNotMatch(stdout, /\x1b|s3cret/);
  });

  it("prints JSON for machines", async () => {
    const { result, changes, outputs, steps } = JSON.parse(await succeeds("preview --json --diff")) as Json;
    const expected = { result: "succeeded", changes: { same: 2 }, outputs: { a: "a-v1-k0" }, steps: 2 };
    assert.deepEqual({ result, changes, outputs, steps: (steps as unknown[]).length }, expected);
  });

  it("ends with 1 if it fails, and prints why", async () => {
    project.want([{ name: "a", props: { v: 2, fail: "update" } }]);
    const stdout = await fails("up --skip-preview", /~ {2}pulumi-nodejs:dynamic\/trace:Thing a \*\*updating failed/);
    assert.match(stdout, /Diagnostics:\n.*Thing \(a\):\n {4}error: update failed by request/s);
    assert.match(stdout, /1 unchanged\n {4}2 errored/);
    const asJson = await fails("up --skip-preview --json", /"failed"/);
    assert.equal((JSON.parse(asJson) as { result: string }).result, "failed");
    project.want(wanted);
  });

  it("prints outputs, and saves and prints settings", async () => {
    const outputs = /^Current stack outputs \(1\):\n {4}OUTPUT {2}VALUE\n {4}a {7}a-v1-k0\n$/;
    assert.match(await succeeds("output"), outputs);
    assert.equal(await succeeds("output a"), "a-v1-k0\n");
    await fails("output nothing", /^error: .*output property 'nothing'\n$/);
    await succeeds("config set token canary --secret");
    await succeeds("config set ns:plain text");
    assert.equal(await succeeds("config"), "KEY          VALUE\nns:plain     text\ntrace:token  [secret]\n");
    assert.equal(await succeeds("config get token"), "canary\n");
    await succeeds("config rm ns:plain");
    await fails("config rm ns:plain", /ns:plain/);
    assert.doesNotMatch(readFileSync(project.path("Pulumi.dev.yaml"), "utf8"), /canary/);
  });

  it("exports and imports its state, refreshes, and destroys", async () => {
    const exported = await succeeds("export");
    assert.equal((JSON.parse(exported) as { version: number }).version, 3);
    assert.doesNotMatch(exported, /s3cret/);
    assert.match(await succeeds("export --show-secrets"), /s3cret/);
    const file = project.write("state.json", "an older state, which everyone may read", 0o644);
    await succeeds("export --show-secrets --file state.json");
    assert.match(readFileSync(file, "utf8"), /s3cret/);
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
    project.write("state.json", exported);
    assert.match(await succeeds("destroy --yes"), /- 2 deleted/);
    assert.match(await succeeds("import --file state.json"), /^Import complete/);
    const refreshed = await succeeds("refresh --skip-preview", { READ: '{"a":null}' });
    assert.match(refreshed, /Thing a refreshed \(.*\), is gone\n.*- 1 deleted/s);
  });

  it("works on the stack of --stack, else of PULUMI_STACK, and keeps each state in --state-dir", async () => {
    for (const flag of ["", " --stack one"]) {
      await succeeds(`up --skip-preview --state-dir elsewhere${flag}`, { PULUMI_STACK: "two" });
    }
    assert.deepEqual(readdirSync(project.path("elsewhere/stacks/trace")).sort(), ["one.json", "two.json"]);
    project.newCalls();
  });

  it("previews a program that is refused before it touches anything", async () => {
    const program = readFileSync(project.path("index.js"), "utf8");
    project.want([{ name: "before" }]);
    project.rewrite(`${program}\nnew (require("@pulumi/pulumi").CustomResource)("aws:s3/bucket:Bucket", "b", {});\n`);
    const stdout = await fails("up --yes", /a resource of the package "aws" .*is not supported by the local engine/);
    project.rewrite(program);
    assert.doesNotMatch(stdout, /Updating/);
    assert.deepEqual(project.newChanges(), []);
  });

  it("prints an error in one line", async () => {
    await fails("preview --cwd /", /^error: no Pulumi.yaml .*--cwd\n$/);
    await fails("preview", /^error: incorrect passphrase.*\n$/, { PULUMI_CONFIG_PASSPHRASE: "wrong" });
    await fails("up --parallel 0", /--parallel/);
    for (const command of ["up --yes --target urn", "preview --target urn", "watch"]) {
      await fails(command, /^error: (--target|watch) is not supported by the local engine/);
    }
  });

  it("warns that a password may have been changed if the provider's process dies", async () => {
    const deadly = new TestProject({
      provider: 'exports.provider = { create: () => process.kill(process.pid, "SIGKILL") };',
      wanted: [{ name: "a" }],
    });
    await fails(
      `up --skip-preview --cwd ${deadly.directory}`,
      /process ended.*unknown.*password may have been changed/s,
    );
    deadly.remove();
  });

  it("finishes what runs at the first ^C, and ends at once at the second", async function () {
    if (process.platform === "win32") {
      console.log("      skipped: a signal ends a process at once there");
      this.skip();
    }
    const endless = new TestProject({
      provider: `exports.provider = { create: () => new Promise(() => setInterval(() => undefined, 1_000)) };`,
      wanted: [{ name: "a" }],
    });
    const engine = new EngineProcess(localEngine, ["up", "--skip-preview"], endless.directory, endless.environment);
    const { statePath } = endless;
    await until(() => existsSync(statePath) && /creating/.test(readFileSync(statePath, "utf8")), 60_000);
    engine.interrupt();
    await until(() => engine.printed.includes("the password may have been changed"), 60_000);
    await sleep(300);
    assert.equal(engine.runs, true, "it waits for what runs");
    engine.interrupt();
    assert.equal((await engine.ended).code, 1);
    const { deployment } = await (await endless.open()).exportStack();
    assert.equal(deployment.pending_operations?.length, 1);
    endless.remove();
  });
});
