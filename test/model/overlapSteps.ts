import fc from "fast-check";
import {
  type Faults,
  faults,
  type Host,
  hosts,
  noFaults,
  othersDo,
  type OthersDo,
  requests,
  type Server,
  servers,
} from "./overlapAccount";

export const overlapKinds = ["QueueTokenRotation", "AclUserRotation"] as const;
export type OverlapKind = (typeof overlapKinds)[number];

/** What a program asks for. */
export interface Program {
  /** 0 for none. */
  readonly version: number;
  readonly overlap: "verified" | "none" | "6h" | undefined;
  readonly rotateEvery: "12h" | undefined;
  /** Whether `rotatedSince` is the time of the last leak. */
  readonly isLeaked: boolean;
  readonly initialRotation: boolean;
  readonly form: "saved" | "hidden" | "encrypted" | "saved and encrypted";
  /** What the verification does, if the program has one. */
  readonly verification: "none" | "tries" | "retires";
}

/** The settings of a run, and how its platform is. */
export interface Settings {
  readonly scheduledResets: "on" | "off";
  readonly server: Server;
  readonly canSave: boolean;
  /** Where the server is, as the program gives it. */
  readonly host: Host;
}

export const plainProgram: Program = {
  version: 1,
  overlap: undefined,
  rotateEvery: undefined,
  isLeaked: false,
  initialRotation: true,
  form: "saved",
  verification: "retires",
};

export const plainSettings = { scheduledResets: "on", server: "plain", canSave: true, host: hosts[0] } as const;

export interface Up {
  readonly do: "up";
  readonly faults: Faults;
  readonly isDeployed: boolean;
  /** What someone else does right after an addition. */
  readonly meanwhile: OthersDo | undefined;
  /** Whether the engine repeats each change; updates what has not changed. */
  readonly isRepeated: boolean;
  readonly isForced: boolean;
  /** What is not saved, because the run is killed after it was done. */
  readonly killedAfter: "rotation" | "verification" | undefined;
}

/** A step of a walk, in plain data: what a failure prints can be run again as it stands. */
export type Step =
  | Up
  | { readonly do: "refresh"; readonly faults: Faults }
  | { readonly do: "edit"; readonly change: Partial<Program> }
  | { readonly do: "bump" }
  /** What is older than now was leaked. */
  | { readonly do: "leak" }
  | { readonly do: "set"; readonly change: Partial<Settings> }
  /** Sets rekey:queueToken to what the platform shows now, or removes it. */
  | { readonly do: "set own token"; readonly isSet: boolean }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "others"; readonly what: OthersDo };

export const plainUp: Up = {
  do: "up",
  faults: noFaults,
  isDeployed: true,
  meanwhile: undefined,
  isRepeated: false,
  isForced: false,
  killedAfter: undefined,
};

/** True in one of `weight` + 1 cases. A failure shrinks towards false, the plain step. */
const often = (weight: number) => fc.integer({ min: 0, max: weight }).map((one) => one === weight);

const turns = fc.oneof(
  { weight: 8, arbitrary: fc.constant(["none"] as const) },
  fc.array(fc.constantFrom(...faults), { minLength: 1, maxLength: 3 }),
);
const someFaults: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(noFaults) },
  fc.record(Object.fromEntries(requests.map((name) => [name, turns]))) as unknown as fc.Arbitrary<Faults>,
);

function upOf(kind: OverlapKind): fc.Arbitrary<Up> {
  // What replaces a token of unknown hash at once is taken for that token.
  const meanwhile = kind === "AclUserRotation" ? (["adds", "retires", "restarts"] as const) : othersDo[kind];
  return fc.record({
    do: fc.constant("up" as const),
    faults: someFaults,
    isDeployed: often(3).map((isBroken) => !isBroken),
    meanwhile: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constantFrom(...meanwhile)),
    isRepeated: often(6),
    isForced: often(8),
    killedAfter: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      fc.constantFrom("rotation" as const, "verification" as const),
    ),
  });
}

