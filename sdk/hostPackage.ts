import { realpathSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";

const entryPoint = "pulumi-rekey/provider";

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
  const found = resolveFrom(directory);
  if (found === undefined) {
    throw new pulumi.RunError(
      `Pulumi's provider host will not find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        `Add it to the dependencies of the package.json there (or above): npm install --prefix ${directory} pulumi-rekey`,
    );
  }
  const own = join(__dirname, "..", "provider", "dynamic.js");
  if (realpathSync(found) !== realpathSync(own)) {
    throw new pulumi.RunError(
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        `Keep one: remove the other from its package.json, and run npm install again.`,
    );
  }
  checked = true;
}

function resolveFrom(directory: string): string | undefined {
  try {
    return require.resolve(entryPoint, { paths: [directory] });
  } catch {
    return undefined;
  }
}
