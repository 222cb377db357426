import assert from "node:assert/strict";
import { join } from "node:path";
import { checkInstallation } from "../../../provider/doctor/installation";
import { findProject } from "../../../provider/settings/project";
import { Folder } from "../../support/folder";

describe("pulumi-rekey doctor: the project file", () => {
  let folder: Folder;
  beforeEach(() => (folder = new Folder()).write("src/index.ts", ""));
  afterEach(() => folder.remove());

  interface File {
    readonly text: string;
    readonly programIn: string;
    readonly is?: object;
  }
  const files: Readonly<Record<string, File>> = {
    "without main": { text: "name: caches\nruntime: nodejs\n", programIn: "." },
    "with a folder as main": { text: "main: src/\nname: caches\n", programIn: "src" },
    "with a file as main": { text: "name: caches\nmain: src/index.ts\n", programIn: "src" },
    "with quotes, comments and Windows line ends": {
      text: "# main: other\r\nname: \"caches\" # ours\r\nmain: 'src'\r\nruntime:\r\n  name: nodejs\r\n",
      programIn: "src",
    },
    "of Python": {
      text: "name: caches\nruntime: python\n",
      programIn: ".",
      is: { runtime: "python", usesPlugin: true },
    },
    "of Python, with options": {
      text: "runtime:\n  options:\n    virtualenv: venv\n  name: python\nname: caches\n",
      programIn: ".",
      is: { runtime: "python", usesPlugin: true },
    },
    "with the plugin": {
      text: "name: caches\nruntime: { name: nodejs, options: {} }\npackages:\n  random: random@4.19.0\n  rekey: rekey@0.1.0\n",
      programIn: ".",
      is: { usesPlugin: true },
    },
    "with another plugin": {
      text: "name: caches\nruntime: nodejs\npackages:\n  random: random@4.19.0\nconfig:\n  rekey:platform: upstash\n",
      programIn: ".",
    },
    "with such keys below others": { text: "name: caches\nconfig:\n  main: src\n  name: another\n", programIn: "." },
  };
  for (const [title, { text, programIn, is }] of Object.entries(files)) {
    it(`is read ${title}`, () => {
      const { directory } = folder;
      folder.write("Pulumi.yaml", text);
      const programDirectory = join(directory, programIn);
      const own = { name: "caches", directory, programDirectory, configDirectory: directory };
      const project = { ...own, runtime: "nodejs", usesPlugin: false, ...is };
      assert.deepEqual(findProject(directory), project);
      assert.deepEqual(findProject(join(directory, "src")), project, "from a folder below");
    });
  }

  it("may name another folder for the configuration", () => {
    folder.write("Pulumi.yaml", "name: caches\nstackConfigDir: config\n");
    assert.equal(findProject(folder.directory)?.configDirectory, folder.path("config"));
  });

  const programs: Readonly<Record<string, { readonly text: string; readonly required: readonly string[] }>> = {
    Python: { text: "name: caches\nruntime: python\n", required: ["the plugin"] },
    "TypeScript with the plugin": {
      text: "name: caches\nruntime: nodejs\npackages:\n  rekey: rekey@0.1.0\n",
      required: ["@pulumi/pulumi", "the plugin"],
    },
    "TypeScript with the SDK": {
      text: "name: caches\nruntime: nodejs\n",
      required: ["@pulumi/pulumi", "pulumi-rekey"],
    },
  };
  for (const [title, { text, required }] of Object.entries(programs)) {
    it(`decides which packages are checked: ${title}`, () => {
      folder.write("Pulumi.yaml", text);
      const checks = checkInstallation(findProject(folder.directory) ?? assert.fail());
      const subjects = checks.map(({ subject }) => subject);
      assert.deepEqual(subjects, [...required, "pulumi CLI"]);
      for (const { subject, state } of checks.slice(0, -1)) {
        assert.equal(state, subject === "the plugin" ? "unchecked" : "wrong", subject);
      }
    });
  }
});
