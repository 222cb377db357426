import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./host";

/** The names and texts of all files below a folder, without what links lead to: the installed packages, and engines. */
export function textsBelow(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return paths.flatMap((path) => [path, readFileSync(path, "utf8")]);
}

/** Paths of the sources in folders of this repository, from its root, without built files. */
export function sourcesIn(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => path.endsWith(".ts") && !path.startsWith(join("local", "dist"))),
  );
}
