import { isSecret, type Properties } from "../../records/properties";

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
