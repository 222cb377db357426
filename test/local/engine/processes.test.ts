import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperationError, type OperationResult } from "../../../local/engine";
import { TestProject } from "./project";

/** Creates wait, where they are told to, until a file says that they may go on. */
const patientProvider = `
const fs = require("fs"), path = require("path");
const at = (name) => path.join(__dirname, name);
exports.provider = {
  async create(inputs) {
    fs.writeFileSync(at(inputs.name + ".started"), String(process.pid));
    if (inputs.die) process.kill(process.pid, "SIGKILL");
    while (inputs.wait && !fs.existsSync(at("go"))) await new Promise((resolve) => setTimeout(resolve, 20));
    fs.writeFileSync(at(inputs.name + ".made"), "");
    return { id: inputs.name, outs: inputs };
  },
};`;

let project: TestProject;

async function failing(promise: Promise<OperationResult>): Promise<OperationError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof OperationError, String(error));
  return error;
}

async function until(condition: () => boolean): Promise<void> {
  for (const began = Date.now(); !condition(); await sleep(20)) {
    assert.ok(Date.now() - began < 120_000, `waited too long for ${condition.toString()}`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function errors({ diagnostics }: OperationResult): string[] {
  return diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

describe("the local engine's processes", function () {
  this.timeout(300_000);
  afterEach(() => project.remove());

  it("a killed engine takes its host along, and leaves a state that says what was being done", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([{ name: "a" }, { name: "b", props: { wait: true }, dependsOn: ["a"] }]);
    const engine: ChildProcess = spawn(
      process.execPath,
      ["-r", "ts-node/register/transpile-only", join(__dirname, "runUp.ts"), project.directory],
      { stdio: "ignore" },
    );
    await until(() => existsSync(project.path("b.started")));
    engine.kill("SIGKILL");
    await once(engine, "close");
    const host = Number(readFileSync(project.path("b.started"), "utf8"));
    await until(() => !isAlive(host));

    const stack = await project.open();
    const { deployment } = await stack.exportStack();
    assert.deepEqual(
      deployment.pending_operations?.map(({ type, resource }) => [type, String(resource.urn).split("::").at(-1)]),
      [["creating", "b"]],
    );
    assert.ok(deployment.resources?.some(({ id }) => id === "a"));
    assert.ok(!existsSync(project.path("b.made")));

    project.write("go", "");
    const { changes, diagnostics } = await stack.up();
    assert.deepEqual(changes, { same: 2, create: 1 });
    const warning = diagnostics.find(({ severity }) => severity === "warning");
    assert.match(warning?.message ?? "", /1 pending operations.*::b, interrupted while creating/s);
    assert.equal((await stack.exportStack()).deployment.pending_operations?.length, 1);
    await stack.refresh({ clearPendingCreates: true });
    assert.equal((await stack.exportStack()).deployment.pending_operations, undefined);
  });

  it("a cancelled operation finishes what runs, and begins nothing else", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([
      { name: "a", props: { wait: true } },
      { name: "b", dependsOn: ["a"] },
    ]);
    const cancel = new AbortController();
    const stack = await project.open();
    const up = failing(stack.up({ signal: cancel.signal }));
    await until(() => existsSync(project.path("a.started")));
    cancel.abort();
    project.write("go", "");
    const failed = await up;
    assert.deepEqual(errors(failed), ["update canceled"]);
    const { deployment } = await stack.exportStack();
    assert.ok(deployment.resources?.some(({ id }) => id === "a"));
    assert.ok(!existsSync(project.path("b.started")));
    assert.equal(deployment.pending_operations, undefined);
  });

  it("a second operation on the stack is kept out", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([{ name: "a", props: { wait: true } }]);
    const stack = await project.open();
    const up = stack.up();
    await until(() => existsSync(project.path("a.started")));
    for (const operation of ["destroy", "preview"] as const)
      await assert.rejects((await project.open())[operation](), /the stack is locked by process/);
    project.write("go", "");
    assert.equal((await up).result, "succeeded");
    const state = readFileSync(project.statePath, "utf8");
    assert.doesNotMatch(state, /sourcePosition|stackTrace/, "they would hold paths of the machine");
  });

  it("a host that dies leaves its resource pending", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([{ name: "a", props: { die: true } }]);
    const stack = await project.open();
    const failed = await failing(stack.up());
    assert.match(errors(failed)[0] ?? "", /process ended.*unknown/);
    const { deployment } = await stack.exportStack();
    assert.deepEqual(
      deployment.pending_operations?.map(({ type }) => type),
      ["creating"],
    );
  });

  for (const [title, code, expected] of [
    ["exits by itself", "process.exit(3)", "an unhandled error occurred: Program exited with non-zero exit code: 3"],
    ["is killed", 'process.kill(process.pid, "SIGKILL")', "an unhandled error occurred: Program was ended by SIGKILL"],
  ] as const) {
    it(`a program that ${title} is an error`, async () => {
      project = new TestProject({ program: code });
      assert.deepEqual(errors(await failing((await project.open()).up())), [expected]);
    });
  }

  it("runs a program in plain JavaScript modules, and one in TypeScript", async () => {
    project = new TestProject();
    project.write("package.json", '{ "name": "trace", "type": "module", "main": "index.js" }');
    project.write("index.js", 'import * as pulumi from "@pulumi/pulumi";\nexport const stack = pulumi.getStack();\n');
    assert.deepEqual((await (await project.open()).up()).outputs, { stack: { value: "dev", secret: false } });
    project.write("package.json", '{ "name": "trace" }');
    project.write("Pulumi.yaml", "name: trace\nmain: program/index.ts\nruntime: nodejs");
    const source =
      'import * as pulumi from "@pulumi/pulumi";\nexport const where: string = process.cwd();\nexport const list: pulumi.Output<number[]> = pulumi.secret([1]);\n';
    mkdirSync(project.path("program"));
    project.write("program/index.ts", source);
    assert.deepEqual((await (await project.open()).up()).outputs, {
      where: { value: realpathSync(project.path("program")), secret: false },
      list: { value: [1], secret: true },
    });
  });
});

