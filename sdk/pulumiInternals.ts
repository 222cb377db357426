import type * as pulumi from "@pulumi/pulumi";

// Everything that this package uses of @pulumi/pulumi and that its types do not show.

/** The full type token of a resource. */
export function typeTokenOf(resource: pulumi.Resource): string | undefined {
  return (resource as { __pulumiType?: string }).__pulumiType;
}

/** The children of a resource that have been made so far. */
export function childrenOf(resource: pulumi.Resource): ReadonlySet<pulumi.Resource> {
  return (resource as { __childResources?: Set<pulumi.Resource> }).__childResources ?? new Set();
}

/** Resolves when a component's `initialize` is done, which may make children later than the constructor returns. */
export function initializationOf(component: pulumi.Resource): Promise<unknown> | undefined {
  return (component as { __data?: Promise<unknown> }).__data;
}

/** Whether an output is known, once that is settled. */
export function isKnown(output: pulumi.Output<unknown>): Promise<boolean> {
  return (output as unknown as { isKnown: Promise<boolean> }).isKnown;
}
