import { whatIsWrongWithPathPart } from "../api/path";
import { isObject } from "../records/fields";
import { readInterval } from "../rotation/interval";
import { type CheckFailure } from "./resource";

/** Says what is wrong with a value that is set, if anything is. */
export type Check = (value: unknown) => string | undefined;

/** The inputs of a resource: how each is checked, and which must be there. */
export interface InputTable {
  readonly required: readonly string[];
  readonly checks: Readonly<Record<string, Check>>;
}

/**
 * Checks inputs before anything is sent. Null counts as not set. What is not known yet (in a preview) is let pass.
 *
 * @param unknown names of the inputs that are not known yet, or hold something that is not.
 */
export function checkInputs(
  { required, checks }: InputTable,
  inputs: Readonly<Record<string, unknown>>,
  unknown: ReadonlySet<string>,
): CheckFailure[] {
  const failures: CheckFailure[] = [];
  for (const property of required) {
    if ((inputs[property] ?? undefined) === undefined) failures.push({ property, reason: `${property} is required` });
  }
  for (const [property, value] of Object.entries(inputs)) {
    if (value === null || value === undefined || unknown.has(property)) continue;
    const check = Object.hasOwn(checks, property) ? checks[property] : isNoInput;
    const wrong = check?.(value);
    if (wrong) failures.push({ property, reason: `${property} ${wrong}` });
  }
  return failures;
}

const isNoInput: Check = () => "is not an input of this resource";

export const pathPart: Check = (value) =>
  typeof value === "string" ? whatIsWrongWithPathPart(value) : `must be a string, not ${kindOf(value)}`;

export const version: Check = (value) =>
  typeof value === "string" || isNumber(value) ? undefined : `must be a string or a number, not ${kindOf(value)}`;

export const triggers: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `must be a map of names to values, not ${kindOf(value)}`;
  }
  const wrong = Object.entries(value).find(([, one]) => !isScalar(one));
  return (
    wrong && `must hold strings, numbers and booleans only, but ${JSON.stringify(wrong[0])} is ${kindOf(wrong[1])}`
  );
};

export const interval: Check = (value) => {
  if (typeof value !== "string") return `must be a duration written as a string, not ${kindOf(value)}`;
  try {
    readInterval(value);
    return undefined;
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`;
  }
};

export const flag: Check = (value) =>
  typeof value === "boolean" ? undefined : `must be true or false, not ${kindOf(value)}`;

export const atLeastOne: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number, at least 1";

const fleetDatabaseTable: InputTable = {
  required: ["databaseId"],
  checks: { databaseId: pathPart, version, triggers },
};

export const fleetDatabases: Check = (value) => {
  if (!Array.isArray(value)) return `must be a list of databases, not ${kindOf(value)}`;
  for (const one of value as readonly unknown[]) {
    const database = typeof one === "string" ? { databaseId: one } : one;
    if (!isObject(database)) return `must hold databases, but one is ${kindOf(one)}`;
    const [wrong] = checkInputs(fleetDatabaseTable, database, new Set());
    if (wrong) return `cannot be used: of ${JSON.stringify(database["databaseId"])}, ${wrong.reason}`;
  }
  return undefined;
};

/** What the SDK passes along without the user's doing. */
export const hidden: Check = () => undefined;

function isScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || isNumber(value);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number that is not finite";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
