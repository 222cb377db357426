import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { TestProject } from "./project";

describe("secrets in the local engine", () => {
  it("are in no file, no line and no event in plain text", async () => {
    const project = new TestProject({
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
    const files = [project.statePath, project.path("Pulumi.dev.yaml")].map((path) => readFileSync(path, "utf8"));
    for (const text of [...files, stdout, JSON.stringify(events), JSON.stringify(await stack.exportStack())]) {
      assert.ok(!text.includes("canary"), text);
    }
    const shown = JSON.stringify(await stack.exportStack({ showSecrets: true }));
    for (const canary of ["config", "list", "made", "output"]) assert.ok(shown.includes(`canary-${canary}`), canary);
    assert.ok(shown.includes('"seen":true'));
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
