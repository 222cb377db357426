import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { errors, failing, TestProject } from "./project";

let project: TestProject;

describe("what the local engine refuses", function () {
  this.timeout(300_000);
  afterEach(() => project.remove());

  const provider = `__provider: 'exports.handler=()=>require("./provider.js").provider'`;
  const dynamic = (name: string, options: string): string =>
    `new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "${name}", { name: "${name}", ${provider} }, ${options});`;
  /** A resource with an option that refers to another one. */
  const second = (options: string): string => `const first = ${dynamic("first", "{}")} ${dynamic("b", options)}`;

  /** Programs, by what the error names. */
  const cases = {
    'resource of the package "aws" .*"b"': 'new pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {})',
    "a stack reference": 'new pulumi.StackReference("org/other/dev")',
    "an explicit provider": 'new pulumi.ProviderResource("aws", "p", {})',
    "option `import`": dynamic("a", '{ import: "id" }'),
    "option `transforms`": dynamic("a", "{ transforms: [() => undefined] }"),
    "a resource hook": 'new pulumi.ResourceHook("h", () => undefined);' + dynamic("a", "{}"),
    "option `deletedWith`": second("{ deletedWith: first }"),
    "option `replaceWith`": second("{ replaceWith: [first] }"),
    "option `replacementTrigger`": dynamic("a", "{ replacementTrigger: 1 }"),
    "option `customTimeouts`": dynamic("a", '{ customTimeouts: { create: "1m" } }'),
    'a remote component .*"c"': 'new pulumi.ComponentResource("aws:index:Component", "c", {}, {}, true)',
    "an asset": `new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "a", { text: new pulumi.asset.StringAsset("x"), ${provider} })`,
    "reading an existing resource": 'new pulumi.CustomResource("pulumi-nodejs:dynamic/m:T", "g", {}, { id: "x" })',
    "an invoke": 'pulumi.runtime.invoke("aws:index/getRegion:getRegion", {})',
  };
  for (const [named, code] of Object.entries(cases)) {
    it(`is ${named}, by name`, async () => {
      project = new TestProject({ program: `const pulumi = require("@pulumi/pulumi");\n${code}\n` });
      const failed = errors(await failing((await project.open()).up())).join("\n");
      assert.match(failed, new RegExp(`${named}.*not supported by the local engine\\. Use the .pulumi. CLI`));
      const made = project.newCalls().filter(({ method }) => method === "create");
      assert.ok(made.every(({ news }) => news?.name === "first"));
    });
  }

  it("is an unknown option of an operation, before anything runs", async () => {
    project = new TestProject({ wanted: [{ name: "a" }] });
    const options: object = { target: ["urn"] };
    await assert.rejects((await project.open()).up(options), /option `target` of `up` is not supported/);
    assert.deepEqual(project.newCalls(), []);
  });

  it("is a project with Yarn Plug'n'Play, before a module is loaded that it cannot find", async () => {
    project = new TestProject();
    // As Yarn's loader sets it.
    const versions = process.versions as Record<string, string>;
    versions["pnp"] = "3";
    try {
      await assert.rejects(project.open(), /node_modules.*nodeLinker: node-modules.*\.yarnrc\.yml.*yarn install/);
    } finally {
      delete versions["pnp"];
    }
  });

  it("is a wrong or missing passphrase, before anything runs", async () => {
    project = new TestProject({ wanted: [{ name: "a" }] });
    await (await project.open()).up();
    const before = readFileSync(project.statePath, "utf8");
    project.newCalls();
    await assert.rejects((await project.open({ passphrase: "wrong" })).up(), /incorrect passphrase/);
    await assert.rejects((await project.open({ passphrase: undefined })).up(), /passphrase must be set/);
    assert.deepEqual(project.newCalls(), []);
    assert.equal(readFileSync(project.statePath, "utf8"), before);
  });
});
