import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";
import { readPage } from "./page";

const sources = sourcesIn("sdk", "local", "provider").map((path) => path.replaceAll("\\", "/"));

/** The folder of a file, as the picture names it: `local_cli`, or `engine` for `provider/engine/plugin`. */
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

const imports = new Map(sources.map((path) => [path, importsOf(path)]));

/** The files of the first cycle of imports that a search from each file meets. */
function findCycle(): string[] | undefined {
  const done = new Set<string>();
  const search = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of imports.get(path) ?? []) {
      const cycle = search(target, [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of sources) {
    const cycle = search(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe("docs/internals/architecture.md", () => {
  const picture =
    readPage("docs/internals/architecture.md").blocks.find(({ language }) => language === "mermaid")?.code ?? "";

  it("draws each folder", () => {
    const drawn = [...picture.matchAll(/^ *(\w+)\["((?:sdk|provider|local)[^"]*)"\]$/gm)].map(([, name]) => name);
    assert.deepEqual(drawn.sort(), [...new Set(sources.map(folderOf))].sort());
  });

  it("draws an arrow for each import between two folders, and no other", () => {
    const arrows = [...picture.matchAll(/^ *(\w+) --> (.+)$/gm)].flatMap(([, from, to = ""]) =>
      to.split(" & ").map((one) => `${from} --> ${one.trim()}`),
    );
    const found = sources.flatMap((path) =>
      (imports.get(path) ?? []).map((target) => [folderOf(path), folderOf(target)] as const),
    );
    const between = found.filter(([from, to]) => from !== to).map(([from, to]) => `${from} --> ${to}`);
    assert.deepEqual(arrows.sort(), [...new Set(between)].sort());
  });
});

describe("the layout", () => {
  it("has no cycle of imports, not even of types", () => assert.equal(findCycle()?.join(" → "), undefined));

  it("names no setting in provider/platform, whose callers know the settings", () =>
    assert.deepEqual(
      sources
        .filter((path) => path.startsWith("provider/platform/"))
        .filter((path) => readFileSync(join(projectRoot, path), "utf8").includes("rekey:")),
      [],
    ));

  it("has files of at most 320 lines in provider/ and sdk/, and of 350 in local/", () => {
    const tooLong = sources
      .map((path) => ({ path, lines: readFileSync(join(projectRoot, path), "utf8").split("\n").length - 1 }))
      .filter(({ path, lines }) => lines > (path.startsWith("local/") ? 350 : 320));
    assert.deepEqual(tooLong, []);
  });
});
