import assert from "node:assert/strict";
import fc from "fast-check";
import { Team } from "../support/age";
import { seed } from "../support/suite";
import { type OverlapKind, overlapKinds, overlapWalksOf, type Step } from "./overlapSteps";
import { OverlapWalk } from "./overlapWalk";

describe("a random walk with two valid secrets, with both adapters", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 100);
  const reached = new Set<string>();
  let team: Team;
  before(async () => (team = await Team.create()));

  async function walk(kind: OverlapKind, steps: readonly Step[]): Promise<void> {
    const both = [new OverlapWalk("dynamic", kind, team, reached), new OverlapWalk("plugin", kind, team, reached)] as const;
    for (const next of steps) {
      for (const one of both) await one.take(next);
      assert.deepEqual(both[1].did, both[0].did, "the adapters differ");
    }
    for (const one of both) await one.finish();
  }

  for (const kind of overlapKinds) {
    it(`removes nothing that consumers have in ${numRuns} walks (${kind}, REKEY_SEED=${seed})`, () =>
      fc.assert(
        fc.asyncProperty(overlapWalksOf(kind), (steps) => walk(kind, steps)),
        { seed, numRuns, timeout: 300_000 },
      )).timeout(0);
  }
});
