import fc from "fast-check";
import { databasePassword, kinds, queueToken, type SecretKind } from "../../provider/domain/secretKind";
import { type ResourceType } from "../../provider/engine/resources";
import {
  type Delivery,
  faults,
  honest,
  masks,
  othersDo,
  type OthersDo,
  type Reply,
  type RequestName,
  type ShapeName,
} from "./account";

/** What a walk rotates. */
export interface Subject {
  readonly kind: SecretKind;
  readonly type: ResourceType;
  /** With `overlap: "none"`, that of a token is another one than its kind's. */
  readonly shape: ShapeName;
  readonly ids: readonly string[];
}

const ofKinds = kinds.map((kind): [string, Subject] => {
  const { name, shape, onlyId = "one" } = kind;
  return [name, { kind, type: name, shape, ids: [onlyId] }];
});

export const subjects: Readonly<Record<string, Subject>> = {
  ...Object.fromEntries(ofKinds),
  PasswordRotationFleet: {
    kind: databasePassword,
    type: "PasswordRotationFleet",
    shape: "replaces",
    ids: ["db-a", "db-b"],
  },
  "QueueTokenRotation, none": { kind: queueToken, type: "QueueTokenRotation", shape: "replaces", ids: ["user"] },
};

/** Two addresses of one account or server, and another one. */
const places = ["home", "the other address", "elsewhere"] as const;
export type Place = (typeof places)[number];

/** How a server makes passwords, and lists them. */
const servers = ["plain", "makes tokens", "makes tokens with other hashes"] as const;

/** What a program asks for. */
export interface Program {
  /** 0 for none. */
  readonly version: number;
  /** Whether the version is written as a text, which is the same one. */
  readonly isText: boolean;
  readonly overlap: "retirement" | "none" | "6h";
  readonly rotateEvery: "12h" | undefined;
  /** Whether `rotatedSince` is the time of the last leak. */
  readonly isLeaked: boolean;
  readonly initialRotation: boolean;
  readonly minInterval: "0s" | "1h";
  readonly form: "saved" | "hidden" | "encrypted" | "saved and encrypted";
  /** Whether the program has a verification, and a Retirement. */
  readonly verifies: boolean;
  readonly retires: boolean;
  /** The names of a fleet's databases, in the order of their ids; those without one are not in the program. */
  readonly fleet: readonly string[];
}

/** The settings of a run, and how its platform is. */
export interface Settings {
  readonly place: Place;
  readonly canRead: boolean;
  readonly scheduledResets: "on" | "off";
  readonly maxResets: 0 | 1 | undefined;
  /** Whether reads show no credentials, and lists no hashes. */
  readonly isHiding: boolean;
  /** Whether nothing can be reached. */
  readonly isAway: boolean;
  readonly server: (typeof servers)[number];
  readonly canSave: boolean;
}

export function plainProgram({ kind, shape }: Subject): Program {
  return {
    version: 1,
    isText: false,
    overlap: kind.shape === "adds" && shape === "replaces" ? "none" : "retirement",
    rotateEvery: undefined,
    isLeaked: false,
    initialRotation: true,
    minInterval: "1h",
    form: "saved",
    verifies: shape === "adds" || shape === "redis",
    retires: shape === "adds" || shape === "redis",
    fleet: ["a", "b"],
  };
}

export const plainSettings: Settings = {
  place: "home",
  canRead: true,
  scheduledResets: "on",
  maxResets: undefined,
  isHiding: false,
  isAway: false,
  server: "plain",
  canSave: true,
};

/** What happens to the requests about each secret. */
interface Delivered {
  readonly deliveries: readonly Delivery[];
}

const kills = ["rotation", "verification", "retirement", "deployment", "deletes"] as const;

