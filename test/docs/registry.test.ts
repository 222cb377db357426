import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import schema from "../../schema.json";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { type Block, blocksOf, readPage, registryPages } from "./page";
import { typeErrors } from "./types";

interface Described {
  readonly description: string;
  readonly inputProperties: object;
  readonly requiredInputs?: readonly string[];
  readonly properties: object;
}
const resources = Object.entries(schema.resources as Readonly<Record<string, Described>>);

describe("The pages for Pulumi's registry", function () {
  it("are generated from the schema and the examples; if this fails, run `npm run schema`", () => {
    const folder = new Folder();
    try {
      const script = join(projectRoot, "scripts/registry.mjs");
      const { status, stderr } = spawnSync(process.execPath, [script, folder.directory], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
      assert.deepEqual(
        readdirSync(folder.directory).sort(),
        registryPages.map((path) => basename(path)),
      );
      for (const path of registryPages) {
        assert.equal(readPage(path).text, readFileSync(folder.path(basename(path)), "utf8"), path);
      }
    } finally {
      folder.remove();
    }
  });

  it("have the front matter that it needs", () => {
    for (const path of registryPages) {
      assert.match(readPage(path).text, /^---\n# Generated .*\ntitle: .+\nmeta_desc: .+\nlayout: package\n---\n/);
    }
  });

  it("start with one account, and then show two in each language that was tried", () => {
    const { text } = readPage("docs/_index.md");
    const chosen = [...text.matchAll(/\{\{< chooser language "(.*?)" >\}\}([\s\S]*?)\{\{< \/chooser >\}\}/g)];
    const languages = [
      ["typescript", "python", "go", "yaml"],
      ["typescript", "python", "go", "csharp", "yaml"],
    ];
    assert.deepEqual(
      chosen.map(([, offered]) => offered?.split(",")),
      languages,
    );
    for (const [index, [, , shown = ""]] of chosen.entries()) {
      const tabs = [...shown.matchAll(/\{\{% choosable language (\w+) %\}\}/g)].map(([, name]) => name);
      const blocks = blocksOf("docs/_index.md", shown);
      assert.deepEqual(
        { tabs, shown: blocks.map(({ language }) => language) },
        { tabs: languages[index], shown: languages[index] },
      );
      for (const { code, language } of blocks) {
        assert.match(code, /PasswordRotation/, language);
        assert.equal(/secondPassword/.test(code), index === 1, language);
      }
    }
  });

  it("configure the preset first", () => {
    const [first] = /pulumi config set .*/.exec(readPage("docs/installation-configuration.md").text) ?? [];
    assert.equal(first, "pulumi config set rekey:platform upstash");
  });
});

describe("The schema", () => {
  const exampleIn = (description: string, language: string): Block =>
    blocksOf("schema.json", description).find((block) => block.language === language) ?? assert.fail(language);

  for (const [token, { description, inputProperties, requiredInputs = [], properties }] of resources) {
    it(`has an example of ${token} with arguments and an output that exist`, () => {
      const { resources: made, outputs } = parse(exampleIn(description, "yaml").code) as {
        resources: Record<string, { type: string; properties: object }>;
        outputs: Record<string, string>;
      };
      const [name, shown] = Object.entries(made).at(-1) ?? assert.fail();
      assert.equal(shown.type, token.replace(":index:", ":"));
      const unknown = Object.keys(shown.properties).filter((key) => !Object.keys(inputProperties).includes(key));
      const missing = requiredInputs.filter((key) => !Object.keys(shown.properties).includes(key));
      assert.deepEqual({ unknown, missing }, { unknown: [], missing: [] });
      const [[output = "", reference] = []] = Object.entries(outputs);
      assert.equal(reference, `\${${name}.${output}}`);
      assert.ok(Object.keys(properties).includes(output), output);
      for (const language of ["typescript", "python", "go"]) {
        assert.ok(exampleIn(description, language).code.includes(token.split(":").at(-1) ?? ""), language);
      }
    });
  }

  it("has examples in TypeScript without type errors", () => {
    const blocks = resources.map(([token, { description }]) => {
      const { code } = exampleIn(description, "typescript");
      return { place: token, language: "ts", code: code.replace("@rekey/rekey", "pulumi-rekey") };
    });
    assert.deepEqual(typeErrors(blocks), []);
  });
});
