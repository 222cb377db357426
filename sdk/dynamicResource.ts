import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { version } from "@pulumi/pulumi/version";
import { howToHaveOne, howToInstall } from "../provider/doctor/installAdvice";
import { installedFrom, isOlder, manifestIn, oldestPulumi, packageVersion } from "../provider/platform/version";
import { warnOfSettings } from "./platform";
import { perRun, refusal, runError } from "./program";
import { typeTokenOf } from "./pulumiInternals";

/** A type of resource. */
export interface ResourceType {
  /**
   * Name of the type, and in camelCase of its provider in `pulumi-rekey/provider`. Changing it would change every such
   * resource of every stack.
   */
  readonly type: string;
  /** Outputs that the program can read. Pulumi creates only those whose names are among the inputs, even undefined. */
  readonly outputs: readonly string[];
  readonly secretOutputs: readonly string[];
  /**
   * The default of the option. With true, the engine does not need the provider for a removal, so the package can be
   * removed together with its resources. Default: true.
   */
  readonly retainOnDelete?: boolean;
}

/** A resource that this package's provider manages in Pulumi's dynamic provider host. */
export abstract class DynamicResource extends pulumi.CustomResource {
  protected constructor(
    resourceType: ResourceType,
    name: string,
    inputs: pulumi.Inputs,
    options: pulumi.CustomResourceOptions | undefined,
  ) {
    const { type, outputs, secretOutputs, retainOnDelete = true } = resourceType;
    requirePackageForHost();
    warnOfSettings();
    refuseImport(type, name, options);
    const undefinedOutputs = Object.fromEntries(outputs.map((output) => [output, undefined]));
    const provider = `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
    // This text must never change: a changed text would be an update, and so possibly a reset.
    const __provider = `exports.handler=()=>require("pulumi-rekey/provider").${provider}`;
    super(
      tokenOf(resourceType),
      name,
      { ...undefinedOutputs, ...inputs, __provider },
      {
        ...options,
        additionalSecretOutputs: [...secretOutputs, ...(options?.additionalSecretOutputs ?? [])],
        retainOnDelete: options?.retainOnDelete ?? retainOnDelete,
      },
    );
  }
}

/** The type token of a dynamic resource: the plugin, this package's module, and the type. */
function tokenOf({ type }: Pick<ResourceType, "type">): string {
  return `pulumi-nodejs:dynamic/rekey:${type}`;
}

/** The URN of a resource before it is registered. */
export function urnOf(type: ResourceType, name: string, parent: pulumi.Resource | undefined): Promise<string> {
  return valueOnly(pulumi.createUrn(name, tokenOf(type), parent));
}

/**
 * A URN without its dependencies. A URN depends on that of the parent, and an output of a component waits for all of
 * its children: two children would wait for each other permanently.
 */
export function valueOnly(urn: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => void urn.apply(resolve));
}

/** Whether an object is a resource of this package and of the given type, even from another copy of the package. */
export function isOfType(type: Pick<ResourceType, "type">, object: unknown): boolean {
  return pulumi.CustomResource.isInstance(object) && typeTokenOf(object) === tokenOf(type);
}

/**
 * Pulumi's host cannot import, and a read with `id` would save a resource without a record or credentials.
 *
 * @throws RekeyError
 */
export function refuseImport(type: string, name: string, options: pulumi.CustomResourceOptions | undefined): void {
  const option = (["import", "id"] as const).find((one) => options?.[one] !== undefined);
  if (option === undefined) return;
  throw refusal(
    "REKEY_IMPORT_UNSUPPORTED",
    `${type} "${name}" does not support the option \`${option}\`: a dynamic resource cannot be imported. Nothing was sent. Remove the option; a PasswordRotation with \`initialRotation: false\` adopts its database without a reset, and a FlowControlLimits sends only what differs from the platform.`,
  );
}

/**
 * Makes sure that Pulumi's provider host, which searches from the program's working directory upwards, finds this copy
 * of the package, or the same version if a bundler has packed this copy into the program.
 *
 * @returns the folder that the host uses
 * @throws RekeyError
 */
export const requirePackageForHost = perRun((): string => {
  requirePulumi();
  const directory = process.cwd();
  const found = installedFrom(directory);
  const own = typeof thisCopy === "string" ? thisCopy : undefined;
  if (found === undefined) {
    throw runError(
      "REKEY_NOT_INSTALLED",
      `Pulumi's provider host cannot find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        howToInstall(directory),
    );
  }
  if (own !== undefined && own !== found) {
    throw runError(
      "REKEY_INSTALLED_TWICE",
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        howToHaveOne(directory),
    );
  }
  const hostVersion = manifestIn(found).version;
  if (own === undefined && hostVersion !== packageVersion()) {
    throw runError(
      "REKEY_OTHER_VERSION",
      `A bundler has packed pulumi-rekey@${packageVersion()} into the program, but Pulumi's provider host would use ${hostVersion}, in ${found}. Nothing was sent.\n` +
        `Bundle the program again, or install the same version. ${howToInstall(directory)}`,
    );
  }
  if (copyOfRun() !== thisCopy) {
    throw runError(
      "REKEY_INSTALLED_TWICE",
      `The program uses two copies of pulumi-rekey, at least one of which a bundler has packed into it. Nothing was sent.\n` +
        `Make pulumi-rekey external in the configuration of the bundler, so that all parts of the program use ${found}.`,
    );
  }
  return found;
});

/** The folder of this copy of the package; undefined if a bundler has packed it into a program. */
function ownFolder(): string | undefined {
  // Bundles in the format of ES modules have no __dirname.
  if (typeof __dirname !== "string") return undefined;
  const folder = join(__dirname, "..", "..");
  const isPackage = existsSync(join(folder, "package.json")) && manifestIn(folder).name === "pulumi-rekey";
  return isPackage ? realpathSync(folder) : undefined;
}

/** Identifies this copy of the package among those that a program has loaded. */
const thisCopy = ownFolder() ?? Symbol("bundled");

/** Where all copies, of any version, keep which of them makes the resources of a run. */
const shared = globalThis as { [key: symbol]: WeakMap<object, typeof thisCopy> | undefined };
const copiesByRun = (shared[Symbol.for("pulumi-rekey.copyOfRun")] ??= new WeakMap<object, typeof thisCopy>());
const copyOfRun = perRun(() => thisCopy, copiesByRun);

/**
 * Makes sure that Pulumi's provider host passes the stack's configuration on. Otherwise the passwords of another
 * platform could be reset.
 *
 * @throws RekeyError
 */
function requirePulumi(): void {
  if (!isOlder(version, oldestPulumi)) return;
  throw runError(
    "REKEY_PULUMI_TOO_OLD",
    `The program uses @pulumi/pulumi ${version}, but pulumi-rekey needs ${oldestPulumi} or later: older versions do not pass the stack's configuration to the provider. Nothing was sent. Update @pulumi/pulumi in the package.json of the program, then run again.`,
  );
}
