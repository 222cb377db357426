import { existsSync, readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { type Check, ok, unchecked, wrong } from "./check";
import { type Project } from "../settings/project";
import { installedFrom, isOlder, manifestIn, oldestPulumi } from "../platform/version";
import { runPulumi } from "./pulumiCli";
import { checkModule } from "./modules";
import { addCommand, howToHaveOne, howToInstall, howToLeavePlugAndPlay } from "./installAdvice";

const lastPulumiForNode20 = "3.248.0";

/** Checks which of the packages that a project needs are installed, and where. */
export function checkInstallation(project: Project): Check[] {
  const { programDirectory, runtime, usesPlugin } = project;
  return [
    ...(runtime === "nodejs" ? [checkSdk(programDirectory), ...checkModule(project)] : []),
    usesPlugin ? uncheckedPlugin(runtime) : checkPackage(project),
    checkCli(project),
  ];
}

/** Only a run of the program shows which plugin it asks for. */
function uncheckedPlugin(runtime: string): Check {
  const message = `A ${runtime} program with the native plugin does not need the npm package. Whether the plugin is installed was not checked: \`pulumi plugin ls\` lists it, unless Pulumi.yaml names its folder.`;
  return unchecked("the plugin", message);
}

function checkSdk(directory: string): Check {
  const name = "@pulumi/pulumi";
  let manifest: ReturnType<typeof manifestIn>;
  try {
    manifest = manifestIn(dirname(createRequire(join(directory, "package.json")).resolve(`${name}/package.json`)));
  } catch {
    const message = `${name} is not installed for the program in ${directory}.`;
    return wrong(name, message, howToLeavePlugAndPlay(directory) ?? `Run ${addCommand(directory, name)}`);
  }
  const { version, engines } = manifest;
  if (!version.startsWith("3.") || isOlder(version, oldestPulumi)) {
    const fix = `Install version 3 of it: ${addCommand(directory, `${name}@3`)}`;
    return wrong(name, `${name} is ${version}, but pulumi-rekey needs >=${oldestPulumi} <4.`, fix);
  }
  const { node } = process.versions;
  const [, oldestNode] = /^>=\s*([\d.]+)/.exec(engines?.node ?? "") ?? [];
  if (oldestNode === undefined || !isOlder(node, oldestNode)) return ok(name, `${name} is ${version}.`);
  const fix = `Install that Node, also in the pipeline; or, for Node 20, ${addCommand(directory, `${name}@${lastPulumiForNode20}`)}`;
  return wrong(name, `${name} ${version} needs Node >=${oldestNode}, but this Node is ${node}.`, fix);
}

function checkPackage({ directory, programDirectory }: Project): Check {
  const name = "pulumi-rekey";
  const found = installedFrom(programDirectory);
  if (found === undefined) {
    const message = `Pulumi's provider host cannot find ${name} from ${programDirectory}.`;
    return wrong(name, message, howToInstall(programDirectory));
  }
  const [other] = copiesSeenFrom(programDirectory, directory).filter((copy) => copy !== found);
  if (other === undefined) return ok(name, `${name} is ${manifestIn(found).version}, in ${found}.`);
  const both = [found, other].map((copy) => `${manifestIn(copy).version} in ${copy}`).join(", and ");
  return wrong(
    name,
    `Two copies of ${name} are installed: ${both}. A program must not use both.`,
    howToHaveOne(programDirectory),
  );
}

function checkCli({ directory }: Project): Check {
  const printed = runPulumi(directory, "version");
  if (printed && "text" in printed) return ok("pulumi CLI", `The pulumi CLI is ${printed.text.trim()}.`);
  return unchecked("pulumi CLI", "There is no pulumi CLI on PATH, so only `rekey-local` can run the program here.");
}

/** All copies of the package that a program could load, from its own folder up to that of the project. */
function copiesSeenFrom(programDirectory: string, projectDirectory: string): string[] {
  const copies = new Set<string>();
  const seen = new Set<string>();
  for (let folder = programDirectory; ; folder = dirname(folder)) {
    collect(join(folder, "node_modules"), copies, seen);
    if (folder === dirname(folder) || (copies.size > 0 && !folder.startsWith(join(projectDirectory, "/")))) {
      return [...copies];
    }
  }
}

/** Collects the copies in a folder of packages, and in the folders that those packages load from. */
function collect(folder: string, copies: Set<string>, seen: Set<string>): void {
  if (!existsSync(folder) || seen.has(realpathSync(folder))) return;
  seen.add(realpathSync(folder));
  for (const installed of packagesIn(folder)) {
    const real = realpathSync(installed);
    if (basename(installed) === "pulumi-rekey") copies.add(real);
    collect(join(real, "node_modules"), copies, seen);
    // A linked package finds its neighbours where it really is.
    if (basename(dirname(real)) === "node_modules") collect(dirname(real), copies, seen);
  }
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name.startsWith(".")) return [];
    const path = join(folder, name);
    if (name.startsWith("@")) return packagesIn(path);
    return existsSync(join(path, "package.json")) ? [path] : [];
  });
}
