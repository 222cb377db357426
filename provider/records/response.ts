import { isSafeNumber, LosslessNumber, parse, stringify } from "lossless-json";
import {
  camelCase,
  type Credentials,
  type Fields,
  isObject,
  type Kind,
  orUndefined,
  type RecordOf,
  type RecordTable,
  wireNamesOfCredentials,
} from "./fields";
import { isFaithful } from "../pulumi/values";
import { type SecretResponse } from "./secretResponse";

/** Known fields that make an object a record if it has neither an id nor a credential. */
const fewestFields = 5;

/**
 * Reads the response to a reset or a read. A platform may leave out any field.
 *
 * @see docs/interface.md#the-database-record
 */
export function readSecretResponse(
  table: RecordTable,
  jsonText: string,
): SecretResponse | undefined {
  const sent = tryReadJson(jsonText);
  if (!isObject(sent)) return undefined;
  const { record, exactIntegers, problems, others } = readRecord(table.fields, sent);
  const { credentials, credentialProblems, unclaimed } = takeCredentials(table, others);
  // Other objects, such as errors, may share a field or two with a record.
  const isNamed =
    (table.id !== undefined && table.id in record) || Object.keys(credentials).length > 0;
  if (!isNamed && Object.keys(record).length < fewestFields) return undefined;
  const otherFields = orUndefined(() => stringify(unclaimed));
  return {
    record,
    credentials,
    exactIntegers,
    ...(otherFields !== undefined && otherFields !== "{}" && { otherFields }),
    problems: [
      ...(otherFields === undefined
        ? ["something in the response: nested too deeply, and left out"]
        : []),
      ...credentialProblems,
      ...problems,
    ],
  };
}

/** A character with which platforms mask a credential. */
const masking = "[*•●∙·⁎＊…]";
/** Nothing but a mask, which shows nothing. */
const wholeMask = new RegExp(`^${masking}*$`, "u");
/** Masked in part: `abcd••••`, `****wxyz`. With fewer of these characters, or elsewhere, it is a credential itself. */
const partialMask = new RegExp(`^${masking}{3}|${masking}{3}$`, "u");

/** Each credential is optional: missing, null, empty and masked all mean "not shown". */
function takeCredentials(table: RecordTable, fields: Readonly<Record<string, unknown>>) {
  const credentials: { -readonly [K in keyof Credentials]: Credentials[K] } = {};
  const credentialProblems: string[] = [];
  const unclaimed: [string, unknown][] = [];
  for (const [wireName, sent] of Object.entries(fields)) {
    const known = camelCase(wireName);
    const name = Object.hasOwn(table.credentials, known) ? table.credentials[known] : undefined;
    if (name === undefined) {
      unclaimed.push([wireName, sent]);
      continue;
    }
    // One of digits may be sent as a number.
    const isNumber = sent instanceof LosslessNumber || typeof sent === "number";
    const value = isNumber ? String(sent) : sent;
    if (value === null || (isText(value) && wholeMask.test(value))) continue;
    if (!isText(value)) credentialProblems.push(`${name}: expected a string`);
    else if (partialMask.test(value)) {
      credentialProblems.push(`${name}: masked by the platform, and left out`);
    } else if (!isFaithful(value) || value.includes("\uFFFD")) {
      // Decoding puts that character in the place of others.
      credentialProblems.push(`${name}: ${cannotBeSaved}`);
    } else credentials[name] = value;
  }
  return { credentials, credentialProblems, unclaimed: Object.fromEntries(unclaimed) };
}

const nameOfCredential = new RegExp(`^${wireNamesOfCredentials}$`, "i");

/** The credentials in a value, however deep: it may be nested too deeply for a recursive function. */
export function nestedCredentials(value: unknown): string[] {
  const found: string[] = [];
  const entries: [name: string, value: unknown][] = [["", value]];
  // It grows while it is read.
  for (const [name, inner] of entries) {
    if (isText(inner) && nameOfCredential.test(name) && !wholeMask.test(inner)) found.push(inner);
    if (typeof inner !== "object" || inner === null) continue;
    for (const entry of Object.entries(inner)) entries.push(entry);
  }
  return found;
}

