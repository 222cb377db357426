import assert from "node:assert/strict";
import { join } from "node:path";
import { findProject } from "../../../provider/doctor/project";
import { Folder } from "../../support/folder";

describe("pulumi-rekey doctor: the project file", () => {
  let folder: Folder;
  beforeEach(() => (folder = new Folder()).write("src/index.ts", ""));
  afterEach(() => folder.remove());

  const files: Readonly<Record<string, { readonly text: string; readonly programIn: string }>> = {
    "without main": { text: "name: caches\nruntime: nodejs\n", programIn: "." },
    "with a folder as main": { text: "main: src/\nname: caches\n", programIn: "src" },
    "with a file as main": { text: "name: caches\nmain: src/index.ts\n", programIn: "src" },
    "with quotes, comments and Windows line ends": {
      text: "# main: other\r\nname: \"caches\" # ours\r\nmain: 'src'\r\nruntime:\r\n  name: nodejs\r\n",
      programIn: "src",
    },
    "with such keys below others": { text: "name: caches\nconfig:\n  main: src\n  name: another\n", programIn: "." },
  };
  for (const [title, { text, programIn }] of Object.entries(files)) {
    it(`is read ${title}`, () => {
      const { directory } = folder;
      folder.write("Pulumi.yaml", text);
      const project = { name: "caches", directory, programDirectory: join(directory, programIn) };
      assert.deepEqual(findProject(directory), project);
      assert.deepEqual(findProject(join(directory, "src")), project, "from a folder below");
    });
  }
});
