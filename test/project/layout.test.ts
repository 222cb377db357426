import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";

const sources = sourcesIn("sdk", "local", "provider").map((path) => path.replaceAll("\\", "/"));
const textOf = (path: string): string => readFileSync(join(projectRoot, path), "utf8");

/** From top to bottom: a folder imports only from those below it. `shared` are the files of provider/ itself. */
const layers = [
  ["sdk"],
  ["engine", "doctor"],
  ["verification", "flowControl"],
  ["rotation"],
  ["shared"],
  ["settings"],
  ["platform"],
  ["records"],
];

function layerOf(path: string): number {
  const [top = "", folder = "", file] = path.split("/");
  const name = top === "sdk" ? top : file === undefined ? "shared" : folder;
  return layers.findIndex((layer) => layer.includes(name));
}

/** The files that a file imports, or loads when used. */
const imports = new Map(
  sources.map((path) => {
    const targets = [...textOf(path).matchAll(/(?:from |require\(|import\()"(\.[^"]+)"/g)].map(([, target = ""]) =>
      posix.join(dirname(path), target),
    );
    return [path, targets.flatMap((file) => [`${file}.ts`, `${file}/index.ts`].filter((one) => sources.includes(one)))];
  }),
);
const pairs = [...imports].flatMap(([path, targets]) => targets.map((target) => [path, target] as const));

/** The files of the first cycle of imports that a search meets. */
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

describe("The layout of the sources", () => {
  it("has no cycle of imports, not even of types", () => assert.equal(findCycle()?.join(" → "), undefined));

  it("has imports in one direction only", () => {
    const product = pairs.filter(([path]) => !path.startsWith("local/"));
    const upwards = product.filter(
      ([path, target]) => layerOf(path) < 0 || target.startsWith("local/") || layerOf(target) < layerOf(path),
    );
    assert.deepEqual(upwards, []);
  });

  it("keeps the local platform and the product apart, so that tests do not share their mistakes", () =>
    assert.deepEqual(
      pairs.filter(([path, target]) => path.startsWith("local/") && !target.startsWith("local/")),
      [],
    ));

  it("imports Pulumi's SDK only in sdk/ and provider/engine/", () => {
    const others = sources.filter((path) => path.startsWith("provider/") && !path.startsWith("provider/engine/"));
    assert.deepEqual(
      others.filter((path) => /from "@pulumi\//.test(textOf(path))),
      [],
    );
  });

  it("has files of at most 320 lines", () => {
    const lengths = sources.map((path) => ({ path, lines: textOf(path).split("\n").length - 1 }));
    assert.deepEqual(
      lengths.filter(({ lines }) => lines > 320),
      [],
    );
  });
});
