import { InputError } from "../platform/errors";
import { didYouMean, isObject, isSet, kindOf } from "../records/fields";

/**
 * Refuses arguments of a data source that do not exist. Undefined and null count as not set.
 *
 * @param known has each existing name as a property
 * @throws InputError
 */
export function refuseUnknown(given: object, known: object): void {
  if (!isObject(given)) throw new InputError("its arguments", `must be an object, not ${kindOf(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (!isSet(value) || Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    const details = [`known: ${names.join(", ") || "none"}`, didYouMean(name, names)].filter((detail) => detail !== "");
    throw new InputError(name, `is not one of its arguments (${details.join("; ")})`);
  }
}

/** @throws InputError unless an argument of a data source is a text that can be sent */
export function requiredText(name: string, value: unknown): string {
  const text = optionalText(name, value);
  if (text === undefined) throw new InputError(name, "is required");
  return text;
}

/** As `requiredText`, or undefined if it is not set. Null counts as not set. */
export function optionalText(name: string, value: unknown): string | undefined {
  if (!isSet(value)) return undefined;
  if (typeof value !== "string") throw new InputError(name, `must be a string, not ${kindOf(value)}`);
  if (!value.isWellFormed()) throw new InputError(name, "must be well-formed Unicode");
  return value;
}
