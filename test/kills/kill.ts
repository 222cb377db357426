import fc from "fast-check";
import { type Point } from "../model/real/gate";
import { type Victim } from "../support/engineProcess";
import { type Subject } from "./subject";

/** A `kill -9` in the middle of an `up`; in plain data. */
export interface Kill {
  /** Whether the resources are to be created, or have a new version. */
  readonly from: "nothing" | "finished stack";
  readonly victim: Victim;
  readonly moment: Moment;
}

/**
 * One of three: a point of the nth request's way, the nth change in the state's folder, a share of the time of an `up`.
 */
export interface Moment {
  readonly request?: number;
  readonly point?: Point;
  readonly change?: number;
  readonly share?: number;
}

const momentOf = ({ ids }: Subject): fc.Arbitrary<Moment> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        request: fc.integer({ min: 1, max: ids.length }),
        point: fc.constantFrom<Point>("arrived", "applied", "responded"),
      }),
    },
    { weight: 2, arbitrary: fc.record({ change: fc.integer({ min: 1, max: 150 }) }) },
    { weight: 1, arbitrary: fc.record({ share: fc.integer({ min: 0, max: 99 }).map((percent) => percent / 100) }) },
  );

export const killsOf = (subject: Subject): fc.Arbitrary<Kill> =>
  fc.record({
    from: fc.constantFrom<Kill["from"]>("nothing", "finished stack"),
    victim: fc.constantFrom<Victim>(...subject.victims),
    moment: momentOf(subject),
  });

export function describeKill({ from, victim, moment: { request, point, change, share = 0 } }: Kill): string {
  const when =
    request !== undefined
      ? `when request ${request} ${point && { arrived: "arrived", applied: "was applied", responded: "had its response" }[point]}`
      : change !== undefined
        ? `at change ${change} in the state's folder`
        : `after ${Math.round(share * 100)} % of the time`;
  return `${victim} killed ${when}, from ${from === "nothing" ? from : `a ${from}`}`;
}
