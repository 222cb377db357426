import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { installedFrom, isOlder, manifestIn, oldestPulumi, howToInstall } from "../platform/installedPackage";
import { type Check, ok, unchecked, wrong } from "./check";
import { type Project } from "./project";
import { runPulumi } from "./stack";

/** Checks which of the packages that a project needs are installed, and where. */
export function checkInstallation(project: Project): Check[] {
  const { programDirectory, runtime, usesPlugin } = project;
  return [
    ...(runtime === "nodejs" ? [checkSdk(programDirectory)] : []),
    usesPlugin ? uncheckedPlugin(runtime) : checkPackage(programDirectory),
    checkCli(project),
  ];
}

function checkSdk(directory: string): Check {
  const name = "@pulumi/pulumi";
  let manifest: ReturnType<typeof manifestIn>;
  try {
    manifest = manifestIn(dirname(createRequire(join(directory, "package.json")).resolve(`${name}/package.json`)));
  } catch {
    return wrong(name, `${name} is not installed for the program in ${directory}.`, `Install version 3 of ${name}.`);
  }
  const { version, engines } = manifest;
  if (!version.startsWith("3.") || isOlder(version, oldestPulumi)) {
    const message = `${name} is ${version}, but pulumi-rekey needs >=${oldestPulumi} <4.`;
    return wrong(name, message, `Install version 3 of ${name}.`);
  }
  const { node } = process.versions;
  const [, oldestNode] = /^>=\s*([\d.]+)/.exec(engines?.node ?? "") ?? [];
  if (oldestNode === undefined || !isOlder(node, oldestNode)) return ok(name, `${name} is ${version}.`);
  const fix = `Install that Node, also in the pipeline; or, for Node 20, ${name} 3.248.0.`;
  return wrong(name, `${name} ${version} needs Node >=${oldestNode}, but this Node is ${node}.`, fix);
}

/** Only a run of the program shows which plugin it asks for. */
function uncheckedPlugin(runtime: string): Check {
  const message = `A ${runtime} program with the native plugin does not need the npm package. Whether the plugin is installed was not checked: \`pulumi plugin ls\` lists it, unless Pulumi.yaml names its folder.`;
  return unchecked("the plugin", message);
}

function checkPackage(programDirectory: string): Check {
  const name = "pulumi-rekey";
  const found = installedFrom(programDirectory);
  if (found !== undefined) return ok(name, `${name} is ${manifestIn(found).version}, in ${found}.`);
  const message = `Pulumi's provider host cannot find ${name} from ${programDirectory}.`;
  return wrong(name, message, howToInstall());
}

function checkCli(project: Project): Check {
  const printed = runPulumi(project, "version");
  if ("text" in printed) return ok("pulumi CLI", `The pulumi CLI is ${printed.text.trim()}.`);
  return unchecked("pulumi CLI", `The version of the pulumi CLI is unknown: ${printed.error}.`);
}
