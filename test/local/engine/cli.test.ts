import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { passphrase, TestProject } from "./project";

const root = resolve(__dirname, "../../..");
const main = resolve(root, "local/cli/main.ts");

describe("rekey-local", function () {
  // Several processes each; a busy machine takes its time.
  this.timeout(300_000);

  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.want([{ name: "a", props: { v: 1 }, secrets: { token: "s3cret" } }]);
  });
  after(() => project.remove());

  const register = require.resolve("ts-node/register/transpile-only");
  const commandLine = (args: string[]): string[] => ["-r", register, main, ...args];
  const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv => ({
    ...process.env,
    // The compiler's settings are ours, not those of the folder that the command runs in.
    TS_NODE_PROJECT: resolve(root, "tsconfig.json"),
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    TRACE_LOG: project.path("calls.log"),
    ...env,
  });

  function rekey(
    args: string[],
    env: Record<string, string> = {},
  ): { status: number | null; out: string; err: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, commandLine(args), {
      cwd: project.directory,
      encoding: "utf8",
      env: environment(env),
    });
    return { status, out: stdout, err: stderr };
  }

  it("asks before it changes anything, and does not where nobody can answer", () => {
    const { status, err } = rekey(["up"]);
    assert.equal(status, 1);
    assert.match(err, /--yes or --skip-preview must be passed in to proceed when running in non-interactive mode/);
    assert.deepEqual(project.newCalls(), []);
  });

  it("previews, then does it; in plain text where there is no terminal", () => {
    const { status, out } = rekey(["up", "--yes"]);
    assert.equal(status, 0, out);
    const [preview = "", update = ""] = out.split("Updating (dev):");
    assert.match(
      preview,
      /^Previewing update \(dev\):\n \+ {2}pulumi:pulumi:Stack trace-dev create\n.*\+ 2 to create/s,
    );
    assert.match(
      update,
      /\+ {2}pulumi-nodejs:dynamic\/trace:Thing a created \(0\.\d\ds\)\n.*Resources:\n {4}\+ 2 created\n\nDuration: \d+s/s,
    );
    assert.doesNotMatch(out, /\x1b|s3cret/);
  });

  it("prints JSON for machines", () => {
    const { status, out } = rekey(["preview", "--json", "--diff"]);
    assert.equal(status, 0);
    const { result, changes, steps, outputs } = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual(
      { result, changes, outputs },
      { result: "succeeded", changes: { same: 2 }, outputs: { a: "a-v1-k0" } },
    );
    assert.equal((steps as unknown[]).length, 2);
  });

  it("ends with 1 when it fails, and says why", () => {
    project.want([{ name: "a", props: { v: 2, fail: "update" } }]);
    const { status, out } = rekey(["up", "--skip-preview"]);
    assert.equal(status, 1);
    assert.match(out, /~ {2}pulumi-nodejs:dynamic\/trace:Thing a \*\*updating failed/);
    assert.match(out, /Diagnostics:\n.*Thing \(a\):\n {4}error: update failed by request/s);
    assert.match(out, /1 unchanged\n {4}2 errored/);
    const asJson = rekey(["up", "--skip-preview", "--json"]);
    assert.equal(asJson.status, 1);
    assert.equal((JSON.parse(asJson.out) as { result: string }).result, "failed");
    project.want([{ name: "a", props: { v: 1 }, secrets: { token: "s3cret" } }]);
  });

  it("shows outputs, and keeps and shows settings", () => {
    assert.match(rekey(["output"]).out, /^Current stack outputs \(1\):\n {4}OUTPUT {2}VALUE\n {4}a {7}a-v1-k0\n$/);
    assert.equal(rekey(["output", "a"]).out, "a-v1-k0\n");
    const missing = rekey(["output", "nothing"]);
    assert.deepEqual(
      [missing.status, missing.err],
      [1, "error: current stack does not have output property 'nothing'\n"],
    );
    assert.equal(rekey(["config", "set", "token", "canary", "--secret"]).status, 0);
    assert.equal(rekey(["config", "set", "ns:plain", "text"]).status, 0);
    assert.equal(rekey(["config"]).out, "KEY          VALUE\nns:plain     text\ntrace:token  [secret]\n");
    assert.equal(rekey(["config", "get", "token"]).out, "canary\n");
    assert.equal(rekey(["config", "rm", "ns:plain"]).status, 0);
    assert.equal(rekey(["config", "rm", "ns:plain"]).status, 1);
    assert.doesNotMatch(readFileSync(project.path("Pulumi.dev.yaml"), "utf8"), /canary/);
  });

  it("gives its state away and takes it back; refreshes, and destroys", () => {
    const exported = rekey(["export"]).out;
    assert.equal((JSON.parse(exported) as { version: number }).version, 3);
    assert.doesNotMatch(exported, /s3cret/);
    assert.match(rekey(["export", "--show-secrets"]).out, /s3cret/);
    writeFileSync(project.path("state.json"), "an older state, which everybody may read", { mode: 0o644 });
    assert.equal(rekey(["export", "--show-secrets", "--file", "state.json"]).status, 0);
    assert.match(readFileSync(project.path("state.json"), "utf8"), /s3cret/);
    if (process.platform !== "win32") assert.equal(statSync(project.path("state.json")).mode & 0o777, 0o600);
    writeFileSync(project.path("state.json"), exported);
    assert.match(rekey(["destroy", "--yes"]).out, /- 2 deleted/);
    assert.equal(rekey(["import", "--file", "state.json"]).out, "Import complete.\n");
    assert.match(
      rekey(["refresh", "--skip-preview"], { READ: '{"a":null}' }).out,
      /Thing a refreshed \(.*\), is gone\n.*- 1 deleted/s,
    );
  });

  it("works on the stack of --stack, else of PULUMI_STACK, and keeps each state in --state-dir", () => {
    const elsewhere = project.path("elsewhere");
    for (const [args, env] of [
      [["--stack", "one"], { PULUMI_STACK: "two" }],
      [[], { PULUMI_STACK: "two" }],
    ] as const) {
      const { status, out } = rekey(["up", "--skip-preview", "--state-dir", elsewhere, ...args], env);
      assert.equal(status, 0, out);
    }
    assert.deepEqual(readdirSync(join(elsewhere, "stacks/trace")).sort(), ["one.json", "two.json"]);
    project.newCalls();
  });

  it("shows a preview that refuses a program before anything is touched", () => {
    const program = readFileSync(project.path("index.js"), "utf8");
    project.want([{ name: "before" }]);
    project.write(
      "index.js",
      `${program}\nnew (require("@pulumi/pulumi").CustomResource)("aws:s3/bucket:Bucket", "b", {});\n`,
    );
    const { status, out } = rekey(["up", "--yes"]);
    project.write("index.js", program);
    assert.equal(status, 1);
    assert.match(out, /a resource of the package "aws" .*is not supported by the local engine/);
    assert.doesNotMatch(out, /Updating/);
    assert.deepEqual(
      project.newCalls().filter(({ method }) => method === "create"),
      [],
    );
  });

  it("says what is wrong in one line", () => {
    const { status, err } = rekey(["preview", "--cwd", "/"]);
    assert.deepEqual(
      [status, err],
      [1, "error: no Pulumi.yaml project file found in / or above it: name a project's folder with --cwd\n"],
    );
    assert.match(rekey(["preview"], { PULUMI_CONFIG_PASSPHRASE: "wrong" }).err, /^error: incorrect passphrase.*\n$/);
    assert.equal(rekey(["up", "--parallel", "0"]).status, 1);
    for (const args of [["up", "--yes", "--target", "urn"], ["preview", "--target", "urn"], ["watch"]]) {
      const refused = rekey(args);
      assert.equal(refused.status, 1);
      const name = args.length === 1 ? "watch" : "--target";
      assert.match(
        refused.err,
        new RegExp(`^error: ${name} is not supported by the local engine; the .pulumi. CLI does it`),
      );
    }
  });

  it("says that a password may have been changed when the provider's process dies", () => {
    const deadly = new TestProject({
      provider: 'exports.provider = { create: () => process.kill(process.pid, "SIGKILL") };',
    });
    deadly.want([{ name: "a" }]);
    const { status, out } = rekey(["up", "--skip-preview", "--cwd", deadly.directory]);
    deadly.remove();
    assert.equal(status, 1);
    assert.match(out, /process ended.*unknown.*password may have been changed.*the next `up` resets it again/s);
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
    const child = spawn(process.execPath, commandLine(["up", "--skip-preview"]), {
      cwd: endless.directory,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed = async (stream: Readable, what: string): Promise<void> => {
      for (let text = ""; !text.includes(what);) text += String((await once(stream, "data"))[0]);
    };
    const ended = once(child, "close");
    await pendingIn(endless.statePath);
    child.kill("SIGINT");
    await printed(child.stderr, "the password may have been changed");
    child.stdout.resume();
    await sleep(300);
    assert.equal(child.exitCode, null, "what runs is waited for");
    child.kill("SIGINT");
    assert.deepEqual(await ended, [1, null]);
    const { deployment } = await (await endless.open()).exportStack();
    assert.equal(deployment.pending_operations?.length, 1);
    endless.remove();
  });
});

/** Waits until a state says that an operation on a resource has begun. */
async function pendingIn(statePath: string): Promise<void> {
  while (!existsSync(statePath) || !readFileSync(statePath, "utf8").includes("creating")) await sleep(20);
}
