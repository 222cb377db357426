/** The seed of the random choices. `npm test` makes the same choices in each run, and the long suites make others. */
export const seed = Number(process.env["REKEY_SEED"] ?? 1);

/** Defines a test for each item. Two run at a time, because most of their time is waiting. */
export function itInPairs<T>(
  items: readonly T[],
  titleOf: (item: T, nth: number) => string,
  test: (item: T) => Promise<void>,
): void {
  const runs: Promise<void>[] = [];
  const start = (index: number): void => {
    const item = items[index];
    // Its own test reports a failure.
    if (item !== undefined) (runs[index] ??= test(item)).catch(() => undefined);
  };
  for (const [index, item] of items.entries()) {
    it(titleOf(item, index + 1), () => {
      start(index);
      start(index + 1);
      return runs[index];
    });
  }
}
