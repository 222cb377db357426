import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";

const sources = sourcesIn("sdk", "local", "provider").map((path) => path.replaceAll("\\", "/"));
const textOf = (path: string): string => readFileSync(join(projectRoot, path), "utf8");

/** From top to bottom: a folder imports only from those below it. The files of rotation/ itself are its resources. */
const layers = [
  ["sdk"],
  ["engine", "doctor"],
  ["verification", "retirement", "flowControl"],
  ["rotation/fleet"],
  ["rotation"],
  ["rotation/outputs"],
  ["rotation/sources"],
  ["rotation/lifecycle"],
  ["rotation/messages"],
  ["rotation/plan"],
  ["rotation/program"],
  ["rotation/memory"],
  ["resource", "run"],
  ["clients"],
  ["settings"],
  ["platform"],
  ["domain"],
  ["records"],
  ["pulumi"],
];

function layerOf(path: string): number {
  const [top = "", folder = "", ...others] = path.split("/");
  const inside = folder === "rotation" && others.length > 1 ? `${folder}/${others[0]}` : folder;
  return layers.findIndex((layer) => layer.includes(top === "sdk" ? top : inside));
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

/** The files of cycles, and those that import them: what is left without the files whose imports are all gone. */
function filesInCycles(): string[] {
  let left = sources;
  for (let before = -1; before !== left.length;) {
    before = left.length;
    left = left.filter((path) => imports.get(path)?.some((target) => left.includes(target)));
  }
  return left;
}

describe("The layout of the sources", () => {
  it("has no cycle of imports, not even of types", () => assert.deepEqual(filesInCycles(), []));

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
});
