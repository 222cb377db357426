import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownManifest, packageVersion } from "../domain/ownPackage";

/**
 * The oldest version of `@pulumi/pulumi` that works: the provider host of older ones never calls `configure`, so the
 * stack's configuration does not reach the provider.
 */
export const oldestPulumi = "3.139.0";

/** The oldest version of `@pulumi/pulumi` with the option `replacementTrigger`. */
export const oldestForTriggers = "3.211.0";

/** True if a version is older than another one: numbers with points. */
export function isOlderVersion(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

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

/** A package.json, as far as it is used here. */
interface Manifest {
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

export function manifestIn(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
}

/** Why this Node cannot run this package, if it cannot: an older one does not load ES modules with `require`. */
export function unsupportedNode(): string | undefined {
  if (process.features.require_module) return undefined;
  // `^20.19.0 || >=22.12.0`
  const oldest = ownManifest().engines.node.match(/\d+\.\d+/g) ?? [];
  const needed = oldest.map((version) => `${version}+`);
  return `Node ${process.versions.node} is too old: pulumi-rekey needs Node ${needed.join(" or ")}`;
}

export const howToInstallNode =
  "Install one of these versions where pulumi runs, in the pipeline too, then run the command again.";

/** Advice if the provider host cannot find the package from the program's folder, or finds another version there. */
export function howToInstall(): string {
  return `Add version ${packageVersion()} to the package.json there (or above), as the section Install of its README describes, and install it into node_modules (with Yarn: \`nodeLinker: node-modules\` in .yarnrc.yml).`;
}
