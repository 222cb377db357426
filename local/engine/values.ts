import type { Struct, Value as ProtoValue } from "google-protobuf/google/protobuf/struct_pb";
import { EngineError } from "./errors";
import { structs } from "./proto";

const { ListValue, NullValue, Value: WireValue } = structs;

/** A value that must not be shown; `ciphertext` is how it was last saved, kept so that an unchanged secret is not written anew. */
export class Secret {
  constructor(
    readonly value: PropertyValue,
    readonly ciphertext?: string,
  ) {}
}

/** A value that a preview cannot know. */
export class Unknown {
  static readonly value = new Unknown();
}

/** What a property of a resource can hold. A reference to a resource is an object with the engine's signature key. */
export type PropertyValue =
  null | boolean | number | string | Secret | Unknown | PropertyValue[] | { [key: string]: PropertyValue };
export type PropertyMap = Record<string, PropertyValue>;

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
const outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
const assetSignatures = ["c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"];
const unknownString = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** The engine tells unknown values apart by their type; all of them mean the same to us. */
const unknownStrings = new Set([
  unknownString,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

export function isList(value: PropertyValue | undefined): value is PropertyValue[] {
  return Array.isArray(value);
}

export function isObject(value: PropertyValue | undefined): value is PropertyMap {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret) &&
    !(value instanceof Unknown)
  );
}

/** Changes every leaf and every secret from the inside out; `Object.fromEntries` keeps a key like `__proto__` an ordinary key. */
function mapObject(object: PropertyMap, change: (value: PropertyValue) => PropertyValue): PropertyMap {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** Reads a message of the protocol: unknown values, secrets and output values become what they mean. */
export function fromStruct(struct: Struct | undefined): PropertyMap {
  const entries = struct?.getFieldsMap().getEntryList() ?? [];
  return Object.fromEntries(entries.map(([key]) => [key, fromWire(struct?.getFieldsMap().get(key))]));
}

function fromWire(value: ProtoValue | undefined): PropertyValue {
  switch (value?.getKindCase()) {
    case WireValue.KindCase.BOOL_VALUE:
      return value.getBoolValue();
    case WireValue.KindCase.NUMBER_VALUE:
      return value.getNumberValue();
    case WireValue.KindCase.STRING_VALUE: {
      const text = value.getStringValue();
      return unknownStrings.has(text) ? Unknown.value : text;
    }
    case WireValue.KindCase.LIST_VALUE:
      return (value.getListValue()?.getValuesList() ?? []).map(fromWire);
    case WireValue.KindCase.STRUCT_VALUE:
      return recognize(fromStruct(value.getStructValue()));
    default:
      return null;
  }
}

function recognize(object: PropertyMap): PropertyValue {
  const signature = object[signatureKey];
  if (signature === secretSignature) {
    if (!("value" in object)) throw new EngineError("malformed secret: it has no value");
    return new Secret(object.value ?? null);
  }
  if (signature === outputSignature) {
    const value = "value" in object ? (object.value ?? null) : Unknown.value;
    return object.secret === true ? new Secret(value) : value;
  }
  if (typeof signature === "string" && assetSignatures.includes(signature)) {
    throw new EngineError("assets and archives are not supported by the local engine; the `pulumi` CLI does it");
  }
  return object;
}

/** How a message is written: with the secrets' signature, and with resource references, or in plain for who understands neither. */
export interface WireOptions {
  readonly secrets: boolean;
  readonly resources: boolean;
}

/** Writes a message of the protocol. */
export function toStruct(values: PropertyMap, options: WireOptions): Struct {
  const struct = new structs.Struct();
  const fields = struct.getFieldsMap();
  for (const [key, value] of Object.entries(values)) fields.set(key, toWire(value, options));
  return struct;
}

function toWire(value: PropertyValue, options: WireOptions): ProtoValue {
  const wire = new WireValue();
  if (value === null) return (wire.setNullValue(NullValue.NULL_VALUE), wire);
  if (typeof value === "boolean") return (wire.setBoolValue(value), wire);
  if (typeof value === "number") return (wire.setNumberValue(value), wire);
  if (typeof value === "string") return (wire.setStringValue(value), wire);
  if (value instanceof Unknown) return (wire.setStringValue(unknownString), wire);
  if (value instanceof Secret) {
    if (!options.secrets) return toWire(value.value, options);
    return toWire({ [signatureKey]: secretSignature, value: value.value }, options);
  }
  if (isList(value)) {
    const list = new ListValue();
    list.setValuesList(value.map((item) => toWire(item, options)));
    return (wire.setListValue(list), wire);
  }
  if (value[signatureKey] === resourceSignature && !options.resources) {
    return toWire(value.id ?? value.urn ?? null, options);
  }
  return (wire.setStructValue(toStruct(value, options)), wire);
}

/** Turns property values into what is saved: secrets as signature objects with what `encrypt` makes of their JSON text. */
export function toJson(value: PropertyValue, encrypt: (secret: Secret) => Record<string, string>): unknown {
  if (value instanceof Secret) return { [signatureKey]: secretSignature, ...encrypt(value) };
  if (value instanceof Unknown) return unknownString;
  if (isList(value)) return value.map((item) => toJson(item, encrypt));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => [key, toJson(item, encrypt)]),
    );
  }
  return value;
}

