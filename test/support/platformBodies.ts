import { databaseRecord } from "../../local/platform/databaseRecord";

/** The platform's response to a reset: all fields of the interface, overridden or extended by `given`. */
export function databaseText(given: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(databaseRecord({ database_id: "db", ...given }));
}

/** Number of the last password reset of this process; each response contains new credentials. */
let generation = 0;

/** A platform's usual response bodies: a database record with credentials, or a flow-control record. */
export function bodyOf(method: string, path: string): string {
  const key = decodeURIComponent(path.split("/")[path.includes("/flowControl/") ? 3 : 4] ?? "");
  if (!path.includes("/flowControl/")) return databaseBody(key);
  return method === "POST" ? "{}" : JSON.stringify({ flowControlKey: key, waitListSize: 2, parallelismCount: 1 });
}

/** The record of a database whose password was just reset. */
export function databaseBody(id: string, more: Record<string, unknown> = {}): string {
  const nth = ++generation;
  const credentials = { password: `pw-${nth}`, rest_token: `rt-${nth}`, read_only_rest_token: `ro-${nth}` };
  return databaseText({ database_id: id, ...credentials, ...more });
}
