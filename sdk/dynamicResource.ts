import { setImmediate as endOfTurn } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { packageVersion } from "../provider/domain/ownPackage";
import { howToInstall, installedFrom, manifestIn } from "../provider/engine/installedPackage";
import { isKnown } from "../provider/engine/pulumiInternals";
import { resourceOf } from "../provider/engine/resources";
import { type ErrorCode, resetsAreSaved, withCode } from "../provider/domain/errors";
import { type Properties } from "../provider/pulumi/values";
import { isSet } from "../provider/records/fields";
import { secretOutputsOf } from "../provider/resource/resource";
import { perRun, runError, settingsOfProgram, warnOfSettings } from "./program";

/**
 * A resource that this package's provider manages in Pulumi's dynamic provider host. Renaming one without `aliases`
 * replaces it, and so resets again. Two resources for the same secret or key both fail before they change it; one whose
 * id is known only after a change of the other fails alone.
 *
 * @throws RekeyError if the host cannot find this package, and for the options `import` and `id`
 */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param type names the resource, and its provider in `pulumi-rekey/provider`. It never changes: that would change
   * every such resource of every stack
   */
  protected constructor(
    type: string,
    name: string,
    args: object,
    options: pulumi.CustomResourceOptions | undefined,
  ) {
    requirePackageForHost();
    warnOfSettings();
    // Pulumi's host cannot import, and a read with `id` would save a resource without a record or credentials.
    const why =
      "a dynamic resource cannot be imported. A rotation with `initialRotation: false` adopts its secret without a reset, and a FlowControlLimits sends only what differs from the platform";
    refuseOptions(resourceTitle(type, name), options, {
      names: ["import", "id"],
      code: "REKEY_IMPORT_UNSUPPORTED",
      why,
    });
    const resource = resourceOf(type);
    // Pulumi creates only outputs whose names are among the inputs, even undefined.
    const outputs = Object.fromEntries(
      Object.keys(resource.outputs).map((output) => [output, undefined]),
    );
    const inputs: pulumi.Inputs = { ...outputs, ...args };
    for (const input of resource.secretInputs ?? []) {
      // Undefined would be passed on as a null that is set.
      if (isSet(inputs[input])) inputs[input] = pulumi.secret(inputs[input]);
    }
    super(
      `pulumi-nodejs:dynamic/rekey:${type}`,
      name,
      { ...inputs, __provider: providerText(type, name, inputs) },
      {
        ...options,
        additionalSecretOutputs: [
          ...secretOutputsOf(resource),
          ...(options?.additionalSecretOutputs ?? []),
        ],
        // With true, the engine does not need the provider for a removal, so the package can be removed together with
        // its resources.
        retainOnDelete: options?.retainOnDelete ?? resource.remove === undefined,
      },
    );
  }

  /** True if an object is a resource of this class. */
  static override isInstance<T extends pulumi.CustomResource>(
    this: abstract new (...args: never[]) => T,
    object: unknown,
  ): object is T {
    return object instanceof this;
  }
}

/** The registry that the resources of a run share. */
interface Registry {
  /** Which resource has a secret or a key: `PasswordRotation "sessions"`, by `database "a"`. */
  readonly owners: Map<string, string>;
  /** Why no resource of the program may be changed, for example which two have the same. */
  conflict?: string;
}

/** One for all copies of this package that a program loads, of any version. */
const shared = globalThis as { [key: symbol]: WeakMap<object, Registry> | undefined };
const registries = (shared[Symbol.for("pulumi-rekey.registries")] ??= new WeakMap<
  object,
  Registry
>());
const registryOfRun = perRun((): Registry => ({ owners: new Map() }), registries);

/**
 * Ends a program that has a mistake in its resources. Those that it has constructed before, in the same turn, are
 * refused, too: Pulumi would register them nevertheless.
 */
function refuseProgram(code: ErrorCode, text: string): never {
  registryOfRun().conflict ??= withCode(text, code);
  throw runError(code, text);
}

