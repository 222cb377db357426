import fc from "fast-check";
import PQueue from "p-queue";
import { Play } from "./real/play";
import { sequence } from "./real/steps";
import { runs, seed } from "./settings";

describe("rotation under kill and repeat, with real processes", function () {
  this.timeout(600_000);
  // Signals and process lists are another thing there.
  if (process.platform === "win32") return void it.skip("not on this system");

  const numRuns = runs("REKEY_MODEL_REAL_RUNS", 5);
  // Most of the time a process waits for another: two sequences at a time take little longer than one.
  const queue = new PQueue({ concurrency: 2, autoStart: false });
  const played = fc.sample(sequence, { seed, numRuns }).map((steps) => {
    const end = queue.add(() => Play.all(steps));
    end.catch(() => undefined);
    return end;
  });
  before(() => void queue.start());

  for (const [index, end] of played.entries()) {
    it(`finds no violation in sequence ${index + 1} of ${numRuns} (REKEY_SEED=${seed})`, () => end);
  }
});
