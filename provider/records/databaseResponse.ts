import { stringify } from "lossless-json";
import { credentialFields, type Credentials, databaseFields, type DatabaseRecord } from "./database";
import { camelCase, isObject } from "./fields";
import { readJson } from "./json";
import { isFaithful } from "./markers";
import { readRecord, sentTwice } from "./read";

/** What names no database and holds no credential needs so many of the known fields to pass for a record. */
const fewestFields = 5;

/** What a reset's answer told: as much of it as could be read. */
export interface DatabaseResponse {
  readonly record: DatabaseRecord;
  readonly credentials: Credentials;
  readonly exactIntegers: Readonly<Record<string, string>>;
  /** JSON text of the fields nobody knows. A secret, because nobody knows what they hold. */
  readonly otherFields?: string;
  /** What was missing or unreadable, a line each. Never holds a value. */
  readonly problems: readonly string[];
}

/**
 * Reads the answer to a password reset.
 *
 * @returns undefined where the text is no database record at all.
 * @see Interface, section 2.1
 */
export function readDatabaseResponse(jsonText: string): DatabaseResponse | undefined {
  const json = tryReadJson(jsonText);
  if (!json || !isObject(json.value)) return undefined;
  const { record, exactIntegers, missing, problems, others } = readRecord(databaseFields, json.value);
  const { credentials, credentialProblems, unclaimed } = takeCredentials(others);
  if (!isDatabaseRecord(record, credentials)) return undefined;
  const { otherFields, otherProblems } = keepOthers(unclaimed);
  return {
    record,
    credentials,
    exactIntegers,
    ...(otherFields !== undefined && { otherFields }),
    problems: [
      ...new Set(json.duplicates.map(duplicateProblem)),
      ...(json.tooDeep ? ["something in it: nested too deep, and left out"] : []),
      ...credentialProblems,
      ...missing.map((name) => `${name}: missing`),
      ...problems,
      ...otherProblems,
    ],
  };
}

/** Something else, an error say, can share a field or two with a database record. */
function isDatabaseRecord(record: DatabaseRecord, credentials: Credentials): boolean {
  const named = record.databaseId !== undefined || Object.keys(credentials).length > 0;
  return named || Object.keys(record).length >= fewestFields;
}

function tryReadJson(jsonText: string): ReturnType<typeof readJson> | undefined {
  try {
    return readJson(jsonText);
  } catch {
    return undefined;
  }
}

/** What can be read can be nested too deep to be written again: a reset that has happened must not fail for it. */
function keepOthers(others: Readonly<Record<string, unknown>>) {
  try {
    return { otherFields: Object.keys(others).length > 0 ? stringify(others) : undefined, otherProblems: [] };
  } catch {
    return { otherProblems: ["fields that Rekey does not know: nested too deep to be kept"] };
  }
}

/** A known name is said; any other could be anything, and is not repeated. */
function duplicateProblem(wireName: string): string {
  const name = camelCase(wireName);
  const known = Object.hasOwn(databaseFields, name) || Object.hasOwn(credentialFields, name);
  return sentTwice(known ? name : "a field that Rekey does not know");
}

/** Each credential is optional: missing, null and empty are all "not sent". */
function takeCredentials(fields: Readonly<Record<string, unknown>>) {
  const credentials: Record<string, string> = {};
  const credentialProblems: string[] = [];
  const unclaimed: [string, unknown][] = [];
  for (const [wireName, value] of Object.entries(fields)) {
    const name = camelCase(wireName);
    if (!Object.hasOwn(credentialFields, name)) unclaimed.push([wireName, value]);
    else if (value === null || value === "") continue;
    else if (typeof value !== "string") credentialProblems.push(`${name}: expected a string`);
    else if (!isFaithful(value)) {
      credentialProblems.push(`${name}: holds characters that Pulumi cannot carry unchanged`);
    } else {
      // Under another spelling of its name.
      if ((credentials[name] ?? value) !== value) credentialProblems.push(sentTwice(name));
      credentials[name] = value;
    }
  }
  return { credentials: credentials as Credentials, credentialProblems, unclaimed: Object.fromEntries(unclaimed) };
}
