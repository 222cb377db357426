import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type EngineEvent } from "../../../local/engine/index";
import { TestProject } from "./project";

describe("the changed inputs that the local engine shows", function () {
  this.timeout(300_000);

  let project: TestProject;
  before(() => (project = new TestProject()));
  after(() => project.remove());

  /** The lines about inputs, below the line of the resource they belong to. */
  function differences(stdout: string): string[] {
    const lines = stdout.split("\n").filter((line) => /^ {6}[+~-] |^ \S/.test(line));
    return lines.map((line) => line.replace(/ \(\d.*\)/, "").replace(/^ .*:Thing (\S+)/, "$1"));
  }

  it("are those added, removed and changed, secrets masked", async () => {
    project.want([{ name: "a", props: { v: 1, gone: [1, { x: true }] }, secrets: { token: "canary-1" } }]);
    const stack = await project.open();
    const created = await stack.up({ diff: true });
    const inputs = ["      + gone: [", '      + name: "a"', "      + token: [secret]", "      + v: 1"];
    assert.deepEqual(differences(created.stdout).slice(1), ["a created", ...inputs]);

    project.want([{ name: "a", props: { v: 2, added: "text" }, secrets: { token: "canary-2" } }]);
    const expected = ['      + added: "text"', "      - gone: [", "      ~ token: [secret]", "      ~ v: 1 => 2"];
    const { stdout } = await stack.preview({ diff: true });
    assert.deepEqual(differences(stdout), ["a update", ...expected]);
    assert.doesNotMatch(created.stdout + stdout, /canary|__provider/);
    assert.doesNotMatch((await stack.preview()).stdout, /=>.*2$|added/m);
    assert.deepEqual(differences((await stack.up({ diff: true })).stdout), ["a updated", ...expected]);
  });

  it("name what a preview cannot know, also in the events", async () => {
    project.want([
      { name: "a", props: { v: 3 }, secrets: { token: "canary-2" } },
      { name: "b", refs: { from: "a.out" } },
    ]);
    const stack = await project.open();
    const told: unknown[] = [];
    const onEvent = (event: EngineEvent) => "changes" in event && told.push(...(event.changes ?? []));
    const { stdout } = await stack.preview({ diff: true, onEvent });
    assert.deepEqual(differences(stdout).slice(-3), ["b create", "      + from: [unknown]", '      + name: "b"']);
    assert.deepEqual(told.slice(-2), [
      { name: "from", before: undefined, after: "[unknown]" },
      { name: "name", before: undefined, after: "b" },
    ]);
  });
});

describe("secrets in the local engine", () => {
  it("are in no file, no line and no event in plain text", async () => {
    const project = new TestProject({
      program: `
const pulumi = require("@pulumi/pulumi");
const token = new pulumi.Config().requireSecret("token");
console.log("a careless program prints canary-config");
new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "a", {
  name: "a", token, list: [pulumi.secret("canary-list")], made: undefined,
  __provider: 'exports.handler=()=>require("./provider.js").provider',
}, { additionalSecretOutputs: ["made"] });
exports.token = token;
exports.nested = { deep: pulumi.secret("canary-output") };`,
      provider: `
exports.provider = {
  async create(inputs) { return { id: "a", outs: { ...inputs, made: "canary-made" } }; },
};`,
    });
    const stack = await project.open();
    await stack.setConfig("token", "canary-config", { secret: true });
    const events: unknown[] = [];
    const { stdout, outputs } = await stack.up({ onEvent: (event) => events.push(event) });
    assert.deepEqual(outputs.token, { value: "canary-config", secret: true });
    assert.deepEqual(outputs.nested, { value: { deep: "canary-output" }, secret: true });
    const files = [project.statePath, project.path("Pulumi.dev.yaml")].map((path) => readFileSync(path, "utf8"));
    for (const text of [...files, stdout, JSON.stringify(events), JSON.stringify(await stack.exportStack())]) {
      assert.ok(!text.includes("canary"), text);
    }
    const shown = JSON.stringify(await stack.exportStack({ showSecrets: true }));
    for (const canary of ["config", "list", "made", "output"]) assert.ok(shown.includes(`canary-${canary}`), canary);
    assert.deepEqual((await stack.getAllConfig())["trace:token"], { value: "canary-config", secret: true });

    // After an export and import of the same state there is nothing to do.
    await stack.importStack(await stack.exportStack());
    assert.deepEqual((await stack.up()).changes, { same: 2 });
    await stack.importStack(await stack.exportStack({ showSecrets: true }));
    assert.ok(!readFileSync(project.statePath, "utf8").includes("canary"));
    assert.deepEqual((await stack.preview()).changes, { same: 2 });
    project.remove();
  }).timeout(300_000);
});
