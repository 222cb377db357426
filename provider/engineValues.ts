import { secret, unknownValue } from "./records/markers";

/** Values as they go between the engine and the host. */
export type Properties = Record<string, unknown>;

/** Values as the engine takes them: plain, with secrets marked each time, because the engine remembers no marks. */
export function wrap(outputs: Properties, secretNames: readonly string[]): Properties {
  const plain = JSON.parse(
    JSON.stringify(outputs, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Properties;
  for (const name of secretNames) {
    if (plain[name] !== undefined) plain[name] = secret(plain[name]);
  }
  return plain;
}

/** The inputs without the provider's text, which is the host's affair. */
export function withoutProvider({ __provider, ...inputs }: Properties): Properties {
  return inputs;
}

/** The inputs that are not known yet, or hold something that is not. */
export function unknownNames(inputs: Properties): Set<string> {
  return new Set(
    Object.keys(inputs).filter((name) => JSON.stringify(inputs[name] ?? null).includes(`"${unknownValue}"`)),
  );
}
