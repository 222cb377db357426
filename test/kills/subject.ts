import fc from "fast-check";
import { type Rekey, type Victim } from "../support/engineStack";
import { type Adapter } from "../support/host";
import { type Point } from "./gate";
import { type Strike } from "./interruptedStack";

/** What a state contains of a database. */
interface SavedDatabase {
  readonly databaseId: string;
  readonly rotationCount?: number;
  readonly outcome?: string;
  readonly password?: string;
}

/** A program that is interrupted, and how the state contains its databases. */
export interface Subject {
  readonly title: string;
  readonly adapter: Adapter;
  readonly ids: readonly string[];
  /** Whether credentials have to be read. */
  readonly reads: boolean;
  /** Declares the resources of `ids`, and calls `receive` with the passwords that the program gets. */
  readonly declare: (rekey: Rekey, version: number, receive: (id: string, password?: string) => void) => void;
  /** The name of the resource that contains a database. */
  readonly resourceOf: (id: string) => string;
  /** The databases in the outputs of such a resource, secrets in plain. */
  readonly databasesIn: (outputs: Readonly<Record<string, unknown>>) => readonly SavedDatabase[];
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `db-${index}`);

const single = idsOf(50);
const rotations = {
  ids: single,
  declare({ PasswordRotation }, version, receive) {
    for (const databaseId of single) {
      const { password } = new PasswordRotation(databaseId, { databaseId, version });
      password.apply((known) => receive(databaseId, known));
    }
  },
  resourceOf: (id) => id,
  databasesIn: (outputs) => [outputs as unknown as SavedDatabase],
} satisfies Partial<Subject>;

const members = idsOf(200);
const fleet = {
  ids: members,
  declare({ PasswordRotationFleet }, version, receive) {
    const databases = Object.fromEntries(members.map((databaseId) => [databaseId, { databaseId }]));
    new PasswordRotationFleet("caches", { databases, version }).credentials.apply((all) =>
      Object.entries(all ?? {}).forEach(([id, { password }]) => receive(id, password)),
    );
  },
  resourceOf: () => "caches",
  databasesIn({ states = {}, credentials = {} }) {
    const all = credentials as Readonly<Record<string, object>>;
    return Object.entries(states as Readonly<Record<string, SavedDatabase>>).map(([name, one]) => ({
      ...one,
      ...all[name],
    }));
  },
} satisfies Partial<Subject>;

export const subjects: readonly Subject[] = [
  { title: "50 resources", adapter: "dynamic", reads: false, ...rotations },
  { title: "50 resources of the plugin whose passwords are read", adapter: "plugin", reads: true, ...rotations },
  { title: "a fleet of 200 of the plugin", adapter: "plugin", reads: false, ...fleet },
];

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
