import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { addCommand, howToLeavePlugAndPlay, packageManagerOf } from "./packageManager";

/**
 * Where Pulumi's provider host finds the package, searching from the program's working directory upwards.
 * `require.resolve` differs: it also lets a package find itself.
 */
export function installedFrom(directory: string): string | undefined {
  const candidate = join(directory, "node_modules", "pulumi-rekey");
  if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
  const parent = dirname(directory);
  return parent === directory ? undefined : installedFrom(parent);
}

/** Advice if the host cannot find the package. */
export function howToInstall(directory: string): string {
  const add = `Add it to the dependencies of the package.json there (or above): ${addCommand(directory, "pulumi-rekey")}`;
  return howToLeavePlugAndPlay(directory) ?? add;
}

/** Advice if two copies are installed. */
export function howToHaveOne(directory: string): string {
  return `Keep one: remove the other from its package.json, and run ${packageManagerOf(directory)} install again.`;
}