describe("what the local engine refuses", function () {
  this.timeout(300_000);
  afterEach(() => project.remove());

  const thing = 'exports.handler=()=>require("./provider.js").provider';
  const dynamic = (name: string, options: string): string =>
    `new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "${name}", { name: "${name}", __provider: ${JSON.stringify(thing)} }, ${options});`;
  const cases: [string, string, RegExp][] = [
    [
      "a resource of a package",
      'new pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {})',
      /a resource of the package "aws" .*"b"/,
    ],
    ["a stack reference", 'new pulumi.StackReference("org/other/dev")', /a stack reference/],
    ["an explicit provider", 'new pulumi.ProviderResource("aws", "p", {})', /an explicit provider/],
    ["`import`", dynamic("a", '{ import: "id" }'), /the option `import`/],
    ["`transforms`", dynamic("a", "{ transforms: [() => undefined] }"), /the option `transforms`/],
    ["hooks", 'new pulumi.ResourceHook("h", () => undefined);' + dynamic("a", "{}"), /a resource hook/],
    [
      "`deletedWith`",
      `const first = ${dynamic("first", "{}")} ${dynamic("b", "{ deletedWith: first }")}`,
      /the option `deletedWith`/,
    ],
    [
      "`replaceWith`",
      `const first = ${dynamic("first", "{}")} ${dynamic("b", "{ replaceWith: [first] }")}`,
      /the option `replaceWith`/,
    ],
    ["`replacementTrigger`", dynamic("a", "{ replacementTrigger: 1 }"), /the option `replacementTrigger`/],
    ["`customTimeouts`", dynamic("a", '{ customTimeouts: { create: "1m" } }'), /the option `customTimeouts`/],
    [
      "a remote component",
      'new pulumi.ComponentResource("aws:index:Component", "c", {}, {}, true)',
      /a remote component .*"c"/,
    ],
    [
      "an asset",
      `new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "a", { text: new pulumi.asset.StringAsset("x"), __provider: ${JSON.stringify(thing)} })`,
      /an asset/,
    ],
    ["`get`", 'new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "g", {}, { id: "x" })', /reading a resource/],
    ["an invoke", 'pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})', /an invoke/],
  ];
  for (const [title, code, expected] of cases) {
    it(`is ${title}, by name`, async () => {
      project = new TestProject({ program: `const pulumi = require("@pulumi/pulumi");\n${code}\n` });
      const failed = await failing((await project.open()).up());
      assert.match(errors(failed).join("\n"), expected);
      assert.match(errors(failed).join("\n"), /not supported by the local engine; the `pulumi` CLI does it/);
      const made = project.newCalls().filter(({ method }) => method === "create");
      assert.ok(made.every(({ news }) => news?.name === "first"));
    });
  }

  it("is an option of an operation that it does not have, before anything runs", async () => {
    project = new TestProject();
    project.want([{ name: "a" }]);
    const options: object = { target: ["urn"] };
    const stack = await project.open();
    await assert.rejects(
      stack.up(options),
      /the option `target` of `up` is not supported by the local engine; the `pulumi` CLI does it/,
    );
    assert.deepEqual(project.newCalls(), []);
  });

  it("is a wrong or missing passphrase, before anything runs", async () => {
    project = new TestProject();
    project.want([{ name: "a" }]);
    await (await project.open()).up();
    const before = readFileSync(project.statePath, "utf8");
    project.newCalls();
    await assert.rejects((await project.open({ passphrase: "wrong" })).up(), /incorrect passphrase/);
    const own = process.env.PULUMI_CONFIG_PASSPHRASE;
    delete process.env.PULUMI_CONFIG_PASSPHRASE;
    try {
      await assert.rejects((await project.open({ passphrase: undefined })).up(), /passphrase must be set/);
    } finally {
      if (own !== undefined) process.env.PULUMI_CONFIG_PASSPHRASE = own;
    }
    assert.deepEqual(project.newCalls(), []);
    assert.equal(readFileSync(project.statePath, "utf8"), before);
  });

  it("is a state folder that cannot be written, before anything runs", async () => {
    project = new TestProject();
    project.want([{ name: "a" }]);
    await assert.rejects((await project.open({ stateDir: project.path("index.js") })).up(), /cannot be written/);
    assert.deepEqual(project.newCalls(), []);
  });
});

