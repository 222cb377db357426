import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";
import { readPage } from "./page";

/** The rooms of the house, each with the beginning of its files' paths; the first that fits holds. */
const rooms: readonly (readonly [string, RegExp])[] = [
  ["sdk", /^sdk\//],
  ["doctor", /^provider\/doctor\//],
  ["cli", /^local\/cli\//],
  ["engine", /^local\/engine\//],
  ["platform", /^local\/platform\//],
  ["lifecycle", /^provider\/lifecycle\//],
  ["rotation", /^provider\/rotation\//],
  ["api", /^provider\/(api\/|platforms|setting|version|engineCommands|engineValues)/],
  ["records", /^provider\/records\//],
  ["dynamic", /^provider\//],
];
const roomOf = (path: string): string | undefined => rooms.find(([, begins]) => begins.test(path))?.[0];

const sources = sourcesIn("sdk", "local", "provider")
  .filter((path) => basename(path) !== "index.ts")
  .map((path) => path.replaceAll("\\", "/"));

/** `from → to` for each room that a file of another room imports, or loads when used. */
function imports(): string[] {
  const found = sources.flatMap((path) => {
    const text = readFileSync(join(projectRoot, path), "utf8");
    return [...text.matchAll(/(?:from |require\(|import\()"(\.[^"]+)"/g)].map(([, target = ""]) => {
      const file = relative(projectRoot, join(projectRoot, dirname(path), target)).replaceAll("\\", "/");
      return [roomOf(path), roomOf(/^local\/(engine|platform)$/.test(file) ? `${file}/` : file)] as const;
    });
  });
  const between = found.filter(([from, to]) => from !== undefined && to !== undefined && from !== to);
  return [...new Set(between.map(([from, to]) => `${from} --> ${to}`))].sort();
}

describe("docs/architecture.md", () => {
  it("draws an arrow for each import between two rooms, and no other", () => {
    const picture = readPage("docs/architecture.md").blocks.find(({ language }) => language === "mermaid")?.code ?? "";
    const arrows = [...picture.matchAll(/^ *(\w+) --> (.+)$/gm)].flatMap(([, from, to = ""]) =>
      to.split(" & ").map((one) => `${from} --> ${one.trim()}`),
    );
    assert.deepEqual(arrows.sort(), imports());
  });
});
