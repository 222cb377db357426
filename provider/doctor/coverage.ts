import { keyOf, type SecretKind } from "../platform/secretKind";
import { clockToleranceMs, isWholeTime } from "../rotation/schedule";
import { Settings } from "../settings/settings";
import { usable } from "./settings";
import { type Account, type ListedSecret, type Unlisted } from "./account";
import { forms, type RotatedSecret, type StackState } from "./stackState";

/** Whether a secret is younger than a date; `unknown` if its age is. */
type Age = "newer" | "older" | "unknown";

/** One secret of an account. */
export interface CoveredSecret {
  readonly kind: SecretKind;
  readonly id: string;
  readonly name?: string | undefined;
  /** The resources that rotate it; none if the stack does not. */
  readonly resources: readonly string[];
  /** Time of its last confirmed reset. */
  readonly rotatedAt?: Date | undefined;
  readonly createdAt?: Date | undefined;
  readonly isUnconfirmed: boolean;
  /** How the state of the stack has its credentials; of several resources, the most readable form. */
  readonly inState: RotatedSecret["inState"];
  readonly age?: Age | undefined;
}

/** The secrets of an account, and what a stack knows of them. */
export interface Coverage {
  readonly secrets: readonly CoveredSecret[];
  /** Secrets that the stack rotates, and that the account does not have. */
  readonly missing: readonly RotatedSecret[];
  /** Secrets that the stack rotates with the settings of another account. */
  readonly elsewhere: readonly RotatedSecret[];
  readonly unreadable: readonly string[];
  readonly unlisted: readonly Unlisted[];
}

/** Compares what an account lists with what a stack rotates. */
export function coverageOf(
  { listed, unlisted }: Account,
  { rotated, unreadable }: StackState,
  settings: Settings,
  { since, now }: { readonly since: Date | undefined; readonly now: Date },
): Coverage {
  const elsewhere = rotated.filter((one) => isElsewhere(one, settings));
  const isListed = ({ kind }: RotatedSecret) => !unlisted.some((one) => one.kind === kind);
  const known = new Map<string, { readonly secret: ListedSecret; readonly rotated: RotatedSecret[] }>();
  for (const secret of listed) known.set(keyOf(secret), { secret, rotated: [] });
  const missing: RotatedSecret[] = [];
  for (const one of rotated.filter((one) => !elsewhere.includes(one))) {
    const key = keyOf(one);
    // What the state knows of a kind that could not be listed.
    if (!isListed(one) && !known.has(key)) known.set(key, { secret: { kind: one.kind, id: one.id }, rotated: [] });
    (known.get(key)?.rotated ?? missing).push(one);
  }
  const secrets = [...known.values()].map(({ secret, rotated }) => covered(secret, rotated, since, now));
  return { secrets, missing, elsewhere, unreadable, unlisted };
}

function covered(
  { kind, id, name, createdAt: created }: ListedSecret,
  rotated: readonly RotatedSecret[],
  since: Date | undefined,
  now: Date,
): CoveredSecret {
  // A time in the future is that of another clock, or has another unit.
  const isPast = (time: Date) => time.getTime() <= now.getTime() + clockToleranceMs;
  const times = rotated.flatMap(({ rotatedAt }) => (isWholeTime(rotatedAt) ? [new Date(rotatedAt)] : []));
  const rotatedAt = newest(times.filter(isPast));
  const createdAt = created && created.getTime() > 0 && isPast(created) ? created : undefined;
  const at = newest([rotatedAt, createdAt].filter((time) => time !== undefined));
  return {
    kind,
    id,
    name,
    resources: rotated.map(({ resource }) => resource),
    rotatedAt,
    createdAt,
    isUnconfirmed: rotated.some(({ isUnconfirmed }) => isUnconfirmed),
    inState: forms.find((form) => rotated.some(({ inState }) => inState === form)) ?? "none",
    age: since && (at === undefined ? "unknown" : at >= since ? "newer" : "older"),
  };
}

function newest(times: readonly Date[]): Date | undefined {
  return times.toSorted((a, b) => b.getTime() - a.getTime())[0];
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
