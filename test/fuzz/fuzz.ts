import { seed } from "../support/suite";

/** How many values a property is tried with: `npm test fuzz` tries many, `npm test` a share of them. */
const scale = Number(process.env["REKEY_FUZZ_SCALE"] ?? 1);

before(() => console.log(`    seed: ${seed} (REKEY_SEED=${seed} repeats the run)`));

/** Parameters of a property of fast-check. @param runs how many values `npm test` tries */
export function fuzz(runs: number): { numRuns: number; seed: number; timeout: number } {
  return { numRuns: Math.ceil(runs * scale), seed, timeout: 200_000 };
}

/** The timeout of the whole property in milliseconds. */
export function timeoutFor(runs: number): number {
  return 600_000 + runs * scale * 20;
}
