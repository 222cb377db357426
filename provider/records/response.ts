import { isSafeNumber, LosslessNumber, parse, stringify } from "lossless-json";
import { type Credentials, wireNamesOfCredentials } from "./credentials";
import { camelCase, readRecord, type RecordTable, sentTwice, isObject } from "./fields";
import { isFaithful } from "./properties";

/** Known fields that make an object a record if it has neither an id nor a credential. */
const fewestFields = 5;

/** The response to a reset or a read of a secret, as far as it could be understood. */
export interface SecretResponse {
  /** Each field as the platform returned it. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly credentials: Credentials;
  readonly exactIntegers: Readonly<Record<string, string>>;
  /** JSON text of unknown fields. A secret, because they may contain anything. */
  readonly otherFields?: string;
  /** What was sent and could not be read, one line each. Never contains a value. */
  readonly problems: readonly string[];
}

/**
 * Reads the response to a reset or a read. A platform may leave out any field.
 *
 * @returns undefined if the text is not a record of the table.
 * @see docs/interface.md#the-database-record
 */
export function readSecretResponse(table: RecordTable, jsonText: string): SecretResponse | undefined {
  const json = tryReadJson(jsonText);
  if (!json || !isObject(json.value)) return undefined;
  const { record, exactIntegers, problems, others } = readRecord(table.fields, json.value);
  const { credentials, credentialProblems, unclaimed } = takeCredentials(table, others);
  // Other objects, such as errors, may share a field or two with a record.
  const isNamed = (table.id !== undefined && table.id in record) || Object.keys(credentials).length > 0;
  if (!isNamed && Object.keys(record).length < fewestFields) return undefined;
  const otherFields = Object.keys(unclaimed).length > 0 ? stringify(unclaimed) : undefined;
  return {
    record,
    credentials,
    exactIntegers,
    ...(otherFields !== undefined && { otherFields }),
    problems: [
      ...new Set(json.duplicates.map((name) => duplicateProblem(table, name))),
      ...(json.tooDeep ? ["something in the response: nested too deeply, and left out"] : []),
      ...credentialProblems,
      ...problems,
    ],
  };
}

/** Only known names are shown: any other text may be a secret. */
function duplicateProblem({ fields, credentials }: RecordTable, wireName: string): string {
  const name = camelCase(wireName);
  const known = Object.hasOwn(fields, name) || Object.hasOwn(credentials, name);
  return sentTwice(known ? name : "a field that Rekey does not know");
}

/** Characters with which platforms mask a credential; the last one means several. */
const maskCharacter = /[*•●∙·⁎＊…]/gu;

/** Whether a credential is masked, also in part: `****`, `abcd••••`, `…`. */
function isMasked(value: string): boolean {
  const masks: readonly string[] = value.match(maskCharacter) ?? [];
  return masks.length >= 3 || masks.length === value.length || masks.includes("…");
}

/** Each credential is optional: missing, null, empty and masked all mean "not shown". */
function takeCredentials(table: RecordTable, fields: Readonly<Record<string, unknown>>) {
  const credentials: { -readonly [K in keyof Credentials]: Credentials[K] } = {};
  const credentialProblems: string[] = [];
  const unclaimed: [string, unknown][] = [];
  for (const [wireName, value] of Object.entries(fields)) {
    const known = camelCase(wireName);
    const name = Object.hasOwn(table.credentials, known) ? table.credentials[known] : undefined;
    if (name === undefined) unclaimed.push([wireName, value]);
    else if (value === null || (typeof value === "string" && isMasked(value))) continue;
    else if (typeof value !== "string") credentialProblems.push(`${name}: expected a string`);
    else if (!isFaithful(value)) {
      credentialProblems.push(`${name}: contains characters that Pulumi cannot save unchanged`);
    } else {
      // Sent under two spellings of its name.
      if ((credentials[name] ?? value) !== value) credentialProblems.push(sentTwice(name));
      credentials[name] = value;
    }
  }
  return { credentials, credentialProblems, unclaimed: Object.fromEntries(unclaimed) };
}

const nameOfCredential = new RegExp(`^${wireNamesOfCredentials}$`, "i");

/** The credentials in a value, however deep. */
export function* credentialsIn(value: unknown, name = ""): Iterable<string> {
  if (typeof value === "string" && nameOfCredential.test(name) && !isMasked(value)) yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [inner, one] of Object.entries(value)) yield* credentialsIn(one, inner);
}

/** The value of a JSON text, and its anomalies. */
export interface ReadJson {
  readonly value: unknown;
  /** Names that appear twice in one object with different values; the last value counts. Each is listed once. */
  readonly duplicates: readonly string[];
  /** Whether something was nested too deeply, and replaced by an empty object. */
  readonly tooDeep: boolean;
}

/** Levels that are read. Readers that meet many more overflow the stack, or take minutes. */
const maxLevels = 100;
/** Digits of the longest integer that is read. Converting longer ones is slow. */
const maxDigits = 400;

/**
 * Reads JSON without losing digits: an integer beyond 2^53 becomes a bigint, and any other number that JavaScript
 * cannot hold a `LosslessNumber`.
 *
 * @returns undefined for a text that is not JSON
 */
export function tryReadJson(jsonText: string): ReadJson | undefined {
  try {
    const readable = withoutDepth(jsonText);
    return { ...(readPlain(readable) ?? read(readable)), tooDeep: readable !== jsonText };
  } catch {
    return undefined;
  }
}

/** The object in a text; undefined if it has none. */
export function tryReadObject(jsonText: string): Record<string, unknown> | undefined {
  const value = tryReadJson(jsonText)?.value;
  return isObject(value) ? value : undefined;
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

/** The JSON text with each value that is nested too deeply replaced by `{}`. What is replaced need not be JSON. */
function withoutDepth(jsonText: string): string {
  const kept: string[] = [];
  let depth = 0;
  let keptFrom = 0;
  for (let at = 0; at < jsonText.length; at++) {
    const character = jsonText[at];
    if (character === '"') at = endOfString(jsonText, at);
    else if (character === "[" || character === "{") {
      if (depth++ === maxLevels) {
        kept.push(jsonText.slice(keptFrom, at), "{}");
        keptFrom = jsonText.length;
      }
    } else if (character === "]" || character === "}") {
      if (--depth === maxLevels) keptFrom = at + 1;
    }
  }
  return kept.join("") + jsonText.slice(keptFrom);
}

function endOfString(jsonText: string, start: number): number {
  let at = start + 1;
  while (at < jsonText.length && jsonText[at] !== '"') at += jsonText[at] === "\\" ? 2 : 1;
  return at;
}