/** Reads what is saved; `decrypt` gives the JSON text of a ciphertext. */
export function fromJson(json: unknown, decrypt: (ciphertext: string) => string): PropertyValue {
  if (Array.isArray(json)) return json.map((item) => fromJson(item, decrypt));
  if (typeof json !== "object" || json === null) return json as PropertyValue;
  const object = json as Record<string, unknown>;
  if (object[signatureKey] === secretSignature) {
    if (typeof object.plaintext === "string") return new Secret(fromJson(JSON.parse(object.plaintext), decrypt));
    if (typeof object.ciphertext !== "string") throw new EngineError("malformed secret: it has no ciphertext");
    return new Secret(fromJson(JSON.parse(decrypt(object.ciphertext)), decrypt), object.ciphertext);
  }
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, fromJson(item, decrypt)]));
}

/** The value without its secrets' wrappings, at every depth. */
export function reveal(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return reveal(value.value);
  if (isList(value)) return value.map(reveal);
  return isObject(value) ? mapObject(value, reveal) : value;
}

export function containsSecret(value: PropertyValue): boolean {
  if (value instanceof Secret) return true;
  if (isList(value)) return value.some(containsSecret);
  return isObject(value) && Object.values(value).some(containsSecret);
}

export function containsUnknown(value: PropertyValue): boolean {
  if (value instanceof Unknown) return true;
  if (value instanceof Secret) return containsUnknown(value.value);
  if (isList(value)) return value.some(containsUnknown);
  return isObject(value) && Object.values(value).some(containsUnknown);
}

/**
 * Marks in `outs` what is secret in `ins`, for a provider that is told secrets in plain. A secret deep in an object marks only
 * itself; a secret anywhere in a list marks the whole list, because a provider may change the order.
 */
export function annotateSecrets(outs: PropertyMap, ins: PropertyMap): PropertyMap {
  const annotated = { ...outs };
  for (const [key, input] of Object.entries(ins)) {
    const output = annotated[key];
    if (output === undefined || output instanceof Secret) continue;
    if (isObject(output) && isObject(input)) annotated[key] = annotateSecrets(output, input);
    else if (containsSecret(input)) annotated[key] = new Secret(output);
  }
  return annotated;
}

/** Marks declared secret outputs, and outputs of the same name as a secret input, at the top level. */
export function markSecretOutputs(outs: PropertyMap, ins: PropertyMap, declared: readonly string[]): PropertyMap {
  return Object.fromEntries(
    Object.entries(outs).map(([key, value]) => {
      const secret = declared.includes(key) || ins[key] instanceof Secret;
      return [key, secret && !(value instanceof Secret) ? new Secret(value) : value];
    }),
  );
}

/** Deep equality; a secret equals only a secret of the same value. Unknown equals nothing known. */
export function sameValue(a: PropertyValue | undefined, b: PropertyValue | undefined): boolean {
  if (a === b) return true;
  if (a instanceof Secret && b instanceof Secret) return sameValue(a.value, b.value);
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && sameValue(a[key], b[key]));
  }
  return false;
}

/** Names of the top-level properties that differ, secrets compared by what they hide. */
export function changedKeys(olds: PropertyMap, news: PropertyMap): string[] {
  const keys = new Set([...Object.keys(olds), ...Object.keys(news)]);
  const shown = (value: PropertyValue | undefined): PropertyValue | undefined =>
    value === undefined ? value : reveal(value);
  return [...keys].filter((key) => !sameValue(shown(olds[key]), shown(news[key]))).sort();
}

/** For people and for the Automation API: secrets masked unless asked for, unknown values as `undefined`. */
export function toPlain(value: PropertyValue, showSecrets: boolean): unknown {
  if (value instanceof Secret) return showSecrets ? toPlain(value.value, true) : "[secret]";
  if (value instanceof Unknown) return undefined;
  if (isList(value)) return value.map((item) => toPlain(item, showSecrets));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item, showSecrets)]));
  }
  return value;
}
