import { keyOf, pluralOf, type Subject } from "../platform/secretKind";
import { orUndefined } from "../records/fields";
import { clockToleranceMs, isWholeTime } from "../rotation/schedule";
import { Settings } from "../settings/settings";
import { type ListedSecret, type Unlisted } from "./account";
import { type RotatedSecret } from "./stackState";

/** One secret of an account, and what a stack knows of it. Times are in ISO 8601, UTC. */
export interface CoveredSecret {
  /** `database`, or `signing keys` for what an account has only once. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** The resources that rotate it; none if the stack does not. */
  readonly resources: readonly string[];
  /** Time of its last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly isUnconfirmed: boolean;
  /** With a date: whether it is younger. */
  readonly age?: "newer" | "older" | "unknown" | undefined;
}

/** The secrets of an account, and what a stack knows of them. */
export interface Coverage {
  /** Whether everything could be listed and, with a date, is younger. */
  readonly covered: boolean;
  /** Whether everything could be listed. */
  readonly isComplete: boolean;
  readonly secrets: readonly CoveredSecret[];
  /** What could not be listed or compared, one line each. */
  readonly notes: readonly string[];
}

/** The date, if one is given, and the time of this machine. */
interface Times {
  readonly since: Date | undefined;
  readonly now: Date;
}

/** Compares what an account lists with what a stack rotates. */
export function coverageOf(
  account: readonly (ListedSecret | Unlisted)[],
  rotated: readonly RotatedSecret[],
  settings: Settings,
  times: Times,
): Coverage {
  const unlisted = account.filter((one) => "why" in one);
  const elsewhere = rotated.filter((one) => isElsewhere(one, settings));
  const here = rotated.filter((one) => !elsewhere.includes(one));
  // What the state knows of a kind that could not be listed.
  const unseen = here.filter(({ kind }) => unlisted.some((one) => one.kind === kind));
  const subjects = new Map<string, ListedSecret>(unseen.map(({ kind, id }) => [keyOf({ kind, id }), { kind, id }]));
  for (const secret of account) if ("id" in secret) subjects.set(keyOf(secret), secret);
  const secrets = [...subjects].map(([key, secret]) => {
    const resources = here.filter((one) => keyOf(one) === key);
    return covered(secret, resources, times);
  });
  const missing = here.filter((one) => !subjects.has(keyOf(one)));
  const named = (one: RotatedSecret) => `${one.resource} (${kindOf(one)} ${one.id})`;
  return {
    covered: unlisted.length === 0 && secrets.every(({ age = "newer" }) => age === "newer"),
    isComplete: unlisted.length === 0,
    secrets,
    notes: [
      ...missing.map((one) => `Not in the account: ${named(one)}.`),
      ...elsewhere.map((one) => `In another account, and not compared: ${named(one)}.`),
      ...unlisted.map(({ kind, why, fix }) => `Not listed: ${pluralOf(kind)}, because ${why}. ${fix}`),
    ],
  };
}

function kindOf({ kind }: Subject): string {
  return kind.onlyId === undefined ? kind.noun : pluralOf(kind);
}

function covered(secret: ListedSecret, rotated: readonly RotatedSecret[], { since, now }: Times): CoveredSecret {
  // A time in the future is that of another clock, or has another unit.
  const isUsable = (time: number) => time > 0 && time <= now.getTime() + clockToleranceMs;
  const newest = (times: readonly (string | undefined)[]) =>
    times
      .flatMap((time) => (time !== undefined && isUsable(Date.parse(time)) ? [time] : []))
      .toSorted()
      .at(-1);
  const rotatedAt = newest(rotated.map(({ rotatedAt: time }) => (isWholeTime(time) ? time : undefined)));
  const createdAt = newest([secret.createdAt?.toISOString()]);
  const at = newest([rotatedAt, createdAt]);
  return {
    kind: kindOf(secret),
    id: secret.id,
    name: secret.name,
    resources: rotated.map(({ resource }) => resource),
    rotatedAt,
    createdAt,
    isUnconfirmed: rotated.some(({ isUnconfirmed }) => isUnconfirmed),
    age: since && (at === undefined ? "unknown" : new Date(at) >= since ? "newer" : "older"),
  };
}

/** Whether a secret belongs to another account, by the saved settings of its provider. */
function isElsewhere({ kind, settings: saved }: RotatedSecret, settings: Settings): boolean {
  const others = new Settings(saved);
  const names = kind.service === "management" ? (["baseUrl", "username"] as const) : (["queueUrl"] as const);
  return names.some((name) => {
    const value = orUndefined(() => others.get(name));
    return value !== undefined && value !== orUndefined(() => settings.get(name));
  });
}