const change: fc.Arbitrary<Partial<Program>> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ overlap: fc.constantFrom("verified", "none", "6h", undefined) }) },
  { weight: 3, arbitrary: fc.record({ verification: fc.constantFrom("retires", "tries", "none") }) },
  { weight: 2, arbitrary: fc.record({ rotateEvery: fc.constantFrom("12h" as const, undefined) }) },
  { weight: 2, arbitrary: fc.record({ form: fc.constantFrom("saved", "encrypted", "saved and encrypted", "hidden") }) },
  fc.record({ isLeaked: fc.constant(false) }),
  fc.record({ initialRotation: fc.boolean() }),
  fc.record({ version: fc.constant(0) }),
);
const edit: fc.Arbitrary<Step> = fc.record({ do: fc.constant("edit" as const), change });

function settingOf(kind: OverlapKind): fc.Arbitrary<Step> {
  const ofUser = [
    fc.record({ server: fc.constantFrom(...servers) }),
    fc.record({ canSave: fc.boolean() }),
    fc.record({ host: fc.constantFrom(...hosts) }),
  ];
  const ofRun = fc.record({ scheduledResets: fc.constantFrom("on" as const, "off" as const) });
  const all: fc.Arbitrary<Partial<Settings>> = fc.oneof(ofRun, ...(kind === "AclUserRotation" ? ofUser : []));
  const set: fc.Arbitrary<Step> = fc.record({ do: fc.constant("set" as const), change: all });
  const own: fc.Arbitrary<Step> = fc.record({ do: fc.constant("set own token" as const), isSet: fc.boolean() });
  return kind === "QueueTokenRotation" ? fc.oneof({ weight: 2, arbitrary: set }, own) : set;
}

/** The walks of a kind. Most changes of the program or the settings are followed by an `up`. */
export function overlapWalksOf(kind: OverlapKind): fc.Arbitrary<readonly Step[]> {
  const up = upOf(kind);
  const broken = up.map((one) => ({ ...one, isDeployed: false }));
  const bump = fc.constant<Step>({ do: "bump" });
  const leak = fc.constant<Step>({ do: "leak" });
  const hours = fc.constantFrom(1, 3, 5.8, 7, 11, 13, 40);
  const wait: fc.Arbitrary<Step> = fc.record({ do: fc.constant("wait" as const), hours });
  const editTo = (to: Partial<Program>) => fc.constant<Step>({ do: "edit", change: to });
  const others: fc.Arbitrary<Step> = fc.record({
    do: fc.constant("others" as const),
    what: fc.constantFrom(...othersDo[kind]),
  });
  const refresh: fc.Arbitrary<Step> = fc.record({ do: fc.constant("refresh" as const), faults: someFaults });
  const some: fc.Arbitrary<readonly Step[]> = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(bump, up) },
    { weight: 4, arbitrary: fc.tuple(edit, up) },
    { weight: 3, arbitrary: fc.tuple(settingOf(kind), up) },
    { weight: 3, arbitrary: fc.tuple(wait, up) },
    { weight: 2, arbitrary: fc.tuple(wait, leak, up) },
    { weight: 1, arbitrary: fc.tuple(editTo({ rotateEvery: "12h" }), up, wait, up) },
    { weight: 1, arbitrary: fc.tuple(editTo({ overlap: "6h", verification: "tries" }), bump, up, wait, up) },
    { weight: 2, arbitrary: fc.tuple(edit, bump, up) },
    // People change the version to try again while the deployment is broken.
    { weight: 2, arbitrary: fc.tuple(bump, broken, bump, broken, up) },
    { weight: 3, arbitrary: fc.tuple(others, up) },
    { weight: 4, arbitrary: fc.tuple(up) },
    { weight: 2, arbitrary: fc.tuple(refresh) },
    { weight: 2, arbitrary: fc.tuple(others) },
    { weight: 2, arbitrary: fc.tuple(edit) },
  );
  return fc.array(some, { minLength: 1, maxLength: 15, size: "max" }).map((all) => all.flat());
}
