import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import schema from "../../schema.json";
import { readPage, registryPages } from "../docs/page";
import { projectRoot } from "../support/host";

// As far as Pulumi's registry can be checked without it. scripts/release-check.mjs checks what only the owner can set.
describe("What Pulumi's registry reads", () => {
  it("is a schema with the name of the repository, the version of the tag or none, and a description", () => {
    assert.equal(`pulumi-${schema.name}`, manifest.name);
    assert.ok(!("version" in schema), "the registry compares it with the tag");
    assert.ok(schema.displayName && schema.description && schema.license);
  });

  it("names no package that is not ours: none for Node.js, which it would install, and no prefix of Pulumi", () => {
    const { nodejs, python, csharp } = schema.language;
    assert.ok(!("packageName" in nodejs));
    assert.equal(python.packageName, manifest.name.replace("-", "_"));
    assert.doesNotMatch(`${csharp.rootNamespace}.`, /^Pulumi\./);
  });

  for (const path of registryPages) {
    const { text } = readPage(path);

    it(`is ${path}: with front matter, and no relative image or link`, () => {
      assert.match(text, /^---\ntitle: .+\nmeta_desc: .+\nlayout: package\n---\n/);
      assert.doesNotMatch(text, /<img[^>]+src=["'](?!https?:)|!\[[^\]]*\]\((?!https?:)|<a[^>]+href="[./]/);
      assert.doesNotMatch(text, /\]\((?!https?:\/\/|#)/);
    });
  }

  it("is a page with an example in each language, and one with the settings as commands and as variables", () => {
    const [index, installation] = registryPages.map((path) => readPage(path));
    const languages = index?.blocks.map(({ language }) => language);
    assert.deepEqual(languages, ["typescript", "python", "go", "yaml"]);
    assert.match(installation?.text ?? "", /pulumi config set rekey:[^]*export REKEY_PASSWORD=/);
  });

  it("is a logo of 100 x 100 pixels", () => {
    const png = readFileSync(join(projectRoot, "docs/logo.png"));
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [100, 100]);
  });
});
