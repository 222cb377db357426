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
