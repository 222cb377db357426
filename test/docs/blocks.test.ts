import assert from "node:assert/strict";
import { typeErrors } from "./types";
import { type Block, pages } from "./page";
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

  // blocks.slow.test.ts runs the blocks of the other pages.
  describeBlocks(written.filter(({ path }) => path === "README.md"));
});

function isCode({ language }: Block): boolean {
  return language === "ts" || language === "js";
}
