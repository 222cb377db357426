/** The kinds of values that the platform's records are made of. */
export type Kind = "integer" | "text" | "flag" | "texts" | "object";

/** One field of a record: what its value is on the wire, and (as a type only) what it is in a program. */
export interface Field<T> {
  readonly kind: Kind;
  /** The values the interface names. Others are kept as they come: a platform may learn new ones. */
  readonly values?: readonly string[];
  readonly fields?: Fields;
  /** Exists for the compiler alone, and carries the type of the value. */
  readonly valueType?: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type FieldValue<F> = F extends Field<infer T> ? T : never;
/**
 * A record as a program sees it. A field is missing where the platform did not send it, or sent what cannot be read.
 */
export type RecordOf<F extends Fields> = { readonly [K in keyof F]?: FieldValue<F[K]> };

export const int64: Field<number> = { kind: "integer" };
export const text: Field<string> = { kind: "text" };
export const flag: Field<boolean> = { kind: "flag" };
export const texts: Field<readonly string[]> = { kind: "texts" };

/** One of the named values, or one that the platform learnt later. */
export function oneOf<const V extends string>(...values: V[]): Field<V | (string & {})> {
  return { kind: "text", values };
}

export function object<F extends Fields>(fields: F): Field<RecordOf<F>> {
  return { kind: "object", fields };
}

/** The name in a program of a name on the wire: `db_max_clients` is `dbMaxClients`, `securityAddons` stays. */
export function camelCase(wireName: string): string {
  return wireName.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
