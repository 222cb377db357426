import * as pulumi from "@pulumi/pulumi";
import { requirePackageForHost } from "./hostPackage";
import { typeTokenOf } from "./pulumiInternals";
import { refusal } from "./refusal";

/** The prefix of the type token of each dynamic resource: the plugin, and this package's module. */
const typePrefix = "pulumi-nodejs:dynamic/rekey";

/** A resource that this package's provider manages in Pulumi's dynamic provider host. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param provider name of the resource's provider in `pulumi-rekey/provider`. The text made of it must never change:
   * a changed text would be an update, and so possibly a reset.
   */
  protected constructor(
    type: string,
    provider: string,
    name: string,
    properties: pulumi.Inputs,
    secretOutputs: readonly string[],
    options: pulumi.CustomResourceOptions | undefined,
  ) {
    requirePackageForHost();
    refuseImport(type, name, options);
    const __provider = `exports.handler=()=>require("pulumi-rekey/provider").${provider}`;
    super(
      typeOf(type),
      name,
      { ...properties, __provider },
      {
        ...options,
        additionalSecretOutputs: [...secretOutputs, ...(options?.additionalSecretOutputs ?? [])],
        // Deleting sends nothing, so the engine does not need the provider: the package can be removed together with
        // its resources.
        retainOnDelete: options?.retainOnDelete ?? true,
      },
    );
  }
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
    `${type} "${name}" does not support the option \`${option}\`: the platform has nothing to import. Nothing was sent. Remove the option; a PasswordRotation with \`initialRotation: false\` adopts its database without a reset.`,
  );
}

/** The full type token of a resource of this package. */
export function typeOf(type: string): string {
  return `${typePrefix}:${type}`;
}

/** Whether an object is a resource of this package and of the given type, even from another copy of the package. */
export function isOfType(type: string, object: unknown): boolean {
  return pulumi.CustomResource.isInstance(object) && typeTokenOf(object) === typeOf(type);
}
