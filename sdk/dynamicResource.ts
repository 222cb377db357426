import * as pulumi from "@pulumi/pulumi";
import { requirePackageForHost } from "./hostPackage";
import { typeTokenOf } from "./pulumiInternals";

/** What every dynamic resource's type begins with: the plugin, and this package's module. */
const typePrefix = "pulumi-nodejs:dynamic/rekey";

/** A resource whose changes are made by the provider entry point of this package, in Pulumi's dynamic provider host. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param provider what the provider entry point calls this resource's provider. The text made of it is constant for
   * ever: a changed text would be an update, and so perhaps a reset.
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
        // Deleting sends nothing, so the engine need not load the provider for it: the package can go with its
        // resources.
        retainOnDelete: options?.retainOnDelete ?? true,
      },
    );
  }
}

/**
 * The host fails an import, and a read with `id` would save a resource without a record or credentials.
 *
 * @throws RunError that says what to do instead.
 */
function refuseImport(type: string, name: string, options: pulumi.CustomResourceOptions | undefined): void {
  const option = (["import", "id"] as const).find((one) => options?.[one] !== undefined);
  if (option === undefined) return;
  throw new pulumi.RunError(
    `${type} "${name}" cannot have the option \`${option}\`: the platform has nothing that Rekey could import. Nothing was sent. Remove the option; a PasswordRotation with \`initialRotation: false\` adopts its database without a reset.`,
  );
}

/** The full type token of a resource of this package. */
export function typeOf(type: string): string {
  return `${typePrefix}:${type}`;
}

/** Whether an object is a resource of this package, of the given type; also one made by another copy of it. */
export function isOfType(type: string, object: unknown): boolean {
  return pulumi.CustomResource.isInstance(object) && typeTokenOf(object) === typeOf(type);
}
