import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";

let checked = false;

/**
 * Makes sure that the provider host, which looks from the program's working directory upwards, will find this very
 * package.
 *
 * @throws RunError that says what to add where.
 */
export function requirePackageForHost(): void {
  if (checked) return;
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw new pulumi.RunError(
      `Pulumi's provider host will not find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        `Add it to the dependencies of the package.json there (or above): npm install --prefix ${JSON.stringify(directory)} pulumi-rekey`,
    );
  }
  const own = realpathSync(join(__dirname, "..", ".."));
  if (found !== own) {
    throw new pulumi.RunError(
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        `Keep one: remove the other from its package.json, and run npm install again.`,
    );
  }
  checked = true;
}

/**
 * Where the package is installed for the host. `require.resolve` would not tell: it also lets a package find itself,
 * which the host does not.
 */
function installedFrom(directory: string): string | undefined {
  const candidate = join(directory, "node_modules", "pulumi-rekey");
  if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
  const parent = dirname(directory);
  return parent === directory ? undefined : installedFrom(parent);
}
