import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Check, wrong } from "./check";
import { manifestIn } from "../platform/version";
import { type Project } from "../settings/project";
import { addCommand, nearest } from "./installAdvice";

/** Checks what a TypeScript program needs that is an ES module. There is nothing to check of other programs. */
export function checkModule({ program, programDirectory }: Project): Check[] {
  const folder = nearest(programDirectory, ["package.json"]);
  if (folder === undefined || manifestIn(folder).type !== "module" || !isTypeScript(program)) return [];
  const missing = ["ts-node", "typescript"].filter((name) => !isInstalled(name, programDirectory));
  const problems = [
    ...missing.map((name) => `${name} is not installed`),
    ...(isCommonJs(join(programDirectory, "tsconfig.json")) ? ['"module" in tsconfig.json is "commonjs"'] : []),
  ];
  if (problems.length === 0) return [];
  const message = `The program is an ES module in TypeScript ("type": "module" in package.json), but ${problems.join(", and ")}.`;
  const install = addCommand(programDirectory, "ts-node typescript@5.9");
  const fix = `Run ${install}, and set "module": "nodenext" in tsconfig.json; or remove "type": "module".`;
  return [wrong("ES modules", message, fix)];
}

/** @param program its file, or the folder that Pulumi starts */
function isTypeScript(program: string): boolean {
  const isIn = (file: string) => existsSync(join(program, file));
  const main = isIn("package.json") ? manifestIn(program).main : undefined;
  return (main ?? program).endsWith(".ts") || (main === undefined && isIn("index.ts") && !isIn("index.js"));
}

function isInstalled(name: string, directory: string): boolean {
  try {
    createRequire(join(directory, "package.json")).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/** Whether a tsconfig.json asks for CommonJS, as that of Pulumi's templates does. It may have comments. */
function isCommonJs(path: string): boolean {
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8").replace(/^\s*\/\/.*$/gm, "");
  return /"module"\s*:\s*"commonjs"/i.test(text);
}
