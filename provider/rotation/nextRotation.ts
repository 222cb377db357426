/** The time at which the next rotation is due (ISO 8601, UTC), if one is scheduled. */
export function nextRotation(last: string | undefined, rotateEvery: string | undefined): string | undefined {
  if (last === undefined || !rotateEvery) return undefined;
  // Loaded on first use: most programs do not rotate by time.
  const { dueAt } = require("./schedule") as typeof import("./schedule");
  return dueAt(last, rotateEvery).toISOString();
}
