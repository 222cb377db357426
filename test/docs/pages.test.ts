import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { oldestPulumi } from "../../provider/platform/version";
import { projectRoot } from "../support/host";
import { anchors, type Page, pages, prose, readPage } from "./page";

/** Lines on two screens. */
const twoScreens = 100;
const alsoRead = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(readPage);

function linksOf(page: Page): string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** Path of a link's file from the project's folder, and the anchor in it. */
function resolve(page: Page, link: string): { path: string; anchor: string | undefined } {
  const [file = "", anchor] = link.split("#");
  return { path: file === "" ? page.path : join(dirname(page.path), file), anchor };
}

describe("README and docs/", () => {
  it("have no link to a missing file or heading", () => {
    const broken = [...pages, ...alsoRead].flatMap((page) =>
      linksOf(page)
        .filter((link) => !/^\w+:/.test(link))
        .filter((link) => {
          const { path, anchor } = resolve(page, link);
          if (!existsSync(join(projectRoot, path))) return true;
          return anchor !== undefined && path.endsWith(".md") && !anchors(readPage(path)).includes(anchor);
        })
        .map((link) => `${page.path}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  it("have an index with every page, which README links to", () => {
    const index = readPage("docs/README.md");
    const linked = linksOf(index).map((link) => resolve(index, link).path);
    const missing = pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith("docs/") && path !== index.path && !linked.includes(path));
    assert.deepEqual(missing, []);
    assert.ok(linksOf(readPage("README.md")).includes("docs/README.md"));
  });

  it("name the oldest versions of Node and the SDK in README, with those of the CLI", () => {
    const { engines } = require("pulumi-rekey/package.json") as { engines: { node: string } };
    const [line = ""] = /^You need Node[^]*?\n\n/m.exec(readPage("README.md").text) ?? [];
    for (const part of [engines.node.replace(">=", "Node "), oldestPulumi.replace(/\.0$/, ""), "CLI", "plugin"]) {
      assert.ok(line.includes(part), `${part}: ${line}`);
    }
  });

  it("are short enough to be read: README has 750 words, and all without what is generated 19,500", () => {
    const wordsOf = ({ text }: Page) => text.split(/\s+/).filter((word) => word !== "").length;
    const written = pages.filter(({ generatedBy }) => generatedBy === undefined);
    assert.equal(written[0]?.path, "README.md");
    assert.ok(wordsOf(written[0]) <= 750, String(wordsOf(written[0])));
    const words = written.map(wordsOf).reduce((sum, count) => sum + count, 0);
    assert.ok(words <= 19_500, String(words));
  });

  it("are no longer than two screens without a table of contents", () => {
    const long = pages.filter(({ text }) => text.split("\n").length > twoScreens);
    const without = long.filter((page) => {
      const links = linksOf(page);
      const headings = [...prose(page).matchAll(/^## /gm)].length;
      return headings === 0 || links.filter((link) => link.startsWith("#")).length < headings;
    });
    const paths = without.map(({ path }) => path);
    assert.deepEqual(paths, []);
  });
});
