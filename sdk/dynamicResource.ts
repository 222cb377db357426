import * as pulumi from "@pulumi/pulumi";
import { version } from "@pulumi/pulumi/version";
import { howToInstall } from "../provider/doctor/installAdvice";
import { resources } from "../provider/engine/resources";
import { installedFrom, isOlder, manifestIn, oldestPulumi, packageVersion } from "../provider/platform/version";
import { isSet } from "../provider/records/fields";
import { type AnyResource, secretOutputsOf } from "../provider/resource";
import { warnOfSettings } from "./platform";
import { claim, endOfTurn, isLate, perRun, refusal, runError } from "./program";
import { isKnown, typeTokenOf } from "./pulumiInternals";

/** A resource that this package's provider manages in Pulumi's dynamic provider host. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param type names the resource, and in camelCase its provider in `pulumi-rekey/provider`. It never changes: that
   * would change every such resource of every stack
   * @param claiming the arguments that say what no other resource of the program may have. Default: the id
   */
  protected constructor(
    type: string,
    name: string,
    args: object,
    options: pulumi.CustomResourceOptions | undefined,
    claiming?: readonly string[],
  ) {
    requirePackageForHost();
    warnOfSettings();
    refuseImport(type, name, options);
    const resource = (resources as Readonly<Record<string, AnyResource>>)[type] as AnyResource;
    // Pulumi creates only outputs whose names are among the inputs, even undefined.
    const outputs = Object.fromEntries(Object.keys(resource.outputs).map((output) => [output, undefined]));
    const inputs: pulumi.Inputs = { ...outputs, ...args };
    const claimed = (claiming ?? [resource.idInput]).map((input) => [input, inputs[input]] as const);
    const __provider = providerText(type, claimIn(nameOf(type, name), resource, Object.fromEntries(claimed)));
    super(
      tokenOf(type),
      name,
      { ...inputs, __provider },
      {
        ...options,
        additionalSecretOutputs: [...secretOutputsOf(resource), ...(options?.additionalSecretOutputs ?? [])],
        // With true, the engine does not need the provider for a removal, so the package can be removed together with
        // its resources.
        retainOnDelete: options?.retainOnDelete ?? resource.remove === undefined,
      },
    );
  }
}

/**
 * Claims what no other resource of the program may have. If it is there, an error ends the constructor: of a resource
 * that is never registered, a program of the Automation API would wait for the outputs permanently.
 *
 * @param claiming the inputs that say what it is; in a preview, they may be unknown
 */
function claimIn(of: string, resource: AnyResource, claiming: pulumi.Inputs): Promise<void> | undefined {
  const claimAll = (inputs: Readonly<Record<string, unknown>>) => {
    // The provider reports an id that is missing.
    if (resource.onlyId !== undefined || isSet(inputs[resource.idInput])) claim(of, resource.claims?.(inputs) ?? []);
  };
  if (!hasLate(claiming)) return void claimAll(claiming);
  const known = pulumi.output(claiming);
  return isKnown(known).then(async (isThere) => (isThere ? claimAll(await valueOf(known)) : undefined));
}

/** Whether some part of the inputs is not there yet. */
function hasLate(input: unknown): boolean {
  if (isLate(input)) return true;
  return typeof input === "object" && input !== null && Object.values(input).some(hasLate);
}

/**
 * The input that names the provider. The resource waits for it, and so is registered only if the program has no error.
 *
 * @param claimed rejected if another resource has what this one claims
 */
async function providerText(type: string, claimed: Promise<void> | undefined): Promise<string> {
  await claimed;
  await endOfTurn();
  // This text must never change: a changed text would be an update, and so possibly a reset.
  return `exports.handler=()=>require("pulumi-rekey/provider").${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
}

/** The value of an output that is known. */
function valueOf<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => void output.apply(resolve));
}

/** A resource of a program, in messages: `PasswordRotation "sessions"` */
export function nameOf(type: string, name: string): string {
  return `${type} ${JSON.stringify(name)}`;
}

/** The type token of a dynamic resource: the plugin, this package's module, and the type. */
function tokenOf(type: string): string {
  return `pulumi-nodejs:dynamic/rekey:${type}`;
}

/** Whether an object is a resource of this package and of the given type, even from another copy of the package. */
export function isOfType(type: string, object: unknown): boolean {
  return pulumi.CustomResource.isInstance(object) && typeTokenOf(object) === tokenOf(type);
}

/**
 * Pulumi's host cannot import, and a read with `id` would save a resource without a record or credentials.
 *
 * @throws RekeyError
 */
function refuseImport(type: string, name: string, options: pulumi.CustomResourceOptions | undefined): void {
  const option = (["import", "id"] as const).find((one) => options?.[one] !== undefined);
  if (option === undefined) return;
  throw refusal(
    "REKEY_IMPORT_UNSUPPORTED",
    `${nameOf(type, name)} does not support the option \`${option}\`: a dynamic resource cannot be imported. Nothing was sent. Remove the option; a rotation with \`initialRotation: false\` adopts its secret without a reset, and a FlowControlLimits sends only what differs from the platform.`,
  );
}

/**
 * Makes sure that Pulumi's provider host, which searches from the program's working directory upwards, finds this
 * version of the package, and passes the stack's configuration on. Otherwise the passwords of another platform could be
 * reset.
 *
 * @throws RekeyError
 */
const requirePackageForHost = perRun((): true => {
  if (isOlder(version, oldestPulumi)) {
    throw runError(
      "REKEY_PULUMI_TOO_OLD",
      `The program uses @pulumi/pulumi ${version}, but pulumi-rekey needs ${oldestPulumi} or later: older versions do not pass the stack's configuration to the provider. Nothing was sent. Update @pulumi/pulumi in the package.json of the program, then run again.`,
    );
  }
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw runError(
      "REKEY_NOT_INSTALLED",
      `Pulumi's provider host cannot find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        howToInstall(directory),
    );
  }
  const { version: hosts } = manifestIn(found);
  if (hosts === packageVersion()) return true;
  throw runError(
    "REKEY_OTHER_VERSION",
    `The program uses pulumi-rekey ${packageVersion()}, but Pulumi's provider host would use ${hosts}, in ${found}. Nothing was sent.\n` +
      `Install the same version. ${howToInstall(directory)} If a bundler has packed pulumi-rekey into the program, bundle it again.`,
  );
});
