import assert from "node:assert/strict";
import fc from "fast-check";
import { Team } from "../support/age";
import { skip } from "../support/skip";
import { seed } from "../support/suite";
import { type Deliveries, honest, type KindName, kinds, type ReadChoice } from "./account";
import { plainUp, type Program, type Settings, type Step, type Up, walksOf } from "./steps";
import { Walk } from "./walk";

describe("a random walk, with both adapters", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 100);
  const reached = new Set<string>();
  let team: Team;
  before(async () => (team = await Team.create()));

  async function walk(kind: KindName, steps: readonly Step[]): Promise<void> {
    const both = [new Walk("dynamic", kind, team, reached), new Walk("plugin", kind, team, reached)] as const;
    for (const next of steps) {
      for (const one of both) await one.take(next);
      assert.deepEqual(both[1].did, both[0].did, "the adapters differ");
    }
    for (const one of both) await one.finish();
  }

  /** Walks, one after the other. One that never ends is not shrunk: each attempt would take as long. */
  function walksIn(kind: KindName): (steps: readonly Step[]) => Promise<void> {
    let isUnderWay = false;
    return async (steps) => {
      fc.pre(!isUnderWay);
      isUnderWay = true;
      await walk(kind, steps).finally(() => (isUnderWay = false));
    };
  }

  for (const kind of Object.keys(kinds) as KindName[]) {
    it(`sends, loses and saves nothing that it must not in ${numRuns} walks (${kind}, REKEY_SEED=${seed})`, () =>
      // A call that never ends fails, too; the time of all walks depends on the machine.
      fc.assert(fc.asyncProperty(walksOf(kind), walksIn(kind)), { seed, numRuns, timeout: 300_000 })).timeout(0);
  }

  it("reaches every reason for a reset, and every end of one that was not confirmed", function () {
    if (numRuns < 100) skip(this, "fewer than 100 walks may miss something by chance");
    const all = ["created", "trigger", "again", "rotatedSince", "schedule"].map((due) => `reset: ${due}`);
    assert.deepEqual([...reached].sort(), [...all, "settled", "overtaken"].sort());
  });

  const up = (outcome: Deliveries["outcome"] = "confirmed", more: Partial<Deliveries> = {}): Up => {
    return { ...plainUp, deliveries: [{ ...honest, outcome, ...more }] };
  };
  const edit = (change: Partial<Program>): Step => ({ do: "edit", change });
  const set = (change: Partial<Settings>): Step => ({ do: "set", change });
  const bump: Step = { do: "bump" };
  const wait = (hours: number): Step => ({ do: "wait", hours });
  const killed: Step = { ...up(), isKilled: true };
  const reads = (...shown: readonly ReadChoice["mask"][]): Pick<Deliveries, "reads"> => {
    return { reads: shown.map((mask) => ({ mask, isLate: false, isFailing: false })) };
  };

  /** Sequences that once failed, and others that are rarely generated. */
  const kept: Readonly<Record<string, readonly [KindName, ...Step[]]>> = {
    "a version whose reset was not confirmed is applied by the next one, although it was removed meanwhile": [
      "PasswordRotation",
      ...[set({ canRead: false }), up(), edit({ version: 2 }), up("lost, applied"), edit({ version: 0 }), up()],
      ...[edit({ version: 2 }), up()],
    ],
    "a version that was applied and removed asks for no reset after an unconfirmed scheduled one": [
      "PasswordRotation",
      ...[set({ canRead: false }), edit({ rotateEvery: "12h" }), up(), edit({ version: 0 }), wait(13)],
      ...[up("lost, applied"), up(), edit({ version: 1 }), up()],
    ],
    "a scheduled reset that is sent again and settled is not due at once": [
      "PasswordRotation",
      ...[edit({ rotateEvery: "12h" }), up("lost, not applied"), wait(13), up("lost, applied")],
    ],
    "a reset that may be that of an earlier date is made once more": [
      "PasswordRotation",
      ...[edit({ isLeaked: true }), up("lost, not applied"), wait(1), up("lost, applied"), up()],
    ],
    "after three unconfirmed resets nothing is sent until the version changes": [
      "PasswordRotation",
      ...[set({ canRead: false }), up("lost, applied"), up("lost, not applied"), up("lost, applied"), up()],
      ...[edit({ version: 0 }), up(), edit({ version: 1, isText: true }), wait(40), up(), edit({ version: 2 }), up()],
    ],
    "what only the first read of a run shows to be the token in use is not reset when a call is repeated": [
      "QueueTokenRotation",
      ...[up(), bump, killed, set({ isOwnToken: true })],
      { ...up("confirmed", reads("all", "the other")), isRepeated: true },
    ],
    "a killed roll is recognized by the current key alone": [
      "SigningKeyRotation",
      ...[up(), bump, wait(1), killed, up("confirmed", { response: "nothing", ...reads("the best") })],
    ],
    "half of a pair that is shown only after a roll is believed": [
      "SigningKeyRotation",
      ...[up(), bump, wait(1), killed, up("confirmed", { response: "nothing", ...reads("nothing", "the best") })],
    ],
  };
  for (const [what, [kind, ...steps]] of Object.entries(kept)) it(`${what} (${kind})`, () => walk(kind, steps));
});
