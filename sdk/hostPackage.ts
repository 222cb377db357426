import { realpathSync } from "node:fs";
import { join } from "node:path";
import { howToHaveOne, howToInstall, installedFrom } from "./installed";
import { requirePulumi } from "./pulumiVersion";
import { runError } from "./runError";

let checked = false;

/**
 * Makes sure that Pulumi's provider host, which searches from the program's working directory upwards, finds this copy
 * of the package and configures it.
 *
 * @throws RekeyError
 */
export function requirePackageForHost(): void {
  if (checked) return;
  requirePulumi();
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw runError(
      "REKEY_NOT_INSTALLED",
      `Pulumi's provider host cannot find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        howToInstall(directory),
    );
  }
  const own = realpathSync(join(__dirname, "..", ".."));
  if (found !== own) {
    throw runError(
      "REKEY_INSTALLED_TWICE",
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        howToHaveOne(directory),
    );
  }
  checked = true;
}