export interface Up extends Delivered {
  readonly do: "up";
  /** Whether consumers are given what is new; and whether they are replaced, so that old ones serve until the end. */
  readonly isDeployed: boolean;
  readonly isReplaced: boolean;
  /** Whether the engine deletes what was replaced although the rotation has failed; and before it is replaced. */
  readonly isContinued: boolean;
  readonly isDeletedFirst: boolean;
  /** Whether the engine refreshes first; repeats each change; updates what has not changed. */
  readonly isRefreshed: boolean;
  readonly isRepeated: boolean;
  readonly isForced: boolean;
  /** What is not saved, because the run is killed after it was done. */
  readonly killedAfter: (typeof kills)[number] | undefined;
}

/** A step of a walk, in plain data: what a failure prints can be run again as it stands. */
export type Step =
  | Up
  | ({ readonly do: "refresh" | "import" } & Delivered)
  | { readonly do: "edit"; readonly change: Partial<Program> }
  | { readonly do: "bump" }
  /** What is older than now was leaked. */
  | { readonly do: "leak" }
  | { readonly do: "set"; readonly change: Partial<Settings> }
  /** Sets rekey:queueToken to what the platform shows now, or removes it. */
  | { readonly do: "set own token"; readonly isSet: boolean }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "others"; readonly what: OthersDo }
  /** The resource leaves the state, as a rename or a destruction does. The other one is put back. */
  | { readonly do: "lose" | "destroy" };

export const plainUp: Up = {
  do: "up",
  deliveries: [],
  isDeployed: true,
  isReplaced: false,
  isContinued: false,
  isDeletedFirst: false,
  isRefreshed: false,
  isRepeated: false,
  isForced: false,
  killedAfter: undefined,
};

/** What a walk of a shape does, in addition to what all do. */
interface Shape {
  readonly requests: readonly RequestName[];
  /** Whether responses are masked, and late. */
  readonly isMasked: boolean;
  /** What someone else does right after a change, and in how many of ten steps. */
  readonly meanwhile: readonly [share: number, ...what: OthersDo[]];
  readonly hours: readonly number[];
  readonly program: Partial<{ readonly [K in keyof Program]: readonly Program[K][] }>;
  readonly settings: Partial<{ readonly [K in keyof Settings]: readonly Settings[K][] }>;
  readonly alone: readonly Step["do"][];
}

const resets = {
  requests: ["read", "reset"],
  isMasked: true,
  // Clocks are set back, too.
  hours: [1, 2, 11, 13, 40, -3, -30],
  program: {},
  settings: { canRead: [true, false], isHiding: [true, false] },
  alone: ["lose", "import"],
} as const;

const shapes: Readonly<Record<ShapeName, Shape>> = {
  replaces: { ...resets, meanwhile: [5, "replaces"] },
  // Other keys than the next one are someone else's.
  rolls: {
    ...resets,
    meanwhile: [5, "rolls twice"],
    program: { minInterval: ["0s", "1h"] },
    settings: { ...resets.settings, place: places },
  },
  adds: {
    requests: ["read", "add", "proof", "retire", "reset"],
    isMasked: false,
    meanwhile: [1, ...othersDo.adds],
    hours: [1, 3, 5.8, 7, 11, 13, 40],
    program: { overlap: ["retirement", "none", "6h"], verifies: [true, false], retires: [true, false] },
    settings: {},
    alone: ["destroy"],
  },
  redis: {
    requests: ["read", "make", "add", "proof", "retire", "save"],
    isMasked: false,
    // What replaces a token of unknown hash at once is taken for that token.
    meanwhile: [1, "adds", "retires", "restarts"],
    hours: [1, 3, 5.8, 7, 11, 13, 40],
    program: { overlap: ["retirement", "none", "6h"], verifies: [true, false], retires: [true, false] },
    settings: { place: places, server: servers, canSave: [true, false], isHiding: [true, false, false] },
    alone: ["destroy"],
  },
};

/** True in one of `weight` + 1 cases. A failure shrinks towards false, the plain step. */
const often = (weight: number) => fc.integer({ min: 0, max: weight }).map((one) => one === weight);

