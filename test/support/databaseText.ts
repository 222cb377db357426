import { databaseRecord } from "../../local/platform/databaseRecord";

/** The platform's response to a reset: all fields of the interface, overridden or extended by `given`. */
export function databaseText(given: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(databaseRecord({ database_id: "db", ...given }));
}

/** The same with JSON written by hand at its end: for what no JavaScript value can say. */
export function databaseTextAnd(json: string, given: Readonly<Record<string, unknown>> = {}): string {
  return `${databaseText(given).slice(0, -1)},${json}}`;
}
