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

/** The name in a program of a name in JSON: `db_max_clients` becomes `dbMaxClients`, `securityAddons` stays. */
export function camelCase(wireName: string): string {
  return wireName.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
