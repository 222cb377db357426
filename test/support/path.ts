import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a program on PATH. */
export function findOnPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
