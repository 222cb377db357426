/** The seed of the random choices. `npm test` makes the same choices in each run, and the long suites make others. */
export const seed = Number(process.env["REKEY_SEED"] ?? 1);

/** Defines a test for each item. Two run at a time, because most of their time is waiting. */
export function itInPairs<T>(
  items: readonly T[],
  titleOf: (item: T, nth: number) => string,
  test: (item: T) => Promise<void>,
): void {
  const runs: Promise<void>[] = [];
  const run = (index: number): Promise<void> | undefined => {
    const item = items[index];
    if (item === undefined) return undefined;
    const running = (runs[index] ??= test(item));
    // Its own test reports a failure.
    running.catch(() => undefined);
    return running;
  };
  for (const [index, item] of items.entries()) {
    it(titleOf(item, index + 1), () => {
      const running = run(index);
      void run(index + 1);
      return running;
    });
  }
}
