import { isDeepStrictEqual } from "node:util";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { EngineError, UnsupportedError } from "./errors";
import { structs } from "./proto";

/**
 * The value of a property, in the format of the protocol: secrets and resource references are objects with a signature,
 * and an unknown value is a reserved text.
 */
export type PropertyValue = null | boolean | number | string | PropertyValue[] | { [key: string]: PropertyValue };
export type PropertyMap = Record<string, PropertyValue>;

/** The value of a property that is unknown in a preview. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const signature = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
const assetSignatures: unknown[] = ["c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"];

export function secret(value: PropertyValue): PropertyMap {
  return { [signature]: secretSignature, value };
}

export function isList(value: PropertyValue | undefined): value is PropertyValue[] {
  return Array.isArray(value);
}

function isMap(value: PropertyValue | undefined): value is PropertyMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSecret(value: PropertyValue | undefined): value is PropertyMap & { value: PropertyValue } {
  return isMap(value) && value[signature] === secretSignature;
}

/** Whether a value is an object but not a secret. */
export function isObject(value: PropertyValue | undefined): value is PropertyMap {
  return isMap(value) && !isSecret(value);
}

/**
 * A copy of a value in which `change` has replaced parts. It is called with the value and, if it returns it unchanged,
 * with its parts.
 */
export function mapParts<T extends PropertyValue>(value: T, change: (part: PropertyValue) => PropertyValue): T;
export function mapParts(value: PropertyValue, change: (part: PropertyValue) => PropertyValue): PropertyValue {
  const changed = change(value);
  if (changed !== value || typeof value !== "object" || value === null) return changed;
  if (isList(value)) return value.map((item) => mapParts(item, change));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapParts(item, change)]));
}

function somePart(value: PropertyValue, test: (part: PropertyValue) => boolean): boolean {
  if (test(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((item) => somePart(item, test));
}

export function containsSecret(value: PropertyValue): boolean {
  return somePart(value, isSecret);
}

export function containsUnknown(value: PropertyValue): boolean {
  return somePart(value, (part) => part === unknown);
}

/** Reads properties from the protocol. */
export function fromStruct(struct: Struct | undefined): PropertyMap {
  const values = struct?.toJavaScript() ?? {};
  somePart(values, (part) => {
    if (isSecret(part) && !("value" in part)) throw new EngineError("malformed secret: it has no value");
    if (isMap(part) && assetSignatures.includes(part[signature])) throw new UnsupportedError("an asset or archive");
    return false;
  });
  return values;
}

/** Writes properties for the protocol. */
export function toStruct(values: PropertyMap): Struct {
  return structs.Struct.fromJavaScript(values);
}

/** Writes properties for a provider, which gets secrets in plain text and resource references as ids. */
export function toProvider(values: PropertyMap): Struct {
  const isReference = (part: PropertyValue): part is PropertyMap =>
    isMap(part) && part[signature] === resourceSignature;
  return toStruct(mapParts(reveal(values), (part) => (isReference(part) ? (part.id ?? part.urn ?? null) : part)));
}

/** The value with secrets in plain text. */
export function reveal<T extends PropertyValue>(value: T): T {
  return mapParts(value, (part) => (isSecret(part) ? reveal(part.value) : part));
}

/** The value for display, with placeholders for secret and unknown parts. */
export function masked(value: PropertyValue): PropertyValue {
  return mapParts(value, (part) => (isSecret(part) ? "[secret]" : part === unknown ? "[unknown]" : part));
}

/**
 * Marks the parts of `outs` that are secret in `ins`, because providers get secrets in plain text. A secret in an
 * object marks only that property; a secret in a list marks the whole list, because a provider may change the order.
 */
export function annotateSecrets(outs: PropertyMap, ins: PropertyMap): PropertyMap {
  const annotated = { ...outs };
  for (const [key, input] of Object.entries(ins)) {
    const output = annotated[key];
    if (output === undefined || isSecret(output)) continue;
    if (isObject(output) && isObject(input)) annotated[key] = annotateSecrets(output, input);
    else if (containsSecret(input)) annotated[key] = secret(output);
  }
  return annotated;
}

/** Marks declared secret outputs, and outputs of the same name as a secret input, at the top level. */
export function markSecretOutputs(outs: PropertyMap, ins: PropertyMap, declared: readonly string[]): PropertyMap {
  return Object.fromEntries(
    Object.entries(outs).map(([key, value]) => {
      const hidden = declared.includes(key) || isSecret(ins[key]);
      return [key, hidden && !isSecret(value) ? secret(value) : value];
    }),
  );
}

/** Names of the top-level properties that differ. Secrets are compared by their plain text. */
export function changedKeys(olds: PropertyMap, news: PropertyMap): string[] {
  const [before, after] = [reveal(olds), reveal(news)];
  const keys = Object.keys({ ...olds, ...news });
  return keys.filter((key) => !isDeepStrictEqual(before[key], after[key])).sort();
}
