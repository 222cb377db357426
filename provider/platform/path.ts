import { pathPartProblem } from "../records/values";
import { InputError } from "./errors";

/**
 * Fills the `{name}` parts of a path, each checked and percent-encoded.
 *
 * @throws InputError for a part that is empty, a dot segment (which clients resolve) or malformed Unicode.
 */
export function fillPath(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodePart(name, parts[name] ?? ""));
}

function encodePart(name: string, part: string): string {
  const wrong = pathPartProblem(part);
  if (wrong) throw new InputError(name, wrong);
  return encodeURIComponent(part);
}
