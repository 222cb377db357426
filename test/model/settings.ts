import { randomInt } from "node:crypto";

/** What the random choices grow from. `REKEY_SEED` replays those of a run that printed it. */
export const seed = Number(process.env["REKEY_SEED"] ?? randomInt(2 ** 31));

/** Sequences to run; a variable of the environment may say otherwise. */
export function runs(variable: "REKEY_MODEL_RUNS" | "REKEY_MODEL_REAL_RUNS", usual: number): number {
  return Number(process.env[variable] ?? usual);
}
