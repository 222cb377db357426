import * as rpc from "@pulumi/pulumi/runtime/rpc";
import { struct } from "../../provider/engine/plugin/wire";
import { type Properties } from "../../provider/pulumi/values";

export { properties as fromStruct } from "../../provider/engine/plugin/wire";
export { type Properties } from "../../provider/pulumi/values";

/** Pulumi's placeholder for an unknown value. */
export const unknown = rpc.unknownValue;

/** Leaves out what is undefined, as an engine does. */
export function toStruct(properties: Properties) {
  return struct(JSON.parse(JSON.stringify(properties)) as Properties);
}

export function secret(value: unknown): Properties {
  return { [rpc.specialSigKey]: rpc.specialSecretSig, value };
}

export function isSecret(value: unknown): value is { value: unknown } {
  return rpc.isRpcSecret(value);
}

/** The properties as the engine passes them to the next call: secrets unmarked. */
export function revealed(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, rpc.unwrapRpcSecret(value)]));
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
