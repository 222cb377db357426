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

/** Why a text cannot be a part of a path, if it cannot. */
export function pathPartProblem(part: string): string | undefined {
  if (part.trim() === "") return "must not be empty";
  if (part === "." || part === "..") return `must not be ${JSON.stringify(part)}, which a path cannot contain`;
  if (!part.isWellFormed()) return "must be well-formed Unicode";
  return undefined;
}
