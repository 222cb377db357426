import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownManifest } from "../platform/version";

/** Advice if the host cannot find the package, or must find the version of this copy. */
export function howToInstall(directory: string, { version, repository } = ownManifest()): string {
  const plugAndPlay = howToLeavePlugAndPlay(directory);
  if (plugAndPlay !== undefined) return plugAndPlay;
  const install = "Add it to the dependencies of the package.json there (or above)";
  if (repository !== undefined) return `${install}: ${addCommand(directory, `pulumi-rekey@${version}`)}`;
  // Without a public repository nothing is published, and the name in the registry could be another's.
  const vendor = join(directory, "vendor");
  const [folder, archive] = [vendor, join(vendor, `pulumi-rekey-${version}.tgz`)].map((path) => JSON.stringify(path));
  return (
    `It is not published yet: in a clone of its repository, run \`npm ci && mkdir -p ${folder} && npm pack --pack-destination ${folder}\`, and commit that folder. ` +
    `${install}: ${addCommand(directory, archive ?? "")}`
  );
}

/** How each package manager adds a package to a folder, by its lock file. */
const commands: Readonly<Record<string, (folder: string) => string>> = {
  "package-lock.json": (folder) => `npm install --prefix ${folder}`,
  "pnpm-lock.yaml": (folder) => `pnpm add --dir ${folder}`,
  "yarn.lock": (folder) => `yarn --cwd ${folder} add`,
  "bun.lock": (folder) => `bun add --cwd ${folder}`,
  "bun.lockb": (folder) => `bun add --cwd ${folder}`,
};

/** The command that adds a package to the package.json of a folder, by the nearest lock file upwards. */
export function addCommand(directory: string, name: string): string {
  const root = nearest(directory, Object.keys(commands)) ?? "";
  const lockFile = Object.keys(commands).find((file) => existsSync(join(root, file))) ?? "package-lock.json";
  // pnpm requires it at the root of a workspace.
  const flag = existsSync(join(directory, "pnpm-workspace.yaml")) ? " --workspace-root" : "";
  return `${commands[lockFile]?.(JSON.stringify(directory))}${lockFile === "pnpm-lock.yaml" ? flag : ""} ${name}`;
}

/** Advice if packages are installed with Yarn Plug'n'Play, which has no node_modules; undefined otherwise. */
export function howToLeavePlugAndPlay(directory: string): string | undefined {
  const folder = nearest(directory, [".pnp.cjs"]);
  if (folder === undefined) return undefined;
  const file = join(folder, ".yarnrc.yml");
  return `Pulumi needs node_modules, which Yarn Plug'n'Play does not have: write \`nodeLinker: node-modules\` into ${file}, and run yarn install.`;
}

/** The nearest folder, from `directory` upwards, that has one of the files. */
function nearest(directory: string, files: readonly string[]): string | undefined {
  if (files.some((file) => existsSync(join(directory, file)))) return directory;
  const parent = dirname(directory);
  return parent === directory ? undefined : nearest(parent, files);
}
