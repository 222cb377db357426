import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";
import { readPage } from "./page";

/** The modules, each with the paths of its files; the first match counts. */
const modules = {
  sdk: /^sdk\//,
  doctor: /^provider\/doctor\//,
  plugin: /^provider\/plugin\//,
  cli: /^local\/cli\//,
  engine: /^local\/engine\//,
  platform: /^local\/platform\//,
  lifecycle: /^provider\/lifecycle\//,
  rotation: /^provider\/rotation\//,
  api: /^provider\/(api\/|setting|platforms|version|engineCommands|engineValues|engineWatch)/,
  records: /^provider\/records\//,
  dynamic: /^provider\//,
};
const moduleOf = (path: string) => Object.entries(modules).find(([, begins]) => begins.test(path))?.[0];

const sources = sourcesIn("sdk", "local", "provider")
  .filter((path) => basename(path) !== "index.ts")
  .map((path) => path.replaceAll("\\", "/"));

/** `from --> to` for each module that a file of another module imports, or loads when used. */
function imports(): string[] {
  const found = sources.flatMap((path) => {
    const text = readFileSync(join(projectRoot, path), "utf8");
    return [...text.matchAll(/(?:from |require\(|import\()"(\.[^"]+)"/g)].map(([, target = ""]) => {
      const file = relative(projectRoot, join(projectRoot, dirname(path), target)).replaceAll("\\", "/");
      return [moduleOf(path), moduleOf(/^local\/(engine|platform)$/.test(file) ? `${file}/` : file)] as const;
    });
  });
  const between = found.filter(([from, to]) => from !== undefined && to !== undefined && from !== to);
  return [...new Set(between.map(([from, to]) => `${from} --> ${to}`))].sort();
}

describe("docs/architecture.md", () => {
  it("draws an arrow for each import between two modules, and no other", () => {
    const picture = readPage("docs/architecture.md").blocks.find(({ language }) => language === "mermaid")?.code ?? "";
    const arrows = [...picture.matchAll(/^ *(\w+) --> (.+)$/gm)].flatMap(([, from, to = ""]) =>
      to.split(" & ").map((one) => `${from} --> ${one.trim()}`),
    );
    assert.deepEqual(arrows.sort(), imports());
  });
});