function doing(what: Step["do"], given: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Step> {
  return fc.record({ do: fc.constant(what), ...given }) as fc.Arbitrary<Step>;
}

/** Changes one value. */
function oneOf<T>(values: { readonly [K in keyof T]?: readonly T[K][] }): fc.Arbitrary<Partial<T>> {
  const all = Object.entries(values) as [string, readonly unknown[]][];
  return fc.oneof(...all.map(([name, some]) => fc.record({ [name]: fc.constantFrom(...some) }))) as never;
}

function deliveryOf({ requests, isMasked, meanwhile }: Shape): fc.Arbitrary<Delivery> {
  const [share, ...what] = meanwhile;
  const mask = isMasked
    ? fc.oneof({ weight: 2, arbitrary: fc.constant("all" as const) }, fc.constantFrom(...masks))
    : fc.constant("all" as const);
  const plain = { weight: isMasked ? 5 : 2, arbitrary: fc.constant("none" as const) };
  const reply: fc.Arbitrary<Reply> = fc.record({
    fault: fc.oneof(plain, { weight: isMasked ? 2 : 1, arbitrary: fc.constantFrom(...faults) }),
    mask,
    isLate: isMasked ? often(4) : fc.constant(false),
  });
  const some = fc.array(reply, { minLength: 1, maxLength: isMasked ? 4 : 3 });
  const turns = isMasked ? some : fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, some);
  const faulty: fc.Arbitrary<Delivery> = fc.record({
    replies: fc.record(Object.fromEntries(requests.map((name) => [name, turns]))),
    meanwhile: fc.oneof(
      { weight: 10 - share, arbitrary: fc.constant(undefined) },
      { weight: share, arbitrary: fc.constantFrom(...what) },
    ),
  });
  return isMasked ? faulty : fc.oneof(fc.constant(honest), faulty);
}

