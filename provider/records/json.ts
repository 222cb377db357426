import { isSafeNumber, LosslessNumber, parse } from "lossless-json";

/** The value of a JSON text, and its anomalies. */
export interface ReadJson {
  readonly value: unknown;
  /** Names that appear twice in one object with different values; the last value counts. Each is listed once. */
  readonly duplicates: readonly string[];
  /** Whether something was nested too deeply, and replaced by an empty object. */
  readonly tooDeep: boolean;
}

/** Levels that are read of a text that is nested too deeply. */
const levelsKept = 100;
/** Digits of the longest integer that is read. Converting longer ones is slow. */
const maxDigits = 400;

/**
 * Reads JSON without losing digits: an integer beyond 2^53 becomes a bigint, and any other number that JavaScript
 * cannot hold a `LosslessNumber`.
 *
 * @throws SyntaxError
 */
export function readJson(jsonText: string): ReadJson {
  try {
    return { ...(readPlain(jsonText) ?? read(jsonText)), tooDeep: false };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The stack overflowed. JSON.parse needs less of it, and throws if the text is not JSON.
    JSON.parse(jsonText);
    return { ...read(withoutDepth(jsonText, levelsKept)), tooDeep: true };
  }
}

/**
 * Much faster, and enough for most texts: a value that is the same when it is written again had no duplicate name and
 * lost no digit. Undefined for texts with integers that may exceed 2^53.
 */
function readPlain(jsonText: string): Omit<ReadJson, "tooDeep"> | undefined {
  if (/\d{16}|\de\+/.test(jsonText)) return undefined;
  const value: unknown = JSON.parse(jsonText);
  return JSON.stringify(value) === jsonText ? { value, duplicates: [] } : undefined;
}

function read(jsonText: string): Omit<ReadJson, "tooDeep"> {
  const duplicates = new Set<string>();
  const value = parse(jsonText, undefined, {
    parseNumber: exactNumber,
    onDuplicateKey: ({ key, newValue }) => {
      duplicates.add(key);
      return newValue;
    },
  });
  return { value, duplicates: [...duplicates] };
}

function exactNumber(digits: string): number | bigint | LosslessNumber {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  if (/^-?\d+$/.test(digits) && digits.length <= maxDigits) return BigInt(digits);
  return isSafeNumber(digits) ? number : new LosslessNumber(digits);
}

/**
 * The JSON text with each value that is nested deeper than `limit` replaced by `{}`. The text must be valid JSON.
 */
function withoutDepth(jsonText: string, limit: number): string {
  const kept: string[] = [];
  let depth = 0;
  let keptFrom = 0;
  for (let at = 0; at < jsonText.length; at++) {
    const character = jsonText[at];
    if (character === '"') at = endOfString(jsonText, at);
    else if (character === "[" || character === "{") {
      if (depth++ === limit) kept.push(jsonText.slice(keptFrom, at), "{}");
    } else if (character === "]" || character === "}") {
      if (--depth === limit) keptFrom = at + 1;
    }
  }
  return kept.join("") + jsonText.slice(keptFrom);
}

function endOfString(jsonText: string, start: number): number {
  let at = start + 1;
  while (at < jsonText.length && jsonText[at] !== '"') at += jsonText[at] === "\\" ? 2 : 1;
  return at;
}
