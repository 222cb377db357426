import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { type Result } from "./host";

/** The result, if it is of that kind; else the test fails and shows it. */
export function expectKind<K extends Result["kind"]>(kind: K, result: Result): Extract<Result, { kind: K }> {
  assert.equal(result.kind, kind, JSON.stringify(result));
  return result as Extract<Result, { kind: K }>;
}

/** Waits until a condition holds. @param timeoutMs less than a test may take */
export async function until(isSo: () => boolean, timeoutMs = 300_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; !isSo();) {
    if (Date.now() > end) throw new Error(`timed out waiting for ${isSo.toString()}`);
    await wait(5);
  }
}

/** Asserts that an object has these fields, among others. */
export function assertFields(actual: object | undefined, expected: object): void {
  const found = Object.keys(expected).map((name) => [name, (actual as Record<string, unknown> | undefined)?.[name]]);
  assert.deepEqual(Object.fromEntries(found), expected);
}
