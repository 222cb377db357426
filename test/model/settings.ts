import { randomInt } from "node:crypto";

/** The seed of the random choices. `REKEY_SEED` replays those of a run that printed it. */
export const seed = Number(process.env["REKEY_SEED"] ?? randomInt(2 ** 31));

/** How many sequences to run; the environment may change it. */
export function runs(variable: "REKEY_MODEL_RUNS" | "REKEY_MODEL_REAL_RUNS", usual: number): number {
  return Number(process.env[variable] ?? usual);
}
