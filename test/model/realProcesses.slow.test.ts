import fc from "fast-check";
import { itInPairs, seed } from "../support/suite";
import { Runner } from "./real/runner";
import { sequence } from "./real/steps";

describe(`rotation under kill and repeat, with real processes (REKEY_SEED=${seed})`, function () {
  if (process.platform === "win32") return void it.skip("skipped: Windows has other signals and lists of processes");

  const numRuns = Number(process.env["REKEY_MODEL_REAL_RUNS"] ?? 5);
  const sequences = fc.sample(sequence, { seed, numRuns }).map((steps, index) => ({ steps, reads: index % 2 === 0 }));
  const titleOf = ({ reads }: { reads: boolean }, nth: number) =>
    `finds no violation in sequence ${nth} of ${numRuns}, reads ${reads ? "on" : "off"}`;
  itInPairs(sequences, titleOf, ({ steps, reads }) => Runner.run(steps, reads));
});
