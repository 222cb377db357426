import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { addCommand, howToLeavePlugAndPlay, packageManagerOf } from "./packageManager";

/**
 * Where the package is installed for the provider host, which looks from the program's working directory upwards.
 * `require.resolve` would not tell: it also lets a package find itself, which the host does not.
 */
export function installedFrom(directory: string): string | undefined {
  const candidate = join(directory, "node_modules", "pulumi-rekey");
  if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
  const parent = dirname(directory);
  return parent === directory ? undefined : installedFrom(parent);
}

/** What to do if it is not installed for the host. */
export function howToInstall(directory: string): string {
  const add = `Add it to the dependencies of the package.json there (or above): ${addCommand(directory, "pulumi-rekey")}`;
  return howToLeavePlugAndPlay(directory) ?? add;
}

/** What to do if there are two of it. */
export function howToHaveOne(directory: string): string {
  return `Keep one: remove the other from its package.json, and run ${packageManagerOf(directory)} install again.`;
}
