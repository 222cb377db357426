import fc from "fast-check";
import { type Strike } from "../model/real/fixture";
import { type Point } from "../model/real/gate";
import { type Subject } from "./subject";

/** A `kill -9` in the middle of an `up`; in plain data. */
export interface Kill {
  /** Whether the resources are to be created, or have a new version. */
  readonly from: "nothing" | "finished stack";
  readonly strike: Strike;
}

export function killsOf({ ids, victims }: Subject): fc.Arbitrary<Kill> {
  const victim = fc.constantFrom(...victims);
  const at = fc.integer({ min: 1, max: ids.length });
  const point = fc.constantFrom<Point>("arrived", "applied", "responded");
  const strike: fc.Arbitrary<Strike> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ victim, at, point }) },
    { weight: 2, arbitrary: fc.record({ victim, change: fc.integer({ min: 1, max: 150 }) }) },
    { weight: 1, arbitrary: fc.record({ victim, afterMs: fc.integer({ min: 50, max: 6000 }) }) },
  );
  return fc.record({ from: fc.constantFrom<Kill["from"]>("nothing", "finished stack"), strike });
}

const states = { arrived: "arrived", applied: "was applied", responded: "had its response" };

export function describeKill({ from, strike: { victim, at, point = "arrived", change, afterMs } }: Kill): string {
  const atChange = change === undefined ? `after ${afterMs} ms` : `at change ${change} in the state's folder`;
  const when = at === undefined ? atChange : `when request ${at} ${states[point]}`;
  return `${victim} killed ${when}, from ${from === "nothing" ? from : `a ${from}`}`;
}
