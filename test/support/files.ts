import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The names and texts of all files below a folder, the installed packages aside. */
export function textsBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.name === "node_modules") return [];
    return entry.isDirectory() ? textsBelow(path) : [path, readFileSync(path, "utf8")];
  });
}