describe("secrets in the local engine", function () {
  this.timeout(300_000);
  afterEach(() => project.remove());

  it("are in no file, no line and no event in plain text", async () => {
    project = new TestProject({
      program: `
const pulumi = require("@pulumi/pulumi");
const token = new pulumi.Config().requireSecret("token");
console.log("a careless program says canary-config");
new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "a", {
  name: "a", token, list: [pulumi.secret("canary-list")], made: undefined,
  __provider: 'exports.handler=()=>require("./provider.js").provider',
}, { additionalSecretOutputs: ["made"] });
exports.token = token;
exports.nested = { deep: pulumi.secret("canary-output") };`,
      provider: `
let config;
exports.provider = {
  async configure(request) { config = request.config; },
  async create(inputs) { return { id: "a", outs: { ...inputs, made: "canary-made", seen: config.get("trace:token") === "canary-config" } }; },
};`,
    });
    const stack = await project.open();
    await stack.setConfig("token", "canary-config", { secret: true });
    const events: unknown[] = [];
    const { stdout, outputs } = await stack.up({ onEvent: (event) => events.push(event) });
    assert.deepEqual(outputs.token, { value: "canary-config", secret: true });
    assert.deepEqual(outputs.nested, { value: { deep: "canary-output" }, secret: true });
    const told = [
      readFileSync(project.statePath, "utf8"),
      readFileSync(project.path("Pulumi.dev.yaml"), "utf8"),
      stdout,
    ];
    for (const text of [...told, JSON.stringify(events), JSON.stringify(await stack.exportStack())]) {
      assert.ok(!text.includes("canary"), text);
    }
    const shown = JSON.stringify(await stack.exportStack({ showSecrets: true }));
    for (const canary of ["config", "list", "made", "output"]) assert.ok(shown.includes(`canary-${canary}`), canary);
    assert.ok(shown.includes('"seen":true'));
    assert.deepEqual((await stack.getAllConfig())["trace:token"], { value: "canary-config", secret: true });

    // The same state goes out and in again, and nothing is to be done.
    await stack.importStack(await stack.exportStack());
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    await stack.importStack(await stack.exportStack({ showSecrets: true }));
    assert.ok(!readFileSync(project.statePath, "utf8").includes("canary"));
    assert.deepEqual((await stack.preview()).changes, { same: 2 });
  });
});
