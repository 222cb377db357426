import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { errors, failing, TestProject } from "./project";

let project: TestProject;

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
    ["`get`", 'new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "g", {}, { id: "x" })', /reading an existing resource/],
    ["an invoke", 'pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})', /an invoke/],
  ];
  for (const [title, code, expected] of cases) {
    it(`is ${title}, by name`, async () => {
      project = new TestProject({ program: `const pulumi = require("@pulumi/pulumi");\n${code}\n` });
      const failed = await failing((await project.open()).up());
      assert.match(errors(failed).join("\n"), expected);
      assert.match(errors(failed).join("\n"), /not supported by the local engine/);
      const made = project.newCalls().filter(({ method }) => method === "create");
      assert.ok(made.every(({ news }) => news?.name === "first"));
    });
  }

  it("is an option of an operation that it does not have, before anything runs", async () => {
    project = new TestProject();
    project.want([{ name: "a" }]);
    const options: object = { target: ["urn"] };
    const stack = await project.open();
    await assert.rejects(stack.up(options), /the option `target` of `up` is not supported by the local engine/);
    assert.deepEqual(project.newCalls(), []);
  });

  it("is a project with Yarn Plug'n'Play, before anything is loaded that it cannot find", async () => {
    project = new TestProject();
    // As Yarn's own loader does it.
    const versions = process.versions as Record<string, string>;
    versions["pnp"] = "3";
    try {
      await assert.rejects(project.open(), /node_modules.*nodeLinker: node-modules.*\.yarnrc\.yml.*yarn install/);
    } finally {
      delete versions["pnp"];
    }
  });

  it("is a wrong or missing passphrase, before anything runs", async () => {
    project = new TestProject();
    project.want([{ name: "a" }]);
    await (await project.open()).up();
    const before = readFileSync(project.statePath, "utf8");
    project.newCalls();
    await assert.rejects((await project.open({ passphrase: "wrong" })).up(), /incorrect passphrase/);
    await assert.rejects((await project.open({ passphrase: undefined })).up(), /passphrase must be set/);
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
