import fc from "fast-check";
import { type Strike } from "../model/real/fixture";
import { type Point } from "../model/real/gate";
import { type Engine, localEngine, pluginOnCli } from "../support/engine";
import { type Victim } from "../support/engineProcess";
import { shardOf } from "../../provider/rotation/fleet";

/** What a state contains of a database. */
interface SavedDatabase {
  readonly databaseId: string;
  readonly rotationCount?: number;
  readonly outcome?: string;
  readonly password?: string;
}

/** What is interrupted: an engine that runs a program, and how the state contains its databases. */
export interface Subject {
  readonly title: string;
  readonly engine: Engine;
  readonly ids: readonly string[];
  /** Whether credentials have to be read. Default: false. */
  readonly reads?: boolean;
  readonly victims: readonly Victim[];
  /** How many kills, unless REKEY_KILLS is set. */
  readonly usualRuns: number;
  /** Statements that declare the resources of `ids` with a `version`, and call `receive(id, password)`. */
  readonly program: string;
  /** The name of the resource that contains a database. */
  readonly resourceOf: (id: string) => string;
  /** The databases in the outputs of such a resource, secrets in plain. */
  readonly databasesIn: (outputs: Readonly<Record<string, unknown>>) => readonly SavedDatabase[];
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `db-${index}`);

const rotations = {
  ids: idsOf(50),
  program: `
    for (const databaseId of ids)
      new PasswordRotation(databaseId, { databaseId, version }).password.apply((password) => receive(databaseId, password));`,
  resourceOf: (id) => id,
  databasesIn: (outputs) => [outputs as unknown as SavedDatabase],
} satisfies Partial<Subject>;

const fleet = {
  ids: idsOf(200),
  program: `
    const databases = Object.fromEntries(ids.map((databaseId) => [databaseId, { databaseId }]));
    new PasswordRotationFleet("caches", { databases, version }).credentials.apply((all) =>
      Object.entries(all ?? {}).forEach(([id, { password }]) => receive(id, password)));`,
  resourceOf: (id) => `caches-${shardOf(id)}`,
  databasesIn({ rotations = [], secrets = "[]" }) {
    const secretsOf = new Map((JSON.parse(secrets as string) as SavedDatabase[]).map((one) => [one.databaseId, one]));
    return (rotations as SavedDatabase[]).map((one) => ({ ...one, ...secretsOf.get(one.databaseId) }));
  },
} satisfies Partial<Subject>;

const onCli = { engine: pluginOnCli, victims: ["engine", "host"], usualRuns: 20 } as const;

const onLocal = {
  engine: localEngine,
  victims: ["engine", "engine", "everyone", "host", "program"],
  usualRuns: 6,
} as const;

export const subjects: readonly Subject[] = [
  { title: "50 resources", ...onLocal, ...rotations },
  { title: "50 resources whose passwords are read", ...onLocal, ...rotations, reads: true },
  { title: "50 native resources", ...onCli, ...rotations },
  { title: "50 native resources whose passwords are read", ...onCli, ...rotations, reads: true },
  { title: "a native fleet of 200", ...onCli, ...fleet },
];

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
