import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { checkInstallation } from "../../../provider/doctor/checks";
import { type Check, findProject } from "../../../provider/doctor/project";
import { Folder } from "../../support/folder";
import { installPackages } from "../../support/project";

const plugin = "packages:\n  random: random@4.19.0\n  rekey: rekey@0.1.0\n";
const sdk = ["@pulumi/pulumi is 3.", "pulumi-rekey is "];
const neither = ["@pulumi/pulumi is not installed for", "Pulumi's provider host cannot find pulumi-rekey from"];
const unchecked = "The plugin was not checked";

/** What is checked of a project with a program in src/, whose packages are in src/, too. */
function checksOf(file: string, change?: (packages: Folder) => void): Check[] {
  const folder = new Folder();
  folder.write("src/index.ts", "");
  installPackages(folder.path("src"));
  change?.(folder);
  folder.write("Pulumi.yaml", file);
  const project = findProject(folder.path("src"));
  assert.ok(project);
  assert.deepEqual([project.name, project.directory], ["caches", folder.directory]);
  const checks = checkInstallation(project);
  folder.remove();
  return checks;
}

describe("pulumi-rekey doctor: the installation", () => {
  const rows: readonly (readonly [file: string, messages: readonly string[]])[] = [
    ["main: src/\nname: caches\n", sdk],
    ["name: caches\nmain: src/index.ts\n", sdk],
    ["# main: other\r\nname: \"caches\" # ours\r\nmain: 'src'\r\nruntime:\r\n  name: nodejs\r\n", sdk],
    ["name: caches\nruntime: nodejs\n", neither],
    ["name: caches\nconfig:\n  main: src\n  name: another\n  rekey:platform: upstash\n", neither],
    ["name: caches\nruntime: python\n", [unchecked]],
    ["runtime:\n  options:\n    virtualenv: venv\n  name: python\nname: caches\n", [unchecked]],
    [`name: caches\nmain: src\nruntime: { name: nodejs }\n${plugin}`, ["@pulumi/pulumi is 3.", unchecked]],
    // What a reader of single lines takes for something else.
    ["# a program\n{ name: caches, main: src, packages: { other: other@1 } }\n", sdk],
    [
      "description: |\n  runtime: python\n  main: other\nname: caches\nmain: src\npackages:\n\n  # ours\n  rekey: rekey@0.1.0\n",
      ["@pulumi/pulumi is 3.", unchecked],
    ],
  ];
  for (const [file, messages] of rows) {
    it(`is checked from where ${JSON.stringify(file)} says`, () => {
      const checks = checksOf(file);
      assert.deepEqual(
        checks.map(({ message }, index) => message.slice(0, messages[index]?.length)),
        messages,
      );
    });
  }

  for (const [version, says, node = ">=99", state = "wrong"] of [
    ["3.138.0", "@pulumi/pulumi is 3.138.0, but pulumi-rekey needs >=3.139.0 <4."],
    ["4.0.0", "@pulumi/pulumi is 4.0.0, but pulumi-rekey needs >=3.139.0 <4."],
    ["3.999.0", `@pulumi/pulumi 3.999.0 needs Node >=99, but this Node is ${process.versions.node}.`],
    [
      "3.210.0",
      "@pulumi/pulumi is 3.210.0, which ignores the option replacementTrigger of a RotationTrigger.",
      ">=18",
      "unchecked",
    ],
    ["3.211.0", "@pulumi/pulumi is 3.211.0.", ">=18", "ok"],
  ] as const) {
    it(`is ${state} with @pulumi/pulumi ${version}`, () => {
      const [check] = checksOf("name: caches\nmain: src\n", (folder) => {
        const manifest = JSON.stringify({ version, engines: { node } });
        rmSync(folder.path("src/node_modules/@pulumi/pulumi"));
        folder.write("src/node_modules/@pulumi/pulumi/package.json", manifest);
      });
      assert.deepEqual([check?.state, check?.message], [state, says]);
    });
  }

  it("knows a folder without a project", () => assert.equal(findProject(tmpdir()), undefined));

  it("refuses a file that is not YAML, without showing a part of it", () => {
    const folder = new Folder();
    const path = folder.write("Pulumi.yaml", "name: caches\nconfig: [canary\n");
    assert.throws(() => findProject(folder.directory), { message: `${path} is not YAML (line 3): fix it` });
    folder.remove();
  });
});
