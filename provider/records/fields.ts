import { type CredentialName } from "./credentials";
import { isReserved } from "./properties";

/** The kinds of values in the platform's records. */
type Kind = "integer" | "text" | "flag" | "texts" | "object";

/** One field of a record: its kind in JSON, and its type in a program. */
export interface Field<T> {
  readonly kind: Kind;
  /** The documented values. Others are kept unchanged, because a platform may add new ones. */
  readonly values?: readonly string[];
  readonly fields?: Fields;
  /** Only for the compiler: the type of the value. */
  readonly valueType?: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type FieldValue<F> = F extends Field<infer T> ? T : never;
/**
 * A record in a program. A field is undefined if the platform did not send it, or if it could not be read.
 */
export type RecordOf<F extends Fields> = { readonly [K in keyof F]?: FieldValue<F[K]> };

export const int64: Field<number> = { kind: "integer" };
export const text: Field<string> = { kind: "text" };
export const flag: Field<boolean> = { kind: "flag" };
export const texts: Field<readonly string[]> = { kind: "texts" };

/** One of the documented values, or one that the platform added later. */
export function oneOf<const V extends string>(...values: V[]): Field<V | (string & {})> {
  return { kind: "text", values };
}

export function object<F extends Fields>(fields: F): Field<RecordOf<F>> {
  return { kind: "object", fields };
}

/** What a record consists of. */
export interface RecordTable {
  readonly fields: Fields;
  /** The field that is its id; undefined if it has none. */
  readonly id?: string;
  /** The fields that a list of an account shows; undefined if there is no list. */
  readonly listed?: Fields;
  /** Its credentials, by their names in JSON as `camelCase` writes them. Each is optional in any response. */
  readonly credentials: Readonly<Record<string, CredentialName>>;
}

/** Names in a program by their names in JSON: a fleet reads the same forty a thousand times. */
const camelCased = new Map<string, string>();

/** The name in a program of a name in JSON: `db_max_clients` becomes `dbMaxClients`, `securityAddons` stays. */
export function camelCase(wireName: string): string {
  const known = camelCased.get(wireName);
  if (known !== undefined) return known;
  const name = wireName.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (camelCased.size < 1000) camelCased.set(wireName, name);
  return name;
}

/**
 * The readable part of a record. Nothing here throws: a reset that was applied must be saved.
 */
export interface ReadResult<F extends Fields> {
  readonly record: RecordOf<F>;
  /** The digits of integers that a number cannot represent exactly, by field. */
  readonly exactIntegers: Readonly<Record<string, string>>;
  /** Known fields that were sent and could not be read, one line each. Never contains a value. */
  readonly problems: readonly string[];
  /** Fields that are not in the table, by their names in JSON. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** A value of a field, what is wrong with it, or both. */
interface ReadValue {
  readonly value?: unknown;
  readonly problem?: string;
}

const isText = (value: unknown): value is string => typeof value === "string";
const expected = (what: string): ReadValue => ({ problem: `expected ${what}` });

/** Not zod, for speed: a record has forty fields, and a fleet a thousand records. */
const readers: Readonly<Record<Exclude<Kind, "object">, (value: unknown) => ReadValue>> = {
  integer: (value) => {
    if (typeof value !== "bigint") return Number.isSafeInteger(value) ? { value } : expected("an integer");
    return Number.isFinite(Number(value)) ? { value: Number(value) } : { problem: "too large" };
  },
  text: (value) => (isText(value) ? readText(value) : expected("a string")),
  flag: (value) => (typeof value === "boolean" ? { value } : expected("true or false")),
  texts: (value) => {
    if (!Array.isArray(value) || !value.every(isText)) return expected("a list of strings");
    const read = value.map(readText);
    const reserved = read.find(({ value: text }) => text === undefined);
    return reserved ?? { ...read.find(({ problem }) => problem), value: read.map(({ value: text }) => text) };
  },
};

function readText(text: string): ReadValue {
  if (isReserved(text)) return { problem: "a value that Pulumi reserves" };
  if (text.isWellFormed()) return { value: text };
  return { value: text.toWellFormed(), problem: "not well-formed Unicode; the invalid characters were replaced" };
}

export function sentTwice(name: string): string {
  return `${name}: sent twice, the last value counts`;
}

/** Reads the fields of the table from a JSON object, and reports those that could not be read. */
export function readRecord<F extends Fields>(fields: F, sent: Record<string, unknown>): ReadResult<F> {
  const record: Record<string, unknown> = {};
  const exactIntegers: Record<string, string> = {};
  const problems: string[] = [];
  const others: [string, unknown][] = [];
  const wire = new Map<string, unknown>();
  for (const [wireName, value] of Object.entries(sent)) {
    const name = camelCase(wireName);
    if (!Object.hasOwn(fields, name)) others.push([wireName, value]);
    else {
      // Sent under two spellings of its name.
      if ((wire.get(name) ?? value) !== value) problems.push(sentTwice(name));
      wire.set(name, value);
    }
  }
  for (const [name, { kind, fields: inner = {} }] of Object.entries(fields)) {
    const given = wire.get(name);
    if (given === undefined) continue;
    if (kind !== "object") {
      const { value, problem } = readers[kind](given);
      if (problem !== undefined) problems.push(`${name}: ${problem}`);
      if (value !== undefined) record[name] = value;
      if (value !== undefined && typeof given === "bigint") exactIntegers[name] = given.toString();
    } else if (isObject(given)) {
      const read = readRecord(inner, given);
      record[name] = read.record;
      problems.push(...read.problems.map((problem) => `${name}.${problem}`));
      if (Object.keys(read.others).length > 0) others.push([name, read.others]);
    } else problems.push(`${name}: expected an object`);
  }
  return { record: record as RecordOf<F>, exactIntegers, problems, others: Object.fromEntries(others) };
}

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an optional value is set: null counts as not set. */
export function isSet<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

/** Why a text cannot be a part of a path, if it cannot. */
export function pathPartProblem(part: string): string | undefined {
  if (part.trim() === "") return "must not be empty";
  if (part === "." || part === "..") return `must not be ${JSON.stringify(part)}, which a path cannot contain`;
  if (!part.isWellFormed()) return "must be well-formed Unicode";
  return undefined;
}

/**
 * Why a text cannot be the id of something that has a secret, if it cannot. It may be an address with a password in it,
 * so no message shows it.
 */
export function idProblem(id: string): string | undefined {
  const isAddress = id.trim() !== "" && /[\s@/]/.test(id);
  return isAddress
    ? "must be an id, for Upstash a UUID, not an address: it contains a space, @ or /"
    : pathPartProblem(id);
}

/** What a value is, without the value: `a number`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number that is not finite";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
