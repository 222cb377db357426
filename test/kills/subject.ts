import fc from "fast-check";
import { type Rekey, type Victim } from "../e2e/engineStack";
import { type Adapter } from "../support/host";
import { type Point } from "./gate";
import { type Strike } from "./interruptedStack";

/** A program that is interrupted. */
export interface Subject {
  readonly title: string;
  readonly adapter: Adapter;
  readonly ids: readonly string[];
  /** Whether one fleet has all of them. Otherwise each has a resource with its id as its name. */
  readonly isFleet?: true;
  /** Whether credentials have to be read. */
  readonly reads?: true;
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `db-${index}`);

export const subjects: readonly Subject[] = [
  { title: "50 resources", adapter: "dynamic", ids: idsOf(50) },
  { title: "50 resources of the plugin whose passwords are read", adapter: "plugin", ids: idsOf(50), reads: true },
  { title: "a fleet of 200 of the plugin", adapter: "plugin", ids: idsOf(200), isFleet: true },
];

/** Declares the resources of a subject, and calls `receive` with the passwords that the program gets. */
export function declare(
  { PasswordRotation, PasswordRotationFleet }: Rekey,
  { ids, isFleet }: Subject,
  version: number,
  receive: (id: string, password?: string) => void,
): void {
  if (isFleet) {
    const databases = Object.fromEntries(ids.map((databaseId) => [databaseId, { databaseId }]));
    new PasswordRotationFleet("caches", { databases, version }).credentials.apply((all) =>
      Object.entries(all ?? {}).forEach(([id, { password }]) => receive(id, password)),
    );
    return;
  }
  for (const databaseId of ids) {
    const { password } = new PasswordRotation(databaseId, { databaseId, version });
    password.apply((known) => receive(databaseId, known));
  }
}

/** How many kills of each subject, unless REKEY_KILLS is set. */
export const usualRuns = 6;

/** A `kill -9` in the middle of an `up`; in plain data. */
export interface Kill {
  /** Whether the resources are to be created, or have a new version. */
  readonly from: "nothing" | "finished stack";
  readonly strike: Strike;
}

export function killsOf({ ids }: Subject): fc.Arbitrary<Kill> {
  const victim = fc.constantFrom<Victim>("engine", "engine", "provider", "both");
  const at = fc.integer({ min: 1, max: ids.length });
  const point = fc.constantFrom<Point>("arrived", "applied", "responded");
  const strike: fc.Arbitrary<Strike> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ victim, at, point }) },
    { weight: 2, arbitrary: fc.record({ victim, change: fc.integer({ min: 1, max: 150 }) }) },
  );
  return fc.record({ from: fc.constantFrom<Kill["from"]>("nothing", "finished stack"), strike });
}

const states = { arrived: "arrived", applied: "was applied", responded: "had its response" };

export function describeKill({ from, strike: { victim, at, point = "arrived", change } }: Kill): string {
  const when = at === undefined ? `at change ${change} in the state's folder` : `when request ${at} ${states[point]}`;
  return `${victim} killed ${when}, from ${from === "nothing" ? from : `a ${from}`}`;
}
