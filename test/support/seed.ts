/** The seed of the random choices. `npm test` makes the same choices in each run, and the long suites make others. */
export const seed = Number(process.env["REKEY_SEED"] ?? 1);
