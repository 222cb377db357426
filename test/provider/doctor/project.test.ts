import assert from "node:assert/strict";
import { join } from "node:path";
import { checkInstallation } from "../../../provider/doctor/installation";
import { findProject } from "../../../provider/doctor/project";
import { Folder } from "../../support/folder";

const plugin = "packages:\n  random: random@4.19.0\n  rekey: rekey@0.1.0\n";
const sdk = ["@pulumi/pulumi", "pulumi-rekey", "pulumi CLI"];

/** A project file, the folder of its program, and what is checked. */
const rows: readonly (readonly [file: string, programIn: string, checked: readonly string[]])[] = [
  ["name: caches\nruntime: nodejs\n", ".", sdk],
  ["main: src/\nname: caches\n", "src", sdk],
  ["name: caches\nmain: src/index.ts\n", "src", sdk],
  ["# main: other\r\nname: \"caches\" # ours\r\nmain: 'src'\r\nruntime:\r\n  name: nodejs\r\n", "src", sdk],
  ["name: caches\nconfig:\n  main: src\n  name: another\n  rekey:platform: upstash\n", ".", sdk],
  ["name: caches\nruntime: python\n", ".", ["the plugin", "pulumi CLI"]],
  ["runtime:\n  options:\n    virtualenv: venv\n  name: python\nname: caches\n", ".", ["the plugin", "pulumi CLI"]],
  [`name: caches\nruntime: { name: nodejs }\n${plugin}`, ".", ["@pulumi/pulumi", "the plugin", "pulumi CLI"]],
];

describe("pulumi-rekey doctor: the project file", () => {
  for (const [file, programIn, checked] of rows) {
    it(`decides which packages are checked, and from where: ${JSON.stringify(file)}`, () => {
      const folder = new Folder();
      folder.write("src/index.ts", "");
      folder.write("Pulumi.yaml", file);
      const project = findProject(folder.path("src")) ?? assert.fail();
      assert.deepEqual([project.name, project.programDirectory], ["caches", join(folder.directory, programIn)]);
      const subjects = checkInstallation(project).map(({ subject }) => subject);
      folder.remove();
      assert.deepEqual(subjects, checked);
    });
  }
});
