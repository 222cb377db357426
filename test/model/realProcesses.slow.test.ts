import fc from "fast-check";
import { seed } from "../support/seed";
import { Play } from "./real/play";
import { sequence } from "./real/steps";
import { runs } from "./settings";

describe("rotation under kill and repeat, with real processes", function () {
  this.timeout(600_000);
  if (process.platform === "win32") return void it.skip("skipped: Windows has other signals and lists of processes");

  const numRuns = runs("REKEY_MODEL_REAL_RUNS", 5);
  const sequences = fc.sample(sequence, { seed, numRuns });
  const playing = new Map<number, Promise<void>>();
  const play = (index: number): Promise<void> | undefined => {
    const steps = sequences[index];
    const end = playing.get(index) ?? (steps && Play.all(steps));
    if (end) playing.set(index, end);
    // Its own test reports a failure.
    end?.catch(() => undefined);
    return end;
  };

  for (const index of sequences.keys()) {
    it(`finds no violation in sequence ${index + 1} of ${numRuns} (REKEY_SEED=${seed})`, () => {
      const end = play(index);
      // Most of the time a process waits for another: two sequences at a time take little longer than one.
      void play(index + 1);
      return end;
    });
  }
});
