import { createRequire } from "node:module";
import type { Output, Resource, ResourceTransformation, runtime } from "@pulumi/pulumi";

/*
 * Internals that this package uses, although neither Pulumi nor Node promises to keep them: the list to go through for
 * each new version of `@pulumi/pulumi`. Comments name the oldest supported version and the newest one in which it was
 * seen. `pulumiInternals.test.ts` fails by the name of what the installed SDK no longer has. The provider text in the
 * input `__provider` is tested by `test/sdk/registration.test.ts`.
 *
 * It loads nothing of the SDK: the provider's entry needs this file, and so does an unsupported Node.
 */

type GrpcModule = typeof import("@grpc/grpc-js");
type EmptyModule = typeof import("google-protobuf/google/protobuf/empty_pb");
type StructModule = typeof import("google-protobuf/google/protobuf/struct_pb");

/**
 * `__pulumiRunError`: makes an error a `RunError` to every copy of the SDK, which ends a program with only its message.
 * Seen in 3.139.0 and 3.276.0.
 */
export function markAsRunError<E extends Error>(error: E): E {
  return Object.defineProperty(error, "__pulumiRunError", { value: true });
}

/**
 * `isConfigSecret`: whether the stack's configuration has a setting as a secret. The SDK exports it without a type.
 * Seen in 3.139.0 and 3.276.0.
 */
export function isConfigSecret(sdk: typeof runtime, key: string): boolean {
  return (sdk as unknown as { isConfigSecret(key: string): boolean }).isConfigSecret(key);
}

/** `Output.isKnown`: resolves to false for what is unknown in a preview. Seen in 3.139.0 and 3.276.0. */
export function isKnown(output: Output<unknown>): Promise<boolean> {
  return (output as unknown as { readonly isKnown: Promise<boolean> }).isKnown;
}

/**
 * `mocks`: a property of the monitor of `setMocks`. Unlike its class, it also shows that of another copy of the SDK.
 * Seen in 3.139.0 and 3.276.0.
 *
 * @param monitor what `pulumi.runtime.getMonitor` returns
 */
export function isMocked(monitor: object | undefined): boolean {
  return monitor !== undefined && Object.hasOwn(monitor, "mocks");
}

/**
 * `__data`: resolves when `initialize` of a component is done, which may create children after the constructor returns.
 * Seen in 3.139.0 and 3.276.0.
 */
export function initializationOf(component: Resource): Promise<unknown> | undefined {
  return (component as { readonly __data?: Promise<unknown> }).__data;
}

/** `__childResources`: undefined without a child. Seen in 3.139.0 and 3.276.0. */
export function childrenOf(component: Resource): Resource[] {
  const { __childResources: children = [] } = component as {
    readonly __childResources?: Iterable<Resource>;
  };
  return [...children];
}

/**
 * `__transformations`: the list that a resource goes through, its own ones before those of its parents and the stack.
 * Seen in 3.139.0 and 3.276.0.
 *
 * @returns the first transformation of a resource, which makes this one the last
 */
export function lastTransformation(last: ResourceTransformation): ResourceTransformation {
  return ({ resource }) => {
    (resource as unknown as { __transformations: ResourceTransformation[] }).__transformations.push(
      last,
    );
    return undefined;
  };
}

/**
 * `_getActiveHandles`: what keeps this process running. Nothing else finds the server of Pulumi's dynamic provider
 * host. Seen in Node 20.20; a future Node may remove it (DEP0161).
 */
export function activeHandles(): unknown[] {
  const { _getActiveHandles: getHandles } = process as { _getActiveHandles?: () => unknown[] };
  return getHandles?.() ?? [];
}

/**
 * The last argument: the engine's address, after switches for logs; undefined outside a host. Seen in Pulumi's dynamic
 * provider host of 3.139.0 and 3.276.0, and of the plugin with the pulumi CLI 3.274.1.
 */
export function engineAddress(): string | undefined {
  return process.argv
    .slice(-1)
    .find((argument) => /^(\[[0-9a-fA-F:]+\]|[\w.-]+):\d+$/.test(argument));
}

/**
 * The copies of grpc-js and google-protobuf of `@pulumi/pulumi`, wherever they are installed: its messages and services
 * accept no others. Seen in 3.139.0 and 3.276.0, which depend on both. The plugin alone loads them.
 */
export function librariesOfSdk() {
  const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
  return {
    grpc: sdkRequire("@grpc/grpc-js") as GrpcModule,
    empty: sdkRequire("google-protobuf/google/protobuf/empty_pb") as EmptyModule,
    structs: sdkRequire("google-protobuf/google/protobuf/struct_pb") as StructModule,
  };
}
