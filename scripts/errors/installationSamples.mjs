// Makes the SDK miss the package where the provider host looks for it, and gives what it says.
import { realpathSync } from "node:fs";
import { saidIn } from "./folder.mjs";
import { load } from "./samples.mjs";
import { root } from "../lib.mjs";

const { requirePackageForHost } = load("sdk/hostPackage");

/** What is said where the package is not installed for the host, or another copy of it. */
export async function ofInstallation(hasOther) {
  const before = process.cwd();
  const said = await saidIn(hasOther ? { "node_modules/pulumi-rekey/package.json": "{}" } : {}, (folder) => {
    process.chdir(folder);
    try {
      requirePackageForHost();
    } finally {
      process.chdir(before);
    }
  });
  return said.replaceAll(realpathSync(root), "/home/you/caches/node_modules/library/node_modules/pulumi-rekey");
}
