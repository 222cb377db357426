/** The kinds of values in the platform's records. */
export type Kind = "integer" | "text" | "flag" | "texts" | "object";

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
/** A record in a program. A field is undefined if the platform did not send it, or if it could not be read. */
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

/** Credentials that a platform may show. All are secrets. */
export interface Credentials {
  /** The password of a database. */
  readonly password?: string;
  /** Token of a database's REST interface. It may be the password itself. */
  readonly restToken?: string;
  /** Read-only token of a database's REST interface. */
  readonly readOnlyRestToken?: string;
  /** Token of an index. */
  readonly token?: string;
  /** Read-only token of an index. */
  readonly readOnlyToken?: string;
  /** Key that signs messages. */
  readonly currentKey?: string;
  /** Key that signs messages after the next roll. */
  readonly nextKey?: string;
}

export type CredentialName = keyof Credentials;

/**
 * The names of all credentials, the best first: a record is judged by the first one that it shows. Append only: in
 * another order, saved memories would be judged otherwise.
 */
export const credentialNames = [
  "password",
  "restToken",
  "readOnlyRestToken",
  "token",
  "readOnlyToken",
  "currentKey",
  "nextKey",
] as const satisfies readonly CredentialName[];

/** The names of credentials in JSON, as a regular expression without regard to case. */
export const wireNamesOfCredentials =
  "(password|(next_?)?(read_?only_?)?(rest_?)?token|current|next)";

export function valuesOf(credentials: Credentials = {}): string[] {
  return Object.values(credentials as Readonly<Record<string, string>>);
}

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

/** True if a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True if an optional value is set: null counts as not set. */
export function isSet<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

/** The result of a function; undefined if it throws. */
export function orUndefined<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Why a text cannot be a part of a path, if it cannot. */
export function pathPartProblem(part: string): string | undefined {
  if (part.trim() === "") return "must not be empty";
  if (part === "." || part === "..") {
    return `must not be ${JSON.stringify(part)}, which a path cannot contain`;
  }
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

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An id as it is compared: the case of a UUID means nothing, and any other id is compared exactly. */
export function canonicalId(id: string): string {
  return typeof id === "string" && uuid.test(id) ? id.toLowerCase() : id;
}

/** True if two ids are the same, although one may be spelled in another case. */
export function isSameId(a: string, b: string): boolean {
  return canonicalId(a) === canonicalId(b);
}

/** The type of a value in words, without the value: `a number`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number that is not finite";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Asks about a mistyped name: the known one that differs by the fewest letters, at most two; empty if none does. */
export function didYouMean(name: string, known: readonly string[]): string {
  const differences = (one: string) => lettersOnlyIn(name, one) + lettersOnlyIn(one, name);
  const close = known.filter((one) => differences(one) <= 2);
  const [closest] = close.toSorted((a, b) => differences(a) - differences(b));
  return closest === undefined ? "" : `did you mean ${closest}?`;
}

function lettersOnlyIn(text: string, other: string): number {
  return [...other.toLowerCase()].reduce(
    (rest, letter) => rest.replace(letter, ""),
    text.toLowerCase(),
  ).length;
}
