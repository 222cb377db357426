/** Pulumi's stand-in for a value that is not known yet. As a real value it makes the engine fail after the reset. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Wraps a value so that the engine treats it as a secret. */
export function secret(value: unknown): Record<string, unknown> {
  return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}

/**
 * Whether Pulumi can carry a text without changing it: no unpaired surrogate, no character that was already lost when
 * the answer was decoded, and not the text that stands for an unknown value.
 */
export function isFaithful(text: string): boolean {
  return text.isWellFormed() && !text.includes("\uFFFD") && text !== unknownValue;
}
