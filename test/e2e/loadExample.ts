import Module from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { examples } from "../support/project";

interface Loader {
  _load: (request: string, ...others: unknown[]) => unknown;
}

/**
 * Runs the program of an example in this process.
 *
 * @param standIns packages that are too large to install for a test
 * @returns its exports
 */
export function loadExample(example: string, standIns: Readonly<Record<string, object>> = {}): unknown {
  const path = join(examples, example);
  if (example.endsWith("-esm")) return import(`${pathToFileURL(join(path, "index.js")).href}?${Date.now()}`);
  const loader = Module as unknown as Loader;
  const original = loader._load;
  loader._load = function (request, ...others) {
    return standIns[request] ?? original.call(this, request, ...others);
  };
  const file = require.resolve(path);
  delete require.cache[file];
  try {
    return require(file);
  } finally {
    loader._load = original;
  }
}
