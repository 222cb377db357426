import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";
import { readPage } from "./page";

const sources = sourcesIn("sdk", "local", "provider").map((path) => path.replaceAll("\\", "/"));

/** The folder of a file, as the picture names it: `local/engine`, or `engine` for `provider/engine/plugin`. */
function folderOf(path: string): string {
  const [top = "", folder = "", file] = path.split("/");
  if (top === "sdk") return top;
  if (file === undefined) return top === "local" ? top : "shared";
  return top === "local" ? `local_${folder}` : folder;
}

/** The files that a file imports, or loads when used. */
function importsOf(path: string): string[] {
  const text = readFileSync(join(projectRoot, path), "utf8");
  return [...text.matchAll(/(?:from |require\(|import\()"(\.[^"]+)"/g)].flatMap(([, target = ""]) => {
    const file = posix.join(dirname(path), target);
    return [`${file}.ts`, `${file}/index.ts`].filter((one) => sources.includes(one));
  });
}

describe("docs/architecture.md", () => {
  const picture = readPage("docs/architecture.md").blocks.find(({ language }) => language === "mermaid")?.code ?? "";

  it("draws each folder", () => {
    const drawn = [...picture.matchAll(/^ *(\w+)\["((?:sdk|provider|local)[^"]*)"\]$/gm)].map(([, name]) => name);
    assert.deepEqual(drawn.sort(), [...new Set(sources.map(folderOf))].sort());
  });

  it("draws an arrow for each import between two folders, and no other", () => {
    const arrows = [...picture.matchAll(/^ *(\w+) --> (.+)$/gm)].flatMap(([, from, to = ""]) =>
      to.split(" & ").map((one) => `${from} --> ${one.trim()}`),
    );
    const found = sources.flatMap((path) =>
      importsOf(path).map((target) => [folderOf(path), folderOf(target)] as const),
    );
    const between = found.filter(([from, to]) => from !== to).map(([from, to]) => `${from} --> ${to}`);
    assert.deepEqual(arrows.sort(), [...new Set(between)].sort());
  });
});
