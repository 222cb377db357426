import fc from "fast-check";
import { type Deliveries, type KindName, kinds, masks, outcomes, type ReadChoice } from "./account";

/** Two addresses of one account, and another account. */
const places = ["home", "the other address", "elsewhere"] as const;

/** What a program asks for. */
export interface Program {
  /** 0 for none. */
  readonly version: number;
  /** Whether the version is written as a text, which is the same one. */
  readonly isText: boolean;
  readonly form: "saved" | "hidden" | "encrypted" | "saved and encrypted";
  readonly rotateEvery: "12h" | undefined;
  /** Whether what is older than now is reset. */
  readonly isLeaked: boolean;
  readonly initialRotation: boolean;
  readonly minInterval: "0s" | undefined;
  /** The names of a fleet's databases, in the order of their ids; those without one are not in the program. */
  readonly fleet: readonly string[];
}

/** The settings of a run. */
export interface Settings {
  readonly place: (typeof places)[number];
  readonly canRead: boolean;
  /** Whether reads show no credentials. */
  readonly isHiding: boolean;
  /** Whether rekey:queueToken is the token that is rotated. */
  readonly isOwnToken: boolean;
  readonly scheduledResets: "on" | "off";
  readonly maxResets: 0 | 1 | undefined;
}

export const plainSettings = {
  canRead: true,
  isHiding: false,
  isOwnToken: false,
  scheduledResets: "on",
  maxResets: undefined,
} as const satisfies Partial<Settings>;

/** What the platform does about each secret. */
interface Delivered {
  readonly deliveries: readonly Deliveries[];
}

export interface Up extends Delivered {
  readonly do: "up";
  readonly isRefreshed: boolean;
  /** Whether the engine repeats each change; updates what has not changed; is killed before it saves. */
  readonly isRepeated: boolean;
  readonly isForced: boolean;
  readonly isKilled: boolean;
}

/** A step of a walk, in plain data: what a failure prints can be run again as it stands. */
export type Step =
  | Up
  | ({ readonly do: "refresh" } & Delivered)
  | { readonly do: "edit"; readonly change: Partial<Program> }
  | { readonly do: "bump" }
  | { readonly do: "set"; readonly change: Partial<Settings> }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "change"; readonly times: number }
  /** The resource leaves the state, as a rename or a destruction does. */
  | { readonly do: "lose" }
  | ({ readonly do: "import" } & Delivered);

export const plainUp = { do: "up", isRefreshed: false, isRepeated: false, isForced: false, isKilled: false } as const;

/** True in one of `weight` + 1 cases. A failure shrinks towards false, the plain step. */
const often = (weight: number) => fc.integer({ min: 0, max: weight }).map((one) => one === weight);
const mask = fc.oneof({ weight: 2, arbitrary: fc.constant("all" as const) }, fc.constantFrom(...masks));
const read: fc.Arbitrary<ReadChoice> = fc.record({ mask, isLate: often(4), isFailing: often(9) });
const delivery: fc.Arbitrary<Deliveries> = fc.record({
  outcome: fc.oneof({ weight: 3, arbitrary: fc.constant("confirmed" as const) }, fc.constantFrom(...outcomes)),
  response: mask,
  reads: fc.array(read, { minLength: 1, maxLength: 4 }),
});

const change: fc.Arbitrary<Partial<Program>> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ form: fc.constantFrom("hidden", "encrypted", "saved", "saved and encrypted") }) },
  { weight: 2, arbitrary: fc.record({ rotateEvery: fc.constantFrom("12h" as const, "12h" as const, undefined) }) },
  fc.record({ isLeaked: fc.boolean() }),
  fc.record({ initialRotation: fc.boolean() }),
  fc.record({ minInterval: fc.constantFrom("0s" as const, undefined) }),
  fc.record({ version: fc.constant(0) }),
  fc.record({ isText: fc.boolean() }),
);
const fleet: fc.Arbitrary<Partial<Program>> = fc.record({
  fleet: fc.constantFrom(["a", "b"], ["a"], ["b", "a"], ["renamed", "b"]),
});
const setting: fc.Arbitrary<Partial<Settings>> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ isHiding: fc.boolean() }) },
  fc.record({ canRead: fc.boolean() }),
  fc.record({ scheduledResets: fc.constantFrom("on" as const, "off" as const) }),
  fc.record({ maxResets: fc.constantFrom(0 as const, 1 as const, undefined) }),
);
/** Only signing keys have no id of their own, so that another account has other ones. */
const place: fc.Arbitrary<Partial<Settings>> = fc.record({ place: fc.constantFrom(...places) });
const ownToken: fc.Arbitrary<Partial<Settings>> = fc.record({ isOwnToken: fc.boolean() });

/** The walks of a kind. Most changes of the program or the settings are followed by an `up`. */
export function walksOf(kindName: KindName): fc.Arbitrary<readonly Step[]> {
  const deliveries = fc.tuple(...kinds[kindName].ids.map(() => delivery));
  const up: fc.Arbitrary<Step> = fc.record({
    do: fc.constant("up" as const),
    isRefreshed: often(3),
    isRepeated: often(5),
    isForced: often(7),
    isKilled: often(7),
    deliveries,
  });
  const changes = kindName === "PasswordRotationFleet" ? fc.oneof({ weight: 4, arbitrary: change }, fleet) : change;
  const own = { QueueTokenRotation: ownToken, SigningKeyRotation: place }[kindName as string];
  const settings = own ? fc.oneof({ weight: 3, arbitrary: setting }, own) : setting;
  const edit: fc.Arbitrary<Step> = fc.record({ do: fc.constant("edit" as const), change: changes });
  const set: fc.Arbitrary<Step> = fc.record({ do: fc.constant("set" as const), change: settings });
  const bump = fc.constant<Step>({ do: "bump" });
  const hours = fc.constantFrom(1, 2, 11, 13, 40, -3, -30);
  const wait: fc.Arbitrary<Step> = fc.record({ do: fc.constant("wait" as const), hours });
  const alone: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: up },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("refresh" as const), deliveries }) },
    { weight: 2, arbitrary: wait },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("change" as const), times: fc.constantFrom(1, 2) }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: "lose" }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("import" as const), deliveries }) },
  );
  const some: fc.Arbitrary<readonly Step[]> = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(bump, up) },
    { weight: 5, arbitrary: fc.tuple(edit, up) },
    { weight: 3, arbitrary: fc.tuple(set, up) },
    { weight: 3, arbitrary: fc.tuple(wait, up) },
    { weight: 1, arbitrary: fc.tuple(set, edit, up) },
    { weight: 8, arbitrary: fc.tuple(alone) },
  );
  return fc.array(some, { minLength: 1, maxLength: 15, size: "max" }).map((all) => all.flat());
}
