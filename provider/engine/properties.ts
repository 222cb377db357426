import { isSecret, secret, unknownValue } from "../records/markers";

/** Values between the engine and the host. */
export type Properties = Record<string, unknown>;

/** Values for the engine: plain, with secrets marked on each call, because the engine does not remember the marks. */
export function wrap(outputs: Properties, secretNames: readonly string[]): Properties {
  const plain = JSON.parse(
    JSON.stringify(outputs, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Properties;
  for (const name of secretNames) {
    if (plain[name] !== undefined) plain[name] = secret(plain[name]);
  }
  return plain;
}

/** A value without the marks of secrets in it. */
export function reveal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== "object" || value === null) return value;
  if (isSecret(value)) return reveal(value.value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reveal(inner)]));
}

/** The names of properties that are secret, or contain a secret. */
export function secretNames(properties: Properties): string[] {
  const isMarked = (value: unknown): boolean =>
    typeof value === "object" && value !== null && (isSecret(value) || Object.values(value).some(isMarked));
  return Object.keys(properties).filter((name) => isMarked(properties[name]));
}

/** The inputs without the provider's text, which only the host needs. */
export function withoutProvider({ __provider, ...inputs }: Properties): Properties {
  return inputs;
}

/** The inputs that are unknown, or contain an unknown value. */
export function unknownNames(inputs: Properties): Set<string> {
  return new Set(
    Object.keys(inputs).filter((name) => JSON.stringify(inputs[name] ?? null).includes(`"${unknownValue}"`)),
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
