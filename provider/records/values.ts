/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Why a text cannot be a part of a path, if it cannot. */
export function pathPartProblem(part: string): string | undefined {
  if (part.trim() === "") return "must not be empty";
  if (part === "." || part === "..") return `must not be ${JSON.stringify(part)}, which a path cannot contain`;
  if (!part.isWellFormed()) return "must be well-formed Unicode";
  return undefined;
}
