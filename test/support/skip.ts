/** Skips the running test. The reason is part of its title, so that each report has it. */
export function skip({ test }: Mocha.Context, why: string): never {
  if (test !== undefined) test.title += ` (skipped: ${why})`;
  return test?.skip() as never;
}
