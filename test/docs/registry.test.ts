import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { settingNames } from "../../provider/settings/table";
import schema from "../../schema.json";
import { projectRoot } from "../support/host";
import { readPage } from "./page";
import { typeErrors } from "./types";

const languages = ["typescript", "python", "go", "csharp", "java", "yaml"];
const names = ["_index.md", "installation-configuration.md"];
const [index, installation] = names.map((name) => readPage(`docs/registry/${name}`));

/** The examples that the tests run on the CLI. */
const programs = { python: "__main__.py", go: "main.go", csharp: "Program.cs", yaml: "Pulumi.yaml" };

describe("The pages for Pulumi's registry", () => {
  it("have the front matter that it needs, and a tab for each language", () => {
    assert.deepEqual(readdirSync(join(projectRoot, "docs/registry")).sort(), names);
    for (const page of [index, installation]) {
      assert.match(page?.text ?? "", /^---\ntitle: .+\nmeta_desc: .+\nlayout: package\n---\n/);
      const offered = /\{\{< chooser language "(.*?)" >\}\}/.exec(page?.text ?? "")?.[1];
      const tabs = [...(page?.text ?? "").matchAll(/\{\{% choosable language (\w+) %\}\}/g)].map(([, name]) => name);
      assert.deepEqual({ offered, tabs }, { offered: languages.join(), tabs: languages });
    }
  });

  it("show the code of the examples", () => {
    const blocks = index?.blocks ?? [];
    assert.deepEqual(
      blocks.map(({ language }) => language),
      languages,
    );
    assert.deepEqual(typeErrors(blocks.filter(({ language }) => language === "typescript")), []);
    for (const [language, file] of Object.entries(programs)) {
      const lines = readFileSync(join(projectRoot, "examples/languages", language, file), "utf8").split("\n");
      const code =
        blocks
          .find((block) => block.language === language)
          ?.code.trimEnd()
          .split("\n") ?? [];
      const others = code.filter((line) => !lines.includes(line));
      assert.deepEqual(others, [], language);
    }
  });

  it("have each setting, with its description in the schema", () => {
    const rows = [...(installation?.text ?? "").matchAll(/^\| `rekey:(\w+)` *\| (.*?) *\|$/gm)];
    const described = schema.config.variables;
    assert.deepEqual(
      rows.map(([, name, description]) => [name, description]),
      settingNames.map((name) => [name, described[name].description]),
    );
  });
});
