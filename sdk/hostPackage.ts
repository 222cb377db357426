import { realpathSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { howToHaveOne, howToInstall, installedFrom } from "./installed";
import { requirePulumi } from "./pulumiVersion";

let checked = false;

/**
 * Makes sure that the provider host, which looks from the program's working directory upwards, will find this very
 * package, and that it will configure it.
 *
 * @throws RunError that says what to add or update where.
 */
export function requirePackageForHost(): void {
  if (checked) return;
  requirePulumi();
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw new pulumi.RunError(
      `Pulumi's provider host will not find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        howToInstall(directory),
    );
  }
  const own = realpathSync(join(__dirname, "..", ".."));
  if (found !== own) {
    throw new pulumi.RunError(
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        howToHaveOne(directory),
    );
  }
  checked = true;
}
