import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A Pulumi project, from its `Pulumi.yaml`. */
export interface Project {
  readonly name: string;
  readonly directory: string;
  /** The folder in which the program runs. */
  readonly programDirectory: string;
  /** The language host of the program: `nodejs`, `python`. */
  readonly runtime: string;
  /** Whether the program uses the native plugin. */
  readonly usesPlugin: boolean;
}

/** The project in a folder, or in the nearest folder above it. */
export function findProject(cwd: string): Project | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(directory, name)).find((file) => existsSync(file));
    if (path !== undefined) return readProject(directory, readFileSync(path, "utf8"));
    if (directory === dirname(directory)) return undefined;
  }
}

/** Reads the few top-level values that are needed here. They are plain, so no YAML parser is needed. */
function readProject(directory: string, text: string): Project {
  const valueOf = (key: string): string | undefined =>
    new RegExp(`^${key}:[ \\t]*(["']?)(.*?)\\1(?:\\s+#.*)?\\s*$`, "m").exec(text)?.[2];
  const below = (key: string): string => new RegExp(`^${key}:(.*(?:\\n[ \\t]+.*)*)`, "m").exec(text)?.[1] ?? "";
  const [, runtime = "nodejs"] =
    /\bname:\s*["']?([\w-]+)/.exec(below("runtime")) ?? /([\w-]+)/.exec(below("runtime")) ?? [];
  // `pulumi package add` writes it.
  const usesPlugin = runtime !== "nodejs" || /^[ \t]+rekey:/m.test(below("packages"));
  const program = resolve(directory, valueOf("main") ?? ".");
  const isFolder = statSync(program, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const programDirectory = isFolder ? program : dirname(program);
  return { name: valueOf("name") ?? "", directory, programDirectory, runtime, usesPlugin };
}
