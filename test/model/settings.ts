/** How many sequences to run; the environment may change it. */
export function runs(variable: "REKEY_MODEL_RUNS" | "REKEY_MODEL_REAL_RUNS", usual: number): number {
  return Number(process.env[variable] ?? usual);
}
