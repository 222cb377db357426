import assert from "node:assert/strict";
import { typeErrors } from "./types";
import { type Block, pages } from "./page";
import { isProgram, isScript, normalized, Session, shows } from "./session";

/** What a test can run, or hold to what was run. */
const kinds = ["ts", "js", "sh", "text"];
const isOutput = (block: Block): boolean => block.language === "text";
const written = pages.filter(({ generatedBy }) => generatedBy === undefined);

describe("The code blocks of README and docs/", () => {
  for (const { path, generatedBy } of pages.filter(({ generatedBy }) => generatedBy !== undefined)) {
    it(`${path}: not run, because \`${generatedBy}\` writes the page, and a test holds it`);
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
    this.timeout(240_000);
    const blocks = written.flatMap((page) => page.blocks).filter(({ language }) => language === "ts");
    assert.ok(blocks.length > 3, String(blocks.length));
    assert.deepEqual(typeErrors(blocks), []);
  });

  for (const { path, blocks } of written.filter((page) => page.blocks.some((block) => !block.notRun))) {
    describe(path, function () {
      this.timeout(300_000);
      let session: Session;
      let printed: string | undefined;
      before(async () => void (session = await Session.start()));
      after(() => session.end());

      for (const block of blocks) {
        const title = `${block.place} (${block.language || "no language"})`;
        if (block.notRun) {
          it(`${title}: not run: ${block.notRun}`);
        } else if (isOutput(block)) {
          it(`${title} is what the block before prints`, () => {
            assert.ok(printed !== undefined, "there is no block before it that was run");
            assert.match(normalized(printed), shows(block.code));
          });
        } else {
          it(title, async () => {
            const before = session.resets;
            printed = undefined;
            printed = await session.run(block);
            if (block.resets !== undefined) assert.equal(session.resets - before, block.resets, "password resets");
          });
        }
      }
    });
  }
});

function isCode({ language }: Block): boolean {
  return language === "ts" || language === "js";
}
