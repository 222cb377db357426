import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { localEngine } from "../../support/engine";
import { EngineProcess } from "../../support/engineProcess";
import { until } from "../../support/results";
import { errors, failing, TestProject, type Wanted } from "./project";

/** Creates with `wait` wait for a file. */
const waitingProvider = `
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
/** A project whose creates may wait. */
const useWaiting = (...wanted: Wanted[]): void => {
  project = new TestProject({ provider: waitingProvider, wanted });
};
const exported = async () => (await (await project.open()).exportStack()).deployment;
const up = async () => errors(await failing((await project.open()).up()));

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

  it("a killed engine takes its host along, and leaves a state that records the pending operation", async () => {
    useWaiting({ name: "a" }, { name: "b", props: { wait: true }, dependsOn: ["a"] });
    const args = ["up", "--yes", "--skip-preview"];
    const engine = new EngineProcess(localEngine, args, project.directory, project.environment);
    await started("b");
    engine.kill("engine");
    const host = Number(readFileSync(project.path("b.started"), "utf8"));
    await engine.ended;
    assert.ok(!isAlive(host));

    const stack = await project.open();
    const { pending_operations: [pending, ...others] = [], resources } = await exported();
    assert.deepEqual({ type: pending?.type, others }, { type: "creating", others: [] });
    assert.match(String(pending?.resource.urn), /::b$/);
    assert.ok(resources?.some(({ id }) => id === "a"));
    assert.ok(!existsSync(project.path("b.made")));

    project.write("go", "");
    const { changes, diagnostics } = await stack.up();
    assert.deepEqual(changes, { same: 2, create: 1 });
    const warning = diagnostics.find(({ severity }) => severity === "warning");
    assert.match(warning?.message ?? "", /1 pending operations.*::b, interrupted while creating/s);
    assert.equal((await exported()).pending_operations?.length, 1);
    await stack.refresh({ clearPendingCreates: true });
    assert.equal((await exported()).pending_operations, undefined);
  });

  it("an engine that is killed while a host starts takes it along", async () => {
    useWaiting({ name: "a" });
    const [starting, go] = [project.path("starting"), project.path("go")].map((path) => JSON.stringify(path));
    project.write(
      "hold.cjs",
      `const fs = require("fs");
      if (/dynamic-provider/.test(process.argv[1])) fs.writeFileSync(${starting}, "");
      while (/dynamic-provider/.test(process.argv[1]) && !fs.existsSync(${go}));`,
    );
    const environment = { ...project.environment, NODE_OPTIONS: `--require=${project.path("hold.cjs")}` };
    const engine = new EngineProcess(localEngine, ["up", "--yes", "--skip-preview"], project.directory, environment);
    await until(() => existsSync(project.path("starting")), 120_000);
    engine.kill("engine");
    project.write("go", "");
    await engine.ended;
  });

  it("a cancelled operation finishes what runs, and begins nothing else", async () => {
    useWaiting({ name: "a", props: { wait: true } }, { name: "b", dependsOn: ["a"] });
    const cancel = new AbortController();
    const failed = failing((await project.open()).up({ signal: cancel.signal }));
    await started("a");
    cancel.abort();
    project.write("go", "");
    assert.deepEqual(errors(await failed), ["update canceled"]);
    const { resources, pending_operations: pending } = await exported();
    assert.ok(resources?.some(({ id }) => id === "a"));
    assert.ok(!existsSync(project.path("b.started")));
    assert.equal(pending, undefined);
  });

  it("a second operation on the stack is kept out", async () => {
    useWaiting({ name: "a", props: { wait: true } });
    const first = (await project.open()).up();
    await started("a");
    for (const operation of ["destroy", "preview"] as const) {
      await assert.rejects((await project.open())[operation](), /the stack is locked by process/);
    }
    project.write("go", "");
    assert.equal((await first).result, "succeeded");
    const state = readFileSync(project.statePath, "utf8");
    assert.doesNotMatch(state, /sourcePosition|stackTrace/, "they would contain paths of the machine");
  });

  it("a host that dies leaves its resource pending, and is reported without advice about passwords", async () => {
    useWaiting({ name: "a", props: { die: true } });
    const [neutral = ""] = await up();
    assert.match(neutral, /process ended.*unknown whether.*may have/s);
    assert.doesNotMatch(neutral, /password|reset/);
    const { pending_operations: [pending, ...others] = [] } = await exported();
    assert.deepEqual({ type: pending?.type, others }, { type: "creating", others: [] });
  });

  for (const [program, error] of Object.entries({
    "process.exit(3)": "Program exited with non-zero exit code: 3",
    'process.kill(process.pid, "SIGKILL")': "Program was ended by SIGKILL",
  })) {
    it(`the program ${program} is an error`, async () => {
      project = new TestProject({ program });
      assert.deepEqual(await up(), [`an unhandled error occurred: ${error}`]);
    });
  }

  it("a program that does not end after a failure is ended, and only the failure is an error", async () => {
    const provider = 'exports.provider = { async create() { throw new Error("disk full") } };';
    project = new TestProject({ provider, wanted: [{ name: "a" }] });
    appendFileSync(project.path("index.js"), "\nsetInterval(() => undefined, 1000);");
    assert.deepEqual(await up(), ["disk full", "update failed"]);
  });

  it("runs a program in plain JavaScript modules, and one in TypeScript", async () => {
    project = new TestProject();
    project.write("package.json", '{ "name": "trace", "type": "module", "main": "index.js" }');
    project.write("index.js", 'import * as pulumi from "@pulumi/pulumi";\nexport const stack = pulumi.getStack();\n');
    assert.deepEqual((await (await project.open()).up()).outputs, { stack: { value: "dev", secret: false } });
    project.write("package.json", '{ "name": "trace" }');
    project.write("Pulumi.yaml", "name: trace\nmain: program/index.ts\nruntime: nodejs");
    const source = `import * as pulumi from "@pulumi/pulumi";
      export const where: string = process.cwd();
      export const list: pulumi.Output<number[]> = pulumi.secret([1]);`;
    project.write("program/index.ts", source);
    assert.deepEqual((await (await project.open()).up()).outputs, {
      where: { value: realpathSync(project.path("program")), secret: false },
      list: { value: [1], secret: true },
    });
  });
});
