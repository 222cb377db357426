import { createRequire } from "node:module";

type StructModule = typeof import("google-protobuf/google/protobuf/struct_pb");
type EmptyModule = typeof import("google-protobuf/google/protobuf/empty_pb");

/**
 * The messages' base library belongs to `@pulumi/pulumi`, and must be its own copy, wherever the package manager put
 * it.
 */
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
export const structs = sdkRequire("google-protobuf/google/protobuf/struct_pb") as StructModule;
export const { Empty } = sdkRequire("google-protobuf/google/protobuf/empty_pb") as EmptyModule;
