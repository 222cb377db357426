import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";

describe("scripts/prose.mjs", () => {
  let folder: Folder;
  beforeEach(() => (folder = new Folder()));
  afterEach(() => folder.remove());

  function check(name: string, text: string) {
    const path = folder.write(name, text);
    const script = join(projectRoot, "scripts", "prose.mjs");
    const { status, stdout } = spawnSync(process.execPath, [script, path], {
      cwd: folder.directory,
      encoding: "utf8",
    });
    return { status, lines: stdout.trim().split("\n") };
  }

  it("prints the place of each word to avoid on a page, with a replacement", () => {
    assert.deepEqual(check("page.md", "Fine.\n\nTry it anew. Nobody\nmends it.\n"), {
      status: 1,
      lines: [
        'page.md:4: "mends": write fix',
        'page.md:3: "anew": write again',
        'page.md:3: "Nobody": write unknown, someone, callers that need it',
        "words to avoid: 3",
      ],
    });
  });

  it("finds a phrase over two lines of a comment", () => {
    const { lines } = check("code.ts", "/**\n * A text that is\n * no URL.\n */\nexport const a = 1;\n");
    assert.deepEqual(lines, ['code.ts:2: "is no ": write is not a', "words to avoid: 1"]);
  });

  it("checks comments, messages and templates of code, and not its names", () => {
    const text =
      "// anew\nconst mend = `for ${1} ever, anew`; // besides\nthrow new Error(mend + ' is no URL' + \"mend\");\n";
    assert.deepEqual(
      check("code.mjs", text).lines.map((line) => line.split('"')[1] ?? line),
      ["anew", "anew", "besides", "is no ", "words to avoid: 4"],
    );
  });

  it("accepts plain English", () => {
    const text = "There is no network. It is no longer used. The message says why.\n";
    assert.deepEqual(check("page.md", text), { status: 0, lines: ["words to avoid: 0"] });
  });
});
