import assert from "node:assert/strict";
import fc from "fast-check";
import { Team } from "../support/age";
import { seed } from "../support/suite";
import { type Deliveries, type KindName, kinds, masks, outcomes, type ReadChoice } from "./account";
import { places, type Program, type Settings, type Step, Walk } from "./walk";

const often = (weight: number) => fc.integer({ min: 0, max: weight }).map((one) => one === 0);
const mask = fc.oneof({ weight: 3, arbitrary: fc.constant("all" as const) }, fc.constantFrom(...masks));
const read: fc.Arbitrary<ReadChoice> = fc.record({ mask, isLate: often(4), isFailing: often(9) });
const deliveries: fc.Arbitrary<Deliveries> = fc.record({
  outcome: fc.oneof({ weight: 6, arbitrary: fc.constant("confirmed" as const) }, fc.constantFrom(...outcomes)),
  response: mask,
  reads: fc.array(read, { minLength: 1, maxLength: 4 }),
});

const change: fc.Arbitrary<Partial<Program>> = fc.oneof(
  fc.record({ form: fc.constantFrom("saved", "hidden", "encrypted", "saved and encrypted") }),
  fc.record({ form: fc.constantFrom("saved", "hidden") }),
  fc.record({ rotateEvery: fc.constantFrom("12h" as const, undefined) }),
  fc.record({ isLeaked: fc.boolean() }),
  fc.record({ initialRotation: fc.boolean() }),
  fc.record({ minInterval: fc.constantFrom("0s" as const, undefined) }),
  fc.record({ version: fc.constant(0) }),
);
const setting: fc.Arbitrary<Partial<Settings>> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ place: fc.constantFrom(...places) }) },
  fc.record({ canRead: fc.boolean() }),
  fc.record({ scheduledResets: fc.constantFrom("on" as const, "off" as const) }),
  fc.record({ maxResets: fc.constantFrom(0 as const, undefined) }),
);
const up = fc.record({
  do: fc.constant("up" as const),
  isRefreshed: often(3),
  isRepeated: often(5),
  isKilled: often(7),
});
const withDeliveries = <T extends object>(step: fc.Arbitrary<T>) =>
  fc.tuple(step, deliveries).map(([one, all]) => ({ ...one, ...all }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: withDeliveries(up) },
  { weight: 3, arbitrary: withDeliveries(fc.constant({ do: "refresh" as const })) },
  { weight: 5, arbitrary: fc.constant<Step>({ do: "bump" }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("edit" as const), change }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("set" as const), change: setting }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.constantFrom(1, 2, 13, 40, -3, -30) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), times: fc.constantFrom(1, 2) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "lose" }) },
  { weight: 2, arbitrary: withDeliveries(fc.constant({ do: "import" as const })) },
);
const walks = fc.array(step, { minLength: 1, maxLength: 25, size: "max" });

describe("a random walk, with both adapters", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 100);
  let team: Team;
  before(async () => (team = await Team.create()));

  for (const kind of Object.keys(kinds) as KindName[]) {
    it(`sends, loses and saves nothing that it must not in ${numRuns} walks (${kind}, REKEY_SEED=${seed})`, () =>
      fc.assert(
        fc.asyncProperty(walks, async (steps) => {
          const both = [new Walk("dynamic", kind, team), new Walk("plugin", kind, team)] as const;
          for (const next of steps) {
            for (const walk of both) await walk.take(next);
            assert.deepEqual(both[1].log.at(-1), both[0].log.at(-1), "the adapters differ");
          }
          for (const walk of both) await walk.finish();
        }),
        { seed, numRuns, timeout: 200_000 },
      ));
  }
});
