import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageVersion } from "../platform/version";

/** Advice if the provider host cannot find the package from a folder, or must find the version of this copy. */
export function howToInstall(directory: string): string {
  const install = `Add version ${packageVersion()} to the package.json there (or above), as the section Install of its README describes, and install it`;
  return isPlugAndPlay(directory)
    ? `${install}. Pulumi needs node_modules, which Yarn Plug'n'Play does not have: write \`nodeLinker: node-modules\` into .yarnrc.yml, and run yarn install.`
    : `${install}.`;
}

/** Whether packages are installed without node_modules there. */
function isPlugAndPlay(directory: string): boolean {
  const parent = dirname(directory);
  return existsSync(join(directory, ".pnp.cjs")) || (parent !== directory && isPlugAndPlay(parent));
}
