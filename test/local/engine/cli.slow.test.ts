import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { localEngine } from "../../support/engine";
import { EngineProcess, runEngine } from "../../support/engineProcess";
import { until } from "../../support/results";
import { TestProject } from "./project";

describe("rekey-local", function () {
  // Several processes each; a busy machine takes its time.
  this.timeout(300_000);

  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.want([{ name: "a", props: { v: 1 }, secrets: { token: "s3cret" } }]);
  });
  after(() => project.remove());

  const rekey = (args: string[], env: Record<string, string> = {}) =>
    runEngine(localEngine, args, project.directory, { ...project.environment, ...env });

  it("asks before it changes anything, and does not where nobody can answer", async () => {
    const { code, stderr } = await rekey(["up"]);
    assert.equal(code, 1);
    assert.match(stderr, /--yes or --skip-preview must be passed in to proceed when running in non-interactive mode/);
    assert.deepEqual(project.newCalls(), []);
  });

  it("previews, then does it; in plain text where there is no terminal", async () => {
    const { code, stdout } = await rekey(["up", "--yes"]);
    assert.equal(code, 0, stdout);
    const [preview = "", update = ""] = stdout.split("Updating (dev):");
    assert.match(
      preview,
      /^Previewing update \(dev\):\n \+ {2}pulumi:pulumi:Stack trace-dev create\n.*\+ 2 to create/s,
    );
    assert.match(
      update,
      /\+ {2}pulumi-nodejs:dynamic\/trace:Thing a created \(0\.\d\ds\)\n.*Resources:\n {4}\+ 2 created\n\nDuration: \d+s/s,
    );
    assert.doesNotMatch(stdout, /\x1b|s3cret/);
  });

  it("prints JSON for machines", async () => {
    const { code, stdout } = await rekey(["preview", "--json", "--diff"]);
    assert.equal(code, 0);
    const { result, changes, steps, outputs } = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(
      { result, changes, outputs },
      { result: "succeeded", changes: { same: 2 }, outputs: { a: "a-v1-k0" } },
    );
    assert.equal((steps as unknown[]).length, 2);
  });

  it("ends with 1 when it fails, and says why", async () => {
    project.want([{ name: "a", props: { v: 2, fail: "update" } }]);
    const { code, stdout } = await rekey(["up", "--skip-preview"]);
    assert.equal(code, 1);
    assert.match(stdout, /~ {2}pulumi-nodejs:dynamic\/trace:Thing a \*\*updating failed/);
    assert.match(stdout, /Diagnostics:\n.*Thing \(a\):\n {4}error: update failed by request/s);
    assert.match(stdout, /1 unchanged\n {4}2 errored/);
    const asJson = await rekey(["up", "--skip-preview", "--json"]);
    assert.equal(asJson.code, 1);
    assert.equal((JSON.parse(asJson.stdout) as { result: string }).result, "failed");
    project.want([{ name: "a", props: { v: 1 }, secrets: { token: "s3cret" } }]);
  });

  it("shows outputs, and keeps and shows settings", async () => {
    assert.match(
      (await rekey(["output"])).stdout,
      /^Current stack outputs \(1\):\n {4}OUTPUT {2}VALUE\n {4}a {7}a-v1-k0\n$/,
    );
    assert.equal((await rekey(["output", "a"])).stdout, "a-v1-k0\n");
    const missing = await rekey(["output", "nothing"]);
    assert.deepEqual(
      [missing.code, missing.stderr],
      [1, "error: current stack does not have output property 'nothing'\n"],
    );
    assert.equal((await rekey(["config", "set", "token", "canary", "--secret"])).code, 0);
    assert.equal((await rekey(["config", "set", "ns:plain", "text"])).code, 0);
    assert.equal((await rekey(["config"])).stdout, "KEY          VALUE\nns:plain     text\ntrace:token  [secret]\n");
    assert.equal((await rekey(["config", "get", "token"])).stdout, "canary\n");
    assert.equal((await rekey(["config", "rm", "ns:plain"])).code, 0);
    assert.equal((await rekey(["config", "rm", "ns:plain"])).code, 1);
    assert.doesNotMatch(readFileSync(project.path("Pulumi.dev.yaml"), "utf8"), /canary/);
  });

  it("gives its state away and takes it back; refreshes, and destroys", async () => {
    const exported = (await rekey(["export"])).stdout;
    assert.equal((JSON.parse(exported) as { version: number }).version, 3);
    assert.doesNotMatch(exported, /s3cret/);
    assert.match((await rekey(["export", "--show-secrets"])).stdout, /s3cret/);
    writeFileSync(project.path("state.json"), "an older state, which everybody may read", { mode: 0o644 });
    assert.equal((await rekey(["export", "--show-secrets", "--file", "state.json"])).code, 0);
    assert.match(readFileSync(project.path("state.json"), "utf8"), /s3cret/);
    if (process.platform !== "win32") assert.equal(statSync(project.path("state.json")).mode & 0o777, 0o600);
    writeFileSync(project.path("state.json"), exported);
    assert.match((await rekey(["destroy", "--yes"])).stdout, /- 2 deleted/);
    assert.equal((await rekey(["import", "--file", "state.json"])).stdout, "Import complete.\n");
    assert.match(
      (await rekey(["refresh", "--skip-preview"], { READ: '{"a":null}' })).stdout,
      /Thing a refreshed \(.*\), is gone\n.*- 1 deleted/s,
    );
  });

  it("works on the stack of --stack, else of PULUMI_STACK, and keeps each state in --state-dir", async () => {
    const elsewhere = project.path("elsewhere");
    for (const [args, env] of [
      [["--stack", "one"], { PULUMI_STACK: "two" }],
      [[], { PULUMI_STACK: "two" }],
    ] as const) {
      const { code, stdout } = await rekey(["up", "--skip-preview", "--state-dir", elsewhere, ...args], env);
      assert.equal(code, 0, stdout);
    }
    assert.deepEqual(readdirSync(join(elsewhere, "stacks/trace")).sort(), ["one.json", "two.json"]);
    project.newCalls();
  });

  it("shows a preview that refuses a program before anything is touched", async () => {
    const program = readFileSync(project.path("index.js"), "utf8");
    project.want([{ name: "before" }]);
    project.write(
      "index.js",
      `${program}\nnew (require("@pulumi/pulumi").CustomResource)("aws:s3/bucket:Bucket", "b", {});\n`,
    );
    const { code, stdout } = await rekey(["up", "--yes"]);
    project.write("index.js", program);
    assert.equal(code, 1);
    assert.match(stdout, /a resource of the package "aws" .*is not supported by the local engine/);
    assert.doesNotMatch(stdout, /Updating/);
    assert.deepEqual(
      project.newCalls().filter(({ method }) => method === "create"),
      [],
    );
  });

  it("says what is wrong in one line", async () => {
    const { code, stderr } = await rekey(["preview", "--cwd", "/"]);
    assert.deepEqual(
      [code, stderr],
      [1, "error: no Pulumi.yaml project file found in / or a parent folder. Set the folder of a project with --cwd\n"],
    );
    assert.match(
      (await rekey(["preview"], { PULUMI_CONFIG_PASSPHRASE: "wrong" })).stderr,
      /^error: incorrect passphrase.*\n$/,
    );
    assert.equal((await rekey(["up", "--parallel", "0"])).code, 1);
    for (const args of [["up", "--yes", "--target", "urn"], ["preview", "--target", "urn"], ["watch"]]) {
      const refused = await rekey(args);
      assert.equal(refused.code, 1);
      const name = args.length === 1 ? "watch" : "--target";
      assert.match(refused.stderr, new RegExp(`^error: ${name} is not supported by the local engine`));
    }
  });

  it("says that a password may have been changed when the provider's process dies", async () => {
    const deadly = new TestProject({
      provider: 'exports.provider = { create: () => process.kill(process.pid, "SIGKILL") };',
    });
    deadly.want([{ name: "a" }]);
    const { code, printed } = await rekey(["up", "--skip-preview", "--cwd", deadly.directory]);
    deadly.remove();
    assert.equal(code, 1);
    assert.match(printed, /process ended.*unknown.*password may have been changed.*the next `up` resets it again/s);
  });

  it("lets what runs finish at the first ^C, and ends at once at the second", async function () {
    if (process.platform === "win32") {
      console.log("      skipped: a signal ends a process at once there");
      this.skip();
    }
    const endless = new TestProject({
      provider: `exports.provider = { create: () => new Promise(() => setInterval(() => undefined, 1_000)) };`,
    });
    endless.want([{ name: "a" }]);
    const engine = new EngineProcess(localEngine, ["up", "--skip-preview"], endless.directory, endless.environment);
    await until(
      () => existsSync(endless.statePath) && /creating/.test(readFileSync(endless.statePath, "utf8")),
      60_000,
    );
    engine.interrupt();
    await until(() => engine.printed.includes("the password may have been changed"), 60_000);
    await sleep(300);
    assert.equal(engine.runs, true, "what runs is waited for");
    engine.interrupt();
    assert.equal((await engine.ended).code, 1);
    const { deployment } = await (await endless.open()).exportStack();
    assert.equal(deployment.pending_operations?.length, 1);
    endless.remove();
  });
});
