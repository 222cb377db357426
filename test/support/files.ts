import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./host";

/** The names and texts of all files below a folder, without what links lead to: the installed packages, and engines. */
export function textsBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.name === "node_modules" || entry.isSymbolicLink()) return [];
    return entry.isDirectory() ? textsBelow(path) : [path, readFileSync(path, "utf8")];
  });
}

/** Paths of the sources in folders of this repository, from its root, without built files. */
export function sourcesIn(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => path.endsWith(".ts") && !path.startsWith(join("local", "dist"))),
  );
}