/**
 * The input that names the provider. If the program has a mistake, such as two resources with the same secret or key,
 * it is a provider that refuses each resource: one that is never registered would have outputs that never resolve, for
 * which a program of the Automation API would wait permanently.
 */
async function providerText(
  type: string,
  name: string,
  inputs: Readonly<Record<string, unknown>>,
): Promise<string> {
  const resource = resourceOf(type);
  const { idInput, onlyId } = resource;
  const of = resourceTitle(type, name);
  const registry = registryOfRun();
  const { databases, admin, access, [idInput]: id } = inputs;
  const given = pulumi.output({ [idInput]: id, databases, admin, access });
  const owned =
    (await isKnown(given)) &&
    (await new Promise<Properties>((resolve) => void given.apply(resolve)));
  // The provider reports an id that is missing. One that is unknown in a preview is compared in the `up`.
  const isComparable = owned && (onlyId !== undefined || isSet(owned[idInput]));
  const claims = isComparable ? resource.claims?.(owned, settingsOfProgram()) : [];
  for (const { subject, code, why } of claims ?? []) {
    const owner = registry.owners.get(subject);
    registry.owners.set(subject, owner ?? of);
    if (owner === undefined) continue;
    registry.conflict ??= withCode(
      `${of}: ${subject} already belongs to ${owner}: ${why} ${resetsAreSaved}`,
      code,
    );
  }
  // The program constructs all resources of its first turn before one of them is registered.
  await endOfTurn();
  if (registry.conflict !== undefined) {
    const failure = JSON.stringify({ property: "", reason: registry.conflict });
    return `exports.handler=()=>({check:async(olds,inputs)=>({inputs,failures:[${failure}]})})`;
  }
  // This text must never change: a changed text would be an update, and so possibly a reset.
  return `exports.handler=()=>require("pulumi-rekey/provider").${type}`;
}

/** A resource of a program, in messages: `PasswordRotation "sessions"` */
export function resourceTitle(type: string, name: string): string {
  return `${type} ${JSON.stringify(name)}`;
}

/** Options that a resource does not support. */
interface UnsupportedOptions {
  readonly names: readonly (keyof pulumi.CustomResourceOptions)[];
  readonly code: ErrorCode;
  readonly why: string;
}

/** @throws RekeyError for an option that is set */
export function refuseOptions(
  of: string,
  options: pulumi.CustomResourceOptions = {},
  { names, code, why }: UnsupportedOptions,
): void {
  for (const option of names) {
    const value: unknown = options[option];
    if (!value || (Array.isArray(value) && value.length === 0)) continue;
    const text = `${of} does not support the option \`${option}\`: ${why}. No request was made. Remove the option.`;
    refuseProgram(code, text);
  }
}

/**
 * @param access which the provider would refuse only after the rotation
 * @throws RekeyError for a whole resource, which JavaScript lets pass
 */
export function refuseResource(of: string, access: unknown): void {
  if (!pulumi.Resource.isInstance(access)) return;
  const text = `${of}: access is a resource, and must be its output: write \`rotation.access\` instead of \`rotation\`. No request was made.`;
  refuseProgram("REKEY_INPUT_INVALID", text);
}

/**
 * Makes sure that Pulumi's provider host, which searches from the program's working directory upwards, finds this
 * version of the package.
 *
 * @throws RekeyError
 */
const requirePackageForHost = perRun((): void => {
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw runError(
      "REKEY_NOT_INSTALLED",
      `Pulumi's provider host cannot find pulumi-rekey from ${directory}. No request was made.\n` +
        howToInstall(),
    );
  }
  const { version: hosts } = manifestIn(found);
  if (hosts === packageVersion()) return;
  throw runError(
    "REKEY_OTHER_VERSION",
    `The program uses pulumi-rekey ${packageVersion()}, but Pulumi's provider host would use ${hosts}, in ${found}. No request was made.\n` +
      `Install the same version. ${howToInstall()} If a bundler has packed pulumi-rekey into the program, bundle it again.`,
  );
});