/** The walks of a subject. Most changes of the program or the settings are followed by an `up`. */
export function walksOf({ kind, shape: name, type, ids }: Subject): fc.Arbitrary<readonly Step[]> {
  const shape = shapes[name];
  const deliveries = fc.tuple(...ids.map(() => deliveryOf(shape)));
  const up: fc.Arbitrary<Up> = fc.record({
    do: fc.constant("up" as const),
    deliveries,
    isDeployed: often(3).map((isBroken) => !isBroken),
    isReplaced: often(1),
    isContinued: often(3),
    isDeletedFirst: often(9),
    isRefreshed: often(4),
    isRepeated: often(6),
    isForced: often(8),
    killedAfter: fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, fc.constantFrom(...kills)),
  });
  const broken = up.map((one) => ({ ...one, isDeployed: false }));
  // A verification cannot try a token that is not saved while two are valid: it fails until it is removed.
  const forms = ["hidden", "encrypted", "saved", "saved and encrypted"] as const;
  const toForm = oneOf<Program>({ form: forms.filter((one) => name !== "adds" || one.startsWith("saved")) });
  const change = oneOf<Program>({
    rotateEvery: ["12h", undefined],
    isLeaked: [false],
    initialRotation: [true, false],
    version: [0],
    isText: [true, false],
    ...(type === "PasswordRotationFleet" && { fleet: [["a", "b"], ["a"], ["b", "a"], ["renamed", "b"]] }),
    ...shape.program,
  });
  const setting = oneOf<Settings>({
    scheduledResets: ["on", "off"],
    // A limit that stays would prevent most of what follows.
    maxResets: [0, 1, undefined, undefined, undefined],
    ...shape.settings,
  });
  const edit = doing("edit", { change: fc.oneof({ weight: 3, arbitrary: change }, toForm) });
  const set = doing("set", { change: setting });
  const own = doing("set own token", { isSet: fc.boolean() });
  const setOrOwn = kind === queueToken ? fc.oneof({ weight: 3, arbitrary: set }, own) : set;
  const bump = doing("bump", {});
  const leak = doing("leak", {});
  const scheduled = doing("edit", { change: fc.constant({ rotateEvery: "12h" }) });
  const forHours = doing("edit", { change: fc.constant({ overlap: "6h" }) });
  const move = doing("set", { change: fc.record({ place: fc.constantFrom(...places) }) });
  const setTo = (change: Partial<Settings>) => doing("set", { change: fc.constant(change) });
  const [away, here] = [setTo({ isAway: true }), setTo({ isAway: false })];
  const [elsewhere, home] = [setTo({ place: "elsewhere" }), setTo({ place: "home" })];
  const copies = fc.oneof(
    doing("others", { what: fc.constant("copies") }),
    fc.constant<Step>({ do: "wait", hours: 1 }),
  );
  const overlap = doing("edit", { change: oneOf<Program>({ overlap: ["retirement", "none", "6h"] }) });
  const wait = doing("wait", { hours: fc.constantFrom(...shape.hours) });
  const others = doing("others", { what: fc.constantFrom(...othersDo[name].filter((one) => one !== "copies")) });
  const refresh = doing("refresh", { deliveries });
  const some: fc.Arbitrary<readonly Step[]> = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(bump, up) },
    { weight: 5, arbitrary: fc.tuple(edit, up) },
    { weight: 3, arbitrary: fc.tuple(setOrOwn, up) },
    { weight: 3, arbitrary: fc.tuple(wait, up) },
    { weight: 2, arbitrary: fc.tuple(wait, leak, up) },
    { weight: 3, arbitrary: fc.tuple(scheduled, up, wait, up) },
    ...(shape.program.overlap ? [{ weight: 2, arbitrary: fc.tuple(forHours, bump, up, wait, up) }] : []),
    ...(shape.program.overlap ? [{ weight: 3, arbitrary: fc.tuple(overlap, bump, up, others, bump, up) }] : []),
    { weight: 1, arbitrary: fc.tuple(scheduled, bump, broken, wait, up) },
    { weight: 2, arbitrary: fc.tuple(edit, bump, up) },
    { weight: 1, arbitrary: fc.tuple(setOrOwn, edit, up) },
    // People change the version to try again while the deployment is broken.
    { weight: 2, arbitrary: fc.tuple(bump, broken, bump, broken, up) },
    { weight: 5, arbitrary: fc.tuple(others, up) },
    ...(shape.settings.place ? [{ weight: 3, arbitrary: fc.tuple(move, up) }] : []),
    ...(name === "redis"
      ? [{ weight: 3, arbitrary: fc.tuple(bump, up, copies, elsewhere, up, bump, up, home, up) }]
      : []),
    { weight: 4, arbitrary: fc.tuple(up) },
    { weight: 1, arbitrary: fc.tuple(away, bump, up, here, up) },
    { weight: 3, arbitrary: fc.tuple(refresh) },
    { weight: 2, arbitrary: fc.tuple(others) },
    ...shape.alone.map((one) => {
      return { weight: 1, arbitrary: fc.tuple(doing(one, one === "import" ? { deliveries } : {})) };
    }),
  );
  const adopting = fc.tuple(doing("edit", { change: fc.constant({ initialRotation: false }) }), up, bump, up);
  const first = shape.program.overlap ? fc.oneof({ weight: 5, arbitrary: some }, adopting) : some;
  const rest = fc.array(some, { maxLength: 14, size: "max" });
  const walk = fc.tuple(first, rest).map(([begin, then]) => [...begin, ...then.flat()]);
  if (name !== "redis") return walk;
  // A server that hides its hashes does so from the first rotation on.
  const hidden = fc.tuple(setTo({ isHiding: true }), up);
  const shown = setTo({ isHiding: false });
  const fromHidden = fc.tuple(hidden, shown, walk).map(([first, then, all]) => [...first, then, ...all]);
  return fc.oneof({ weight: 5, arbitrary: walk }, fromHidden);
}
