// The templates of `pulumi new`: each is an example as a project of its own. Its Pulumi.yaml has the settings.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "./lib.mjs";

/** The examples, by the names of the templates. */
const examples = { upstash: "nightly-rotation", "any-key": "any-key", "own-redis": "own-redis" };

const relativeImport = /(?<=from ")(\.[^"]+)(?=")/g;
const importedPackage = /(?<=from ")(?!\.|node:)[^"]+(?=")/g;
// A file with a secret is written in the folder of the project.
const gitignore = "node_modules/\n/credential*\n";

/** The sources of an example, by their names: its own, and those that it imports from other ones. */
function sourcesOf(example) {
  const sources = new Map();
  const add = (path) => {
    const text = readFileSync(join(root, "examples", path), "utf8");
    sources.set(
      posix.basename(path),
      text.replace(relativeImport, (to) => `./${posix.basename(to)}`),
    );
    for (const [to] of text.matchAll(relativeImport)) add(posix.join(posix.dirname(path), `${to}.ts`));
  };
  for (const name of readdirSync(join(root, "examples", example))) {
    if (/\.(ts|mjs|cjs|acl)$/.test(name)) add(`${example}/${name}`);
  }
  return sources;
}

/** @param own the version of this package @param versions those of other packages */
function manifestOf(sources, own, versions) {
  const names = [...sources.values()].flatMap((text) => text.match(importedPackage) ?? []);
  const versionOf = (name) => [name, name === "pulumi-rekey" ? own : `^${versions[name]}`];
  const entries = (all) => Object.fromEntries([...new Set(all)].sort().map(versionOf));
  const devDependencies = entries(["@types/node", "typescript"]);
  return JSON.stringify({ name: "${PROJECT}", private: true, dependencies: entries(names), devDependencies });
}

/**
 * The files of all templates: their paths from the project's folder, their texts, and how to format them.
 *
 * @param own where a project gets this package from
 * @param versions of other packages
 */
export function templateFiles(own, versions) {
  return Object.entries(examples).flatMap(([name, example]) => {
    const sources = sourcesOf(example);
    const settings = readFileSync(join(root, "examples", example, "Pulumi.yaml"), "utf8")
      .replace(/^name: .*$/m, "name: ${PROJECT}")
      .replace(/^description: .*$/m, "description: ${DESCRIPTION}");
    const files = [...sources, ["Pulumi.yaml", settings], [".gitignore", gitignore]];
    return [
      ...files.map(([file, text]) => ({ path: `templates/${name}/${file}`, text })),
      { path: `templates/${name}/package.json`, text: manifestOf(sources, own, versions), parser: "json-stringify" },
    ];
  });
}
