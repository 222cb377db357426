/** Pulumi's marker for an unknown value. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The markers for each type of value. As a real value, any of them makes the engine fail after the reset. */
const reserved: ReadonlySet<string> = new Set([
  unknownValue,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Wraps a value so that the engine treats it as a secret. */
export function secret(value: unknown): Record<string, unknown> {
  return { [signature]: secretSignature, value };
}

/** Whether a value is wrapped like that. */
export function isSecret(value: object): value is { readonly value: unknown } {
  return signature in value && value[signature] === secretSignature;
}

/** Whether Pulumi saves a text unchanged: it has no unpaired surrogate, and is not a marker for an unknown value. */
export function isFaithful(text: string): boolean {
  return text.isWellFormed() && !reserved.has(text);
}

/** Values between the engine and the host. */
export type Properties = Record<string, unknown>;

/** JSON text of any value: a credential that was reset must not be lost because of another value. */
export function jsonText(outputs: unknown): string {
  return JSON.stringify(outputs, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}

/** Values for the engine: plain, with secrets marked on each call, because the engine does not remember the marks. */
export function wrap(outputs: Properties, secretNames: readonly string[]): Properties {
  const plain = JSON.parse(jsonText(outputs)) as Properties;
  for (const name of secretNames) {
    const value = plain[name];
    const isMarked = typeof value === "object" && value !== null && isSecret(value);
    if (value !== undefined && !isMarked) plain[name] = secret(value);
  }
  return plain;
}

/** The inputs without the provider's text, which only the host needs. */
export function withoutProvider({ __provider, ...inputs }: Properties): Properties {
  return inputs;
}

/** Whether a value is unknown, or contains something that is. */
export function isUnknown(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).includes(`"${unknownValue}"`);
}
