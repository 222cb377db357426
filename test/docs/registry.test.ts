import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { readPage } from "./page";

const committed = join(projectRoot, "docs/registry");
const names = ["_index.md", "installation-configuration.md"];

describe("The pages for Pulumi's registry", function () {
  this.timeout(60_000);

  it("are generated from the schema and the examples; if this fails, run `npm run schema`", () => {
    const folder = new Folder();
    try {
      const script = join(projectRoot, "scripts/registry.mjs");
      const { status, stderr } = spawnSync(process.execPath, [script, folder.directory], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
      assert.deepEqual(readdirSync(committed).sort(), names);
      assert.deepEqual(readdirSync(folder.directory).sort(), names);
      for (const name of names) {
        assert.equal(readFileSync(join(committed, name), "utf8"), readFileSync(folder.path(name), "utf8"), name);
      }
    } finally {
      folder.remove();
    }
  });

  it("have the front matter that it needs", () => {
    for (const name of names) {
      assert.match(
        readPage(`docs/registry/${name}`).text,
        /^---\n# Generated .*\ntitle: .+\nmeta_desc: .+\nlayout: package\n---\n/,
      );
    }
  });

  it("show the example in each language that was tried", () => {
    const { blocks, text } = readPage("docs/registry/_index.md");
    const languages = ["typescript", "python", "go", "csharp", "yaml"];
    const offered = /\{\{< chooser language "(.*?)" >\}\}/.exec(text)?.[1]?.split(",");
    const tabs = [...text.matchAll(/\{\{% choosable language (\w+) %\}\}/g)].map(([, name]) => name);
    const shown = blocks.map(({ language }) => language);
    assert.deepEqual({ offered, tabs, shown }, { offered: languages, tabs: languages, shown: languages });
    for (const { code, language } of blocks) assert.match(code, /PasswordRotation/, language);
  });
});
