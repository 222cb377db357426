import assert from "node:assert/strict";
import { parse } from "yaml";
import schema from "../../schema.json";
import { typeErrors } from "./types";
import { type Block, pages, readPage } from "./page";
import { describeBlocks } from "./runBlocks";
import { isProgram, isScript } from "./session";

/** Languages that a test can run, or compare with what was printed. */
const kinds = ["ts", "js", "sh", "text"];
const written = pages.filter(({ generatedBy }) => generatedBy === undefined);

describe("The code blocks of README and docs/", () => {
  for (const { path, generatedBy } of pages.filter(({ generatedBy }) => generatedBy !== undefined)) {
    it(`${path}: not run: \`${generatedBy}\` writes the page`);
  }

  it("are run, or say why not", () => {
    const silent = written
      .flatMap(({ blocks }) => blocks)
      .filter((block) => !block.notRun && !block.file)
      .filter((block) => !kinds.includes(block.language) || (isCode(block) && !isProgram(block) && !isScript(block)))
      .map(({ place }) => place);
    assert.deepEqual(silent, [], "put `<!-- not run: why -->` before them, or `<!-- file: name -->`");
  });

  it("in TypeScript have no type errors", function () {
    const blocks = written.flatMap((page) => page.blocks).filter(({ language }) => language === "ts");
    assert.ok(blocks.length > 3, String(blocks.length));
    assert.deepEqual(typeErrors(blocks), []);
  });

  it("of the page for Pulumi's registry have no type errors, and arguments and outputs that exist", () => {
    const { blocks } = readPage("docs/_index.md");
    const codeIn = (language: string) => blocks.find((block) => block.language === language) ?? assert.fail(language);
    const typed = codeIn("typescript");
    assert.deepEqual(
      typeErrors([{ ...typed, language: "ts", code: typed.code.replace("@rekey/rekey", "pulumi-rekey") }]),
      [],
    );
    const { resources, outputs } = parse(codeIn("yaml").code) as {
      resources: { sessions: { properties: object } };
      outputs: object;
    };
    const { inputProperties, properties } = schema.resources["rekey:index:PasswordRotation"];
    for (const name of Object.keys(resources.sessions.properties)) assert.ok(name in inputProperties, name);
    for (const name of Object.keys(outputs)) assert.ok(name in properties, name);
  });

  describeBlocks(written);
});

function isCode({ language }: Block): boolean {
  return language === "ts" || language === "js";
}
