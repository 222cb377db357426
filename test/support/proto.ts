import { createRequire } from "node:module";

type StructModule = typeof import("google-protobuf/google/protobuf/struct_pb");
type EmptyModule = typeof import("google-protobuf/google/protobuf/empty_pb");

/**
 * The base library of the messages must be the copy that `@pulumi/pulumi` uses, wherever the package manager installed
 * it.
 */
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
export const structs = sdkRequire("google-protobuf/google/protobuf/struct_pb") as StructModule;
export const { Empty } = sdkRequire("google-protobuf/google/protobuf/empty_pb") as EmptyModule;
