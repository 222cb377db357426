import { parse } from "lossless-json";

/** A JSON text that was read, and what in it was odd. */
export interface ReadJson {
  readonly value: unknown;
  /** Names that stood twice in one object; the last one counts. */
  readonly duplicates: readonly string[];
}

/**
 * Reads JSON without losing digits: an integer beyond 2^53 becomes a bigint.
 *
 * @throws SyntaxError, or RangeError where it is nested too deep.
 */
export function readJson(jsonText: string): ReadJson {
  const duplicates: string[] = [];
  const value = parse(jsonText, undefined, {
    parseNumber: exactNumber,
    onDuplicateKey: ({ key, newValue }) => {
      duplicates.push(key);
      return newValue;
    },
  });
  return { value, duplicates };
}

function exactNumber(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits);
}

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
