/** Values between the engine and the host. */
export type Properties = Record<string, unknown>;

/** Pulumi's marker for an unknown value. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The markers for each type of value. As a real value, any of them makes the engine fail after the reset. */
const reserved: readonly string[] = [
  unknownValue,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];

/** True if Pulumi saves a text unchanged: it has no unpaired surrogate, and is not a marker for an unknown value. */
export function isFaithful(text: string): boolean {
  return text.isWellFormed() && !reserved.includes(text);
}

/** True if a value is unknown, or contains something that is. What JSON cannot hold, such as a function, is wrong. */
export function isUnknown(value: unknown): boolean {
  try {
    const written: string | undefined = JSON.stringify(value);
    return written?.includes(`"${unknownValue}"`) ?? false;
  } catch {
    return false;
  }
}

const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** True if an object is an asset, an archive or a resource: Pulumi passes it on as a map with a mark of its own. */
export function isPulumiObject(value: object): boolean {
  return Object.hasOwn(value, signature);
}

/** Marks a value so that the engine treats it as a secret. */
export function secret(value: unknown): Properties {
  return { [signature]: secretSignature, value };
}

/** True if a value is marked like that. */
export function isSecret(value: unknown): value is { readonly value: unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    signature in value &&
    value[signature] === secretSignature
  );
}

/** A value without the marks of secrets in it. */
export function reveal<T>(value: T): T {
  const plain = (marked: unknown): unknown => {
    if (Array.isArray(marked)) return marked.map(plain);
    if (typeof marked !== "object" || marked === null) return marked;
    if (isSecret(marked)) return plain(marked.value);
    return Object.fromEntries(Object.entries(marked).map(([name, inner]) => [name, plain(inner)]));
  };
  return plain(value) as T;
}

/** The names of properties that are secret, or contain a secret. */
export function secretNames(properties: Properties): string[] {
  const isMarked = (value: unknown): boolean =>
    isSecret(value) ||
    (typeof value === "object" && value !== null && Object.values(value).some(isMarked));
  return Object.keys(properties).filter((name) => isMarked(properties[name]));
}

/** Values for the engine: plain, with secrets marked on each call, because the engine does not remember the marks. */
export function wrap(outputs: Properties, secretNames: readonly string[]): Properties {
  const plain = JSON.parse(jsonText(outputs)) as Properties;
  for (const name of secretNames) {
    const value = plain[name];
    if (value !== undefined && !isSecret(value)) plain[name] = secret(value);
  }
  return plain;
}

/** JSON text of any value: a credential that was reset must not be lost because of another value. */
export function jsonText(outputs: unknown): string {
  return JSON.stringify(outputs, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

/** Characters of a message, as gRPC encodes it in a trailer. A call with a larger one never returns. */
const maxEncoded = 4_000;

/**
 * A message that gRPC can carry: without malformed Unicode, which it cannot encode, and without its middle if it is too
 * long.
 */
export function engineMessage(message: string, longest = maxEncoded): string {
  let text = message.toWellFormed();
  for (let kept = text.length; encodeURI(text).length > longest; kept = Math.floor(kept * 0.9)) {
    const half = Math.floor(kept / 2);
    text = `${message.slice(0, half)} […] ${message.slice(-half)}`.toWellFormed();
  }
  return text;
}
