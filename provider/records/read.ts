import { z } from "zod";
import { isObject } from "./isObject";
import { isReserved } from "./markers";
import { camelCase } from "./names";
import { type Field, type Fields, type Kind, type RecordOf } from "./fields";

/** What could be read of a record that the platform sent. Nothing here throws: a reset that has happened must be kept. */
export interface Reading<F extends Fields> {
  readonly record: RecordOf<F>;
  /** The digits of integers that a number cannot hold exactly, by field. */
  readonly exactIntegers: Readonly<Record<string, string>>;
  /** Known fields that were not sent. */
  readonly missing: readonly string[];
  /** What of the known fields was sent and is unreadable, a line each. Never holds a value. */
  readonly problems: readonly string[];
  /** Fields that the table does not know, by their names on the wire. */
  readonly others: Readonly<Record<string, unknown>>;
}

const schemas: Record<Exclude<Kind, "object">, z.ZodType> = {
  integer: z.union([z.int(), z.bigint()], { error: "expected an integer" }),
  text: z.string({ error: "expected a string" }),
  flag: z.boolean({ error: "expected true or false" }),
  texts: z.array(z.string({ error: "expected a list of strings" }), { error: "expected a list of strings" }),
};

export function sentTwice(name: string): string {
  return `${name}: sent twice, the last value counts`;
}

/** Reads the fields of the table from a JSON object, and says what was wrong with which. */
export function readRecord<F extends Fields>(fields: F, sent: Record<string, unknown>): Reading<F> {
  const record: Record<string, unknown> = {};
  const exactIntegers: Record<string, string> = {};
  const missing: string[] = [];
  const problems: string[] = [];
  const others: [string, unknown][] = [];
  const wire = new Map<string, unknown>();
  for (const [wireName, value] of Object.entries(sent)) {
    const name = camelCase(wireName);
    if (!Object.hasOwn(fields, name)) others.push([wireName, value]);
    else {
      // Under another spelling of its name.
      if ((wire.get(name) ?? value) !== value) problems.push(sentTwice(name));
      wire.set(name, value);
    }
  }
  for (const [name, field] of Object.entries(fields)) {
    const value = wire.get(name);
    if (value === undefined) missing.push(name);
    else if (field.kind === "object") readObject(name, field, value);
    else readValue(name, field.kind, value);
  }
  return { record: record as RecordOf<F>, exactIntegers, missing, problems, others: Object.fromEntries(others) };

  function readObject(name: string, field: Field<unknown>, value: unknown): void {
    if (!isObject(value)) return void problems.push(`${name}: expected an object`);
    const inner = readRecord(field.fields ?? {}, value);
    record[name] = inner.record;
    missing.push(...inner.missing.map((field) => `${name}.${field}`));
    problems.push(...inner.problems.map((problem) => `${name}.${problem}`));
    if (Object.keys(inner.others).length > 0) others.push([name, inner.others]);
  }

  function readValue(name: string, kind: Exclude<Kind, "object">, value: unknown): void {
    const result = schemas[kind].safeParse(value);
    if (!result.success) return void problems.push(`${name}: ${result.error.issues[0]?.message ?? "unreadable"}`);
    const known = result.data;
    if (typeof known === "bigint") readBigInteger(name, known);
    else if (typeof known === "string") readTexts(name, [known], ([only]) => only);
    else if (Array.isArray(known)) readTexts(name, known as string[], (all) => all);
    else record[name] = known;
  }

  function readBigInteger(name: string, integer: bigint): void {
    const nearest = Number(integer);
    if (!Number.isFinite(nearest)) return void problems.push(`${name}: too large`);
    record[name] = nearest;
    exactIntegers[name] = integer.toString();
  }

  function readTexts(name: string, sentTexts: string[], shape: (cleaned: string[]) => unknown): void {
    if (sentTexts.some(isReserved)) {
      return void problems.push(`${name}: a value that Pulumi reserves for itself`);
    }
    if (!sentTexts.every((one) => one.isWellFormed())) {
      problems.push(`${name}: not well-formed Unicode, the broken characters were replaced`);
    }
    record[name] = shape(sentTexts.map((one) => one.toWellFormed()));
  }
}
