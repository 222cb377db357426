import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(__dirname, "../..");
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");

describe("The pictures that `npm run images` makes", () => {
  for (const page of ["README.md", "docs/local-platform.md"]) {
    it(`are all there, and have words for who does not see them: ${page}`, () => {
      const text = read(page);
      const paths = [...text.matchAll(/[\w/]*images\/[\w.-]+/g)].map(([path]) => path);
      assert.ok(paths.length > 0);
      paths.forEach((path) => assert.ok(existsSync(join(root, dirname(page), path)), path));
      const described = text.match(/!\[[^\]]+\]\(|<img src="[^"]+" alt="[^"]+"/g)?.length ?? 0;
      assert.equal(described, text.match(/!\[|<img/g)?.length);
    });
  }

  it("show the quickstart as it is: after a change of it, `npm run images` records it anew", () => {
    const steps = [...read("scripts", "quickstart.mjs").matchAll(/say\("(\d\. [^"]+)"\)/g)].map(
      ([, step = ""]) => step,
    );
    const recorded = read("docs", "images", "quickstart.svg");
    assert.equal(steps.length, 4);
    assert.deepEqual(
      steps.filter((step) => !recorded.includes(step)),
      [],
    );
    const outputs = [...read("examples", "quickstart", "index.ts").matchAll(/^export const (\w+)/gm)];
    assert.deepEqual(
      outputs.filter(([, name]) => !recorded.includes(`    ${name} `)).map(([, name]) => name),
      [],
    );
  });
});
