import { keyOf, pluralOf, type Subject } from "../platform/secretKind";
import { clockToleranceMs, isWholeTime } from "../rotation/schedule";
import { Settings } from "../settings/settings";
import { type ListedSecret, type Unlisted } from "./account";
import { usable } from "./settings";
import { forms, type RotatedSecret } from "./stackState";

/** One secret of an account, and what a stack knows of it. Times are in ISO 8601, UTC. */
export interface CoveredSecret extends Named {
  readonly name?: string | undefined;
  /** The resources that rotate it; none if the stack does not. */
  readonly resources: readonly string[];
  /** Time of its last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly isUnconfirmed: boolean;
  /** How the state of the stack has its credentials; of several resources, the most readable form. */
  readonly inState: RotatedSecret["inState"];
  /** With a date: whether it is younger. */
  readonly age?: "newer" | "older" | "unknown" | undefined;
}

/** A secret in messages: its kind is `database`, or `signing keys` for what an account has only once. */
type Named = Readonly<Record<"kind" | "id", string>>;

/** The secrets of an account, and what a stack knows of them. */
export interface Coverage {
  /** With a date: whether everything could be listed and is younger. Without one: whether no list failed. */
  readonly covered: boolean;
  readonly secrets: readonly CoveredSecret[];
  /** Secrets that the stack rotates, and that the account does not have. */
  readonly missing: readonly (Named & { readonly resource: string })[];
  /** Secrets that the stack rotates with the settings of another account. */
  readonly elsewhere: readonly (Named & { readonly resource: string })[];
  readonly unlisted: readonly Readonly<Record<"kinds" | "why" | "fix", string>>[];
}

/** Compares what an account lists with what a stack rotates. */
export function coverageOf(
  account: readonly (ListedSecret | Unlisted)[],
  rotated: readonly RotatedSecret[],
  settings: Settings,
  { since, now }: { readonly since: Date | undefined; readonly now: Date },
): Coverage {
  const unlisted = account.filter((one) => "why" in one);
  const elsewhere = rotated.filter((one) => isElsewhere(one, settings));
  const here = rotated.filter((one) => !elsewhere.includes(one));
  // What the state knows of a kind that could not be listed.
  const unseen = here.filter(({ kind }) => unlisted.some((one) => one.kind === kind));
  const subjects = new Map<string, ListedSecret>(unseen.map(({ kind, id }) => [keyOf({ kind, id }), { kind, id }]));
  for (const secret of account) if ("id" in secret) subjects.set(keyOf(secret), secret);
  const secrets = [...subjects].map(([key, secret]) =>
    covered(
      secret,
      here.filter((one) => keyOf(one) === key),
      since,
      now,
    ),
  );
  const reported = (one: RotatedSecret) => ({ ...named(one), resource: one.resource });
  return {
    covered:
      since === undefined
        ? unlisted.every(({ isFailure }) => !isFailure)
        : unlisted.length === 0 && secrets.every(({ age }) => age === "newer"),
    secrets,
    missing: here.filter((one) => !subjects.has(keyOf(one))).map(reported),
    elsewhere: elsewhere.map(reported),
    unlisted: unlisted.map(({ kind, why, fix }) => ({ kinds: pluralOf(kind), why, fix })),
  };
}

function named({ kind, id }: Subject): Named {
  return { kind: kind.onlyId === undefined ? kind.noun : pluralOf(kind), id };
}

function covered(
  secret: ListedSecret,
  rotated: readonly RotatedSecret[],
  since: Date | undefined,
  now: Date,
): CoveredSecret {
  // A time in the future is that of another clock, or has another unit.
  const isPast = (time: Date | undefined) => time !== undefined && time.getTime() <= now.getTime() + clockToleranceMs;
  const times = rotated.flatMap(({ rotatedAt }) => (isWholeTime(rotatedAt) ? [rotatedAt] : []));
  const rotatedAt = times
    .filter((time) => isPast(new Date(time)))
    .toSorted()
    .at(-1);
  const isKnown = isPast(secret.createdAt) && Number(secret.createdAt) > 0;
  const createdAt = isKnown ? secret.createdAt?.toISOString() : undefined;
  const at = [rotatedAt, createdAt]
    .filter((time) => time !== undefined)
    .toSorted()
    .at(-1);
  return {
    ...named(secret),
    name: secret.name,
    resources: rotated.map(({ resource }) => resource),
    rotatedAt,
    createdAt,
    isUnconfirmed: rotated.some(({ isUnconfirmed }) => isUnconfirmed),
    inState: forms.find((form) => rotated.some(({ inState }) => inState === form)) ?? "none",
    age: since && (at === undefined ? "unknown" : new Date(at) >= since ? "newer" : "older"),
  };
}

const accountSettings = { management: ["baseUrl", "username"], queue: ["queueUrl"] } as const;

/** Whether a secret belongs to another account, by the saved settings of its provider. */
function isElsewhere({ kind, settings: saved }: RotatedSecret, settings: Settings): boolean {
  const others = new Settings(saved);
  return accountSettings[kind.service].some((name) => {
    const value = usable(others, name);
    return value !== undefined && value !== usable(settings, name);
  });
}
