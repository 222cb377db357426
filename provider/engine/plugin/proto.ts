import { createRequire } from "node:module";
import type { JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type Properties } from "../../records/properties";

type StructModule = typeof import("google-protobuf/google/protobuf/struct_pb");
type EmptyModule = typeof import("google-protobuf/google/protobuf/empty_pb");
type AnyModule = typeof import("google-protobuf/google/protobuf/any_pb");

/** The libraries under the messages must be the copies that `@pulumi/pulumi` uses, wherever they are installed. */
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
export const grpc = sdkRequire("@grpc/grpc-js") as typeof import("@grpc/grpc-js");
export const { Empty } = sdkRequire("google-protobuf/google/protobuf/empty_pb") as EmptyModule;
export const { Any } = sdkRequire("google-protobuf/google/protobuf/any_pb") as AnyModule;
const structs = sdkRequire("google-protobuf/google/protobuf/struct_pb") as StructModule;

/** Saved states and credentials of a fleet can be larger than gRPC's usual 4 MB. */
export const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** Values for a message. They must contain nothing undefined. */
export function struct(values: Properties): Struct {
  return structs.Struct.fromJavaScript(values as Record<string, JavaScriptValue>);
}

/** Values of a message: secrets and unknown values keep their marks. */
export function properties(values: Struct | undefined): Properties {
  return values?.toJavaScript() ?? {};
}
