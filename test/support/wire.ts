import { createRequire } from "node:module";
import type { JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";

type StructModule = typeof import("google-protobuf/google/protobuf/struct_pb");

/** Properties of a resource as they are sent: secrets are marked objects. */
export type Properties = Record<string, unknown>;

/** Pulumi's placeholder for an unknown value. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const signature = "4dabf18193072939515e22adb298388d";
const secretMark = "1b47061264138c4ac30d75fd1eb44270";
/** Of an output in the arguments of a component; its field `secret` is true if it is one. */
const outputMark = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** The messages' base library must be the one that `@pulumi/pulumi` uses. */
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
const structs = sdkRequire("google-protobuf/google/protobuf/struct_pb") as StructModule;

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

/** A reference to a resource, as a program passes it to a component. */
export function reference(urn: string): Properties {
  return { [signature]: "5cf8f73096256a8f31e491e813e4eb8e", urn, packageVersion: "" };
}

export function isSecret(value: unknown): value is { value: unknown } {
  return hasMark(value, secretMark);
}

function hasMark(value: unknown, mark: string): value is Properties {
  return typeof value === "object" && value !== null && (value as Properties)[signature] === mark;
}

/** The properties as the engine passes them to the next call: secrets unmarked. */
export function revealed(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, isSecret(value) ? value.value : value]),
  );
}

/** What the engine shows and saves unencrypted: a value with everything that is marked as a secret replaced. */
export function withoutSecrets(value: object): unknown {
  const isHidden = (inner: unknown) => isSecret(inner) || (hasMark(inner, outputMark) && inner["secret"] === true);
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => (isHidden(inner) ? "[secret]" : inner)));
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
