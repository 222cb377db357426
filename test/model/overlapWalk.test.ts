import assert from "node:assert/strict";
import fc from "fast-check";
import { Team } from "../support/age";
import { skip } from "../support/skip";
import { seed } from "../support/suite";
import { type Faults, noFaults } from "./overlapAccount";
import {
  type OverlapKind,
  overlapKinds,
  overlapWalksOf,
  plainUp,
  type Program,
  type Settings,
  type Step,
  type Up,
} from "./overlapSteps";
import { OverlapWalk } from "./overlapWalk";

describe("a random walk with two valid secrets, with both adapters", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 100);
  const reached = { QueueTokenRotation: new Set<string>(), AclUserRotation: new Set<string>() };
  let team: Team;
  before(async () => (team = await Team.create()));

  async function walk(kind: OverlapKind, steps: readonly Step[], seen = new Set<string>()): Promise<void> {
    const both = [new OverlapWalk("dynamic", kind, team, seen), new OverlapWalk("plugin", kind, team, seen)] as const;
    for (const next of steps) {
      for (const one of both) await one.take(next);
      assert.deepEqual(both[1].did, both[0].did, "the adapters differ");
    }
    for (const one of both) await one.finish();
  }

  for (const kind of overlapKinds) {
    it(`removes nothing that it must not in ${numRuns} walks (${kind}, REKEY_SEED=${seed})`, () =>
      // A call that never ends fails, too; the time of all walks depends on the machine.
      fc.assert(
        fc.asyncProperty(overlapWalksOf(kind), (steps) => walk(kind, steps, reached[kind])),
        { seed, numRuns, timeout: 300_000 },
      )).timeout(0);
  }

  const added = ["created", "again", "trigger", "rotatedSince", "schedule"].map((due) => `add: ${due}`);
  const retired = ["verification", "date", "time"].map((why) => `retired: ${why}`);
  const both = [...added, ...retired, "again", "handed over", "not handed over", "waits: schedule"];
  const ofKind = {
    QueueTokenRotation: ["reset: trigger", "waits: trigger", "handed back"],
    AclUserRotation: [
      ...["none", "not proven", "back", "again by a verification"].map((why) => `retired: ${why}`),
      ...["gone", "moved, and the same"],
    ],
  };
  for (const kind of overlapKinds) {
    it(`reaches every reason for a rotation and for a retirement (${kind})`, function () {
      if (numRuns < 100) skip(this, "fewer than 100 walks may miss something by chance");
      const missing = [...both, ...ofKind[kind]].filter((one) => !reached[kind].has(one));
      assert.deepEqual(missing, []);
    });
  }

  const up = (more: Partial<Up> = {}): Up => ({ ...plainUp, ...more });
  const faulty = (more: Partial<Faults>): Pick<Up, "faults"> => ({ faults: { ...noFaults, ...more } });
  const set = (change: Partial<Settings>): Step => ({ do: "set", change });
  const edit = (change: Partial<Program>): Step => ({ do: "edit", change });
  const bump: Step = { do: "bump" };

  /** Sequences that once failed, and others that are rarely generated. */
  const kept: Readonly<Record<string, readonly [OverlapKind, ...Step[]]>> = {
    "a pair whose response is lost twice is asked for again": [
      "QueueTokenRotation",
      ...([edit({ initialRotation: false }), up(), { do: "wait", hours: 1 }, { do: "leak" }] as const),
      ...[up(faulty({ add: ["lost after", "rejected"] })), edit({ isLeaked: false }), up(), up()],
    ],
    "a reset that replaces both is sent again if it was lost": [
      "QueueTokenRotation",
      ...[up({ isDeployed: false }), edit({ overlap: "none" }), bump, up(faulty({ reset: ["lost before"] })), up()],
    ],
    "a repeated call adds no second password if SAVE was not sent": [
      "AclUserRotation",
      up({ isRepeated: true, ...faulty({ save: ["not sent"] }) }),
    ],
    "what could not be proven is removed although a later run fails before it": [
      "AclUserRotation",
      ...[up(), bump, up(faulty({ proof: ["rejected"] })), up(faulty({ retire: ["lost before"] })), up()],
    ],
    "a password whose hash is not certain is named": [
      "AclUserRotation",
      ...[set({ server: "makes tokens with other hashes" }), up({ meanwhile: "adds" }), bump, up(), bump, up()],
    ],
    "a second version after a failed deployment keeps what the consumers have": [
      "AclUserRotation",
      ...[up(), bump, up({ isDeployed: false }), edit({ verification: "tries" }), up(), bump, up()],
    ],
    "a version that adds a further password announces what is retired first": [
      "AclUserRotation",
      ...([edit({ overlap: "6h" }), up(), { do: "wait", hours: 5.8 }, bump, up(), { do: "wait", hours: 1 }] as const),
      ...[bump, up()],
    ],
    "a login at another server proves nothing unless it is responded to": [
      "AclUserRotation",
      ...[up(), set({ host: "elsewhere.example.com" }), up(faulty({ proof: ["lost before"] })), bump, up()],
    ],
    "a password whose value is not saved is not that of another server": [
      "AclUserRotation",
      ...[edit({ form: "encrypted" }), up(), set({ host: "elsewhere.example.com" }), up(), bump, up()],
    ],
  };
  for (const [what, [kind, ...steps]] of Object.entries(kept)) it(`${what} (${kind})`, () => walk(kind, steps));
});
