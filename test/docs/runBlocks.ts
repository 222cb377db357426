import assert from "node:assert/strict";
import { type Block, type Page } from "./page";
import { Session } from "./session";

const isOutput = (block: Block): boolean => block.language === "text";

/** Describes the blocks of each page: they are run in their order, or named with the reason why not. */
export function describeBlocks(pages: readonly Page[]): void {
  for (const { path, blocks } of pages.filter((page) => page.blocks.some((block) => !block.notRun))) {
    describe(path, function () {
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
            // `…` is anything.
            const parts = block.code.trim().split("…");
            const literal = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
            assert.match(printed.trim(), new RegExp(`^${literal.join("[^]*")}$`));
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
}