/** Reads the fields of the table from a JSON object. Nothing here throws: a reset that was applied must be saved. */
export function readRecord<F extends Fields>(fields: F, sent: Record<string, unknown>) {
  const record: Record<string, unknown> = {};
  // The digits of integers that a number cannot represent exactly.
  const exactIntegers = new Map<string, string>();
  // Known fields that could not be read, one line each, without their values.
  const problems: string[] = [];
  // Other fields, by their names in JSON.
  const others: [string, unknown][] = [];
  for (const [wireName, value] of Object.entries(sent)) {
    const name = camelCase(wireName);
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      others.push([wireName, value]);
      continue;
    }
    const [what, isOne] = fieldKinds[field.kind];
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!isOne(value)) problems.push(`${name}: expected ${what}`);
    else if (texts.some((one) => isText(one) && !isFaithful(one))) {
      problems.push(`${name}: ${cannotBeSaved}`);
    } else if (value instanceof LosslessNumber) {
      record[name] = Number(value.value);
      exactIntegers.set(name, value.value);
    } else if (isObject(value)) {
      const inner = readRecord(field.fields ?? {}, value);
      record[name] = inner.record;
      problems.push(...inner.problems.map((one) => `${name}.${one}`));
      if (Object.keys(inner.others).length > 0) others.push([name, inner.others]);
    } else record[name] = value;
  }
  return {
    record: record as RecordOf<F>,
    exactIntegers: Object.fromEntries(exactIntegers),
    problems,
    others: Object.fromEntries(others),
  };
}

const isText = (value: unknown): value is string => typeof value === "string";
/** At most as long as the largest number. */
const isLarge = (value: unknown) =>
  value instanceof LosslessNumber && /^-?\d{1,308}$/.test(value.value);
const cannotBeSaved = "a value that Pulumi cannot save unchanged";

/** The values of each kind. Not zod, for speed: a record has forty fields, and a fleet a thousand records. */
const fieldKinds: Readonly<
  Record<Kind, readonly [what: string, isOne: (value: unknown) => boolean]>
> = {
  integer: ["an integer", (value) => Number.isSafeInteger(value) || isLarge(value)],
  text: ["a string", isText],
  flag: ["true or false", (value) => typeof value === "boolean"],
  texts: ["a list of strings", (value) => Array.isArray(value) && value.every(isText)],
  object: ["an object", isJsonObject],
};

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof LosslessNumber);
}

/**
 * The value of a JSON text, in which a number that JavaScript cannot hold is a `LosslessNumber`.
 *
 * @returns undefined for a text that is not JSON
 */
export function tryReadJson(jsonText: string): unknown {
  const value = orUndefined((): unknown => JSON.parse(jsonText));
  if (value === undefined) return undefined;
  // `JSON.parse`, which is several times as fast as the exact reader, loses nothing of most texts.
  const isExact = !/\d{16}/.test(jsonText) && orUndefined(() => JSON.stringify(value)) === jsonText;
  if (isExact) return value;
  const parseNumber = (digits: string) => {
    const number = Number(digits);
    const isSafe = Number.isInteger(number) ? Number.isSafeInteger(number) : isSafeNumber(digits);
    return isSafe ? number : new LosslessNumber(digits);
  };
  // The last value of a name counts, as in `JSON.parse`.
  const onDuplicateKey = ({ newValue }: { readonly newValue: unknown }) => newValue;
  // At some thousand levels, the exact reader overflows the stack.
  return orUndefined(() => parse(jsonText, undefined, { parseNumber, onDuplicateKey })) ?? value;
}

/** The object in a text; undefined if it has none. */
export function tryReadObject(jsonText: string): Record<string, unknown> | undefined {
  const value = tryReadJson(jsonText);
  return isJsonObject(value) ? value : undefined;
}
