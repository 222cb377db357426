import { createRequire } from "node:module";
import type { JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";

// The base library of the messages must be the copy that `@pulumi/pulumi` uses, wherever it is installed.
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
export const structs = sdkRequire(
  "google-protobuf/google/protobuf/struct_pb",
) as typeof import("google-protobuf/google/protobuf/struct_pb");
export const { Empty } = sdkRequire(
  "google-protobuf/google/protobuf/empty_pb",
) as typeof import("google-protobuf/google/protobuf/empty_pb");

/** Properties of a resource as they are sent: secrets are marked objects. */
export type Properties = Record<string, unknown>;

/** Pulumi's placeholder for an unknown value. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const signature = "4dabf18193072939515e22adb298388d";
const secretMark = "1b47061264138c4ac30d75fd1eb44270";

/** Leaves out what is undefined, as an engine does. */
export function toStruct(properties: Properties): Struct {
  const plain = JSON.parse(JSON.stringify(properties)) as Record<string, JavaScriptValue>;
  return structs.Struct.fromJavaScript(plain);
}

export function fromStruct(struct: Struct | undefined): Properties {
  return struct?.toJavaScript() ?? {};
}

export function secret(value: unknown): Properties {
  return { [signature]: secretMark, value };
}

export function isSecret(value: unknown): value is { value: unknown } {
  return typeof value === "object" && value !== null && (value as Properties)[signature] === secretMark;
}

/** The properties as the engine passes them to the next call: secrets unmarked. */
export function revealed(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isSecret(value) ? value.value : value]),
  );
}

/** What the engine shows and saves unencrypted: a value with everything that is marked as a secret replaced. */
export function withoutSecrets(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => (isSecret(inner) ? "[secret]" : inner)));
}

/** Names of the properties that are marked as secrets, sorted. */
export function secretNames(properties: Properties): string[] {
  return Object.keys(properties)
    .filter((name) => isSecret(properties[name]))
    .sort();
}

/** The URN of a resource of the native provider. */
export function urnOf(type: string, name = "it"): string {
  return `urn:pulumi:test::project::rekey:index:${type}::${name}`;
}

export const defaultProvider = "urn:pulumi:test::project::pulumi:providers:rekey::default";
export const explicitProvider = "urn:pulumi:test::project::pulumi:providers:rekey::second";
