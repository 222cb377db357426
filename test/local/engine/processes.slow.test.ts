import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { localEngine } from "../../support/engine";
import { EngineProcess } from "../../support/engineProcess";
import { until } from "../../support/results";
import { errors, failing, TestProject } from "./project";

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

/** Resolves when the provider was asked to create a resource. */
const started = (name: string) => until(() => existsSync(project.path(`${name}.started`)), 120_000);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("the local engine's processes", function () {
  this.timeout(300_000);
  afterEach(() => project.remove());

  it("a killed engine takes its host along, and leaves a state that says what was being done", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([{ name: "a" }, { name: "b", props: { wait: true }, dependsOn: ["a"] }]);
    const up = ["up", "--yes", "--skip-preview"];
    const engine = new EngineProcess(localEngine, up, project.directory, project.environment);
    await started("b");
    engine.kill("engine");
    const host = Number(readFileSync(project.path("b.started"), "utf8"));
    await engine.ended;
    assert.ok(!isAlive(host));

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
    await started("a");
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
    await started("a");
    for (const operation of ["destroy", "preview"] as const) {
      await assert.rejects((await project.open())[operation](), /the stack is locked by process/);
    }
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

  it("a host that dies is reported with the advice that the caller handed in", async () => {
    project = new TestProject({ provider: patientProvider });
    project.want([{ name: "a", props: { die: true } }]);
    const [neutral] = errors(await failing((await project.open()).up()));
    assert.match(neutral ?? "", /A resource may have been changed.*run `up` again/);
    assert.doesNotMatch(neutral ?? "", /password|reset/);
    const unsavedChangeAdvice = "Ask the database's owner.";
    const [advised] = errors(await failing((await project.open({ unsavedChangeAdvice })).up()));
    assert.match(advised ?? "", /process ended.*unknown.*\.\nAsk the database's owner\.$/);
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

  it("a program that does not end after a failure is ended, and only the failure is an error", async () => {
    project = new TestProject({ provider: 'exports.provider = { async create() { throw new Error("no room") } };' });
    appendFileSync(project.path("index.js"), "\nsetInterval(() => undefined, 1000);");
    project.want([{ name: "a" }]);
    const found = errors(await failing((await project.open()).up()));
    assert.deepEqual(found, ["no room", "update failed"]);
  });

  it("runs a program in plain JavaScript modules, and one in TypeScript", async () => {
    project = new TestProject();
    project.write("package.json", '{ "name": "trace", "type": "module", "main": "index.js" }');
    project.write("index.js", 'import * as pulumi from "@pulumi/pulumi";\nexport const stack = pulumi.getStack();\n');
    assert.deepEqual((await (await project.open()).up()).outputs, { stack: { value: "dev", secret: false } });
    project.write("package.json", '{ "name": "trace" }');
    project.write("Pulumi.yaml", "name: trace\nmain: program/index.ts\nruntime: nodejs");
    const source =
      'import * as pulumi from "@pulumi/pulumi";\nexport const where: string = process.cwd();\nexport const list: pulumi.Output<number[]> = pulumi.secret([1]);\n';
    project.write("program/index.ts", source);
    assert.deepEqual((await (await project.open()).up()).outputs, {
      where: { value: realpathSync(project.path("program")), secret: false },
      list: { value: [1], secret: true },
    });
  });
});
