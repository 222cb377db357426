/** The time at which the next rotation is due (ISO 8601, UTC), where there is one. */
export function nextRotation(last: string | undefined, rotateEvery: string | undefined): string | undefined {
  if (last === undefined || !rotateEvery) return undefined;
  // Loaded when used: most programs do not rotate by time.
  const { dueAt } = require("../provider/rotation/interval") as typeof import("../provider/rotation/interval");
  return dueAt(last, rotateEvery).toISOString();
}
