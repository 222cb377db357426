import * as pulumi from "@pulumi/pulumi";

// Everything in @pulumi/pulumi that this package uses although its types do not declare it.

/** The children of a resource that exist so far. */
export function childrenOf(resource: pulumi.Resource): ReadonlySet<pulumi.Resource> {
  return (resource as { __childResources?: Set<pulumi.Resource> }).__childResources ?? new Set();
}

/** Resolves when a component's `initialize` is done, which may create children after the constructor returns. */
export function initializationOf(component: pulumi.Resource): Promise<unknown> | undefined {
  return (component as { __data?: Promise<unknown> }).__data;
}

/** Whether an output is known. */
export function isKnown(output: pulumi.Output<unknown>): Promise<boolean> {
  return (output as unknown as { isKnown: Promise<boolean> }).isKnown;
}

/** Makes an error a `RunError` to Pulumi, which ends a program with only its message. */
export function markRunError<E extends Error>(error: E): E {
  return Object.defineProperty(error, "__pulumiRunError", { value: true });
}

/** Whether a key of the stack's configuration is encrypted. */
export function isConfigSecret(key: string): boolean {
  return (pulumi.runtime as unknown as { isConfigSecret(key: string): boolean }).isConfigSecret(key);
}

/** Whether the engine is that of `pulumi.runtime.setMocks`, also of another copy of @pulumi/pulumi. */
export function isMocked(): boolean {
  const monitor: object | undefined = pulumi.runtime.getMonitor();
  return monitor !== undefined && Object.hasOwn(monitor, "mocks");
}
