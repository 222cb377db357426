import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(__dirname, "../..");
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");

describe("The pictures that scripts/images.mjs makes", () => {
  for (const page of ["README.md"]) {
    it(`exist, and have alternative texts: ${page}`, () => {
      const text = read(page);
      const paths = [...text.matchAll(/[\w/.]*images\/[\w.-]+/g)].map(([path]) => path);
      assert.ok(paths.length > 0);
      paths.forEach((path) => assert.ok(existsSync(join(root, dirname(page), path)), path));
      const described = text.match(/!\[[^\]]+\]\(|<img src="[^"]+" alt="[^"]+"/g)?.length ?? 0;
      assert.equal(described, text.match(/!\[|<img/g)?.length);
    });
  }

  it("show the current quickstart: after a change of it, run `node scripts/images.mjs`", () => {
    const recorded = read("docs", "images", "quickstart.svg");
    const steps = [...read("scripts", "quickstart.mjs").matchAll(/say\("(\d\. [^"]+)"\)/g)];
    assert.equal(steps.length, 4);
    for (const [, step = ""] of steps) assert.ok(recorded.includes(step), step);
    const outputs = read("examples", "quickstart", "index.ts").matchAll(/^export const (\w+)/gm);
    for (const [, name] of outputs) assert.ok(recorded.includes(`    ${name} `), name);
  });
});
