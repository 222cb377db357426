import { kindInList, kindsOfAccount, ownerOf, pluralOf, type Subject } from "../domain/secretKind";
import { PlatformClient } from "../run/platformClient";
import { isSameId, orUndefined } from "../records/fields";
import { clockToleranceMs, readDate } from "../rotation/memory/schedule";
import { type Settings } from "../settings/settings";
import { type SettingName } from "../settings/table";
import { type InAccount, type ListedSecret, listSecrets } from "./account";
import { twoValidNote } from "./overlaps";
import { type RotatedSecret, type SavedValue, type StackState } from "./stackState";

/** A resource that rotates a secret. */
interface RotatedBy {
  /** `PasswordRotation "sessions"` */
  readonly resource: string;
  /** The stack, or the file with its state. */
  readonly state: string;
  readonly value: SavedValue;
}

/** One secret of an account, and what the states know of it. Times are in ISO 8601, UTC. */
interface CoveredSecret {
  /** `database`, or `signing keys` for what an account has only once. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** None if no stack rotates it. */
  readonly rotatedBy: readonly RotatedBy[];
  /** Time of its last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  readonly createdAt?: string | undefined;
  /** With a date: whether it is younger. */
  readonly age?: "newer" | "older" | "unknown" | undefined;
  /** Since when the former one has been valid in addition to it. */
  readonly formerValidSince?: string | undefined;
}

/** The secrets of an account, and what the states know of them. */
interface Coverage {
  /** The given date, if there is one. */
  readonly since?: string | undefined;
  /** The stacks and files whose states were compared. */
  readonly states: readonly string[];
  /** Everything that was looked at could be listed and, with a date, is younger. */
  readonly covered: boolean;
  /** Everything could be listed of which the settings name an account, or a stack rotates one. */
  readonly isComplete: boolean;
  readonly secrets: readonly CoveredSecret[];
  /** Notes on what was compared, and what was not, one line each. */
  readonly notes: readonly string[];
}

/** Compares what the account lists with what stacks rotate. Only reads are sent. */
export async function cover(
  settings: Settings,
  states: readonly StackState[],
  since?: string,
): Promise<Coverage> {
  const client = new PlatformClient(settings);
  const account = await listSecrets(client, settings, states);
  // Names come from elsewhere.
  return client.secrets.redactNames(coverageOf(account, settings, states, since));
}

interface RotationResult extends RotatedSecret, Pick<RotatedBy, "state"> {}

export function coverageOf(
  account: readonly InAccount[],
  settings: Settings,
  states: readonly StackState[],
  since?: string,
): Coverage {
  const read = states.filter(({ unread }) => unread === undefined);
  const all = read.flatMap(({ name, rotated }) =>
    rotated.map((one) => ({ ...one, state: name, account: accountOf(one, settings) })),
  );
  const ownedBy = (owner: Owner): RotationResult[] => all.filter((one) => one.account === owner);
  const [here, elsewhere, unknown] = [ownedBy("listed"), ownedBy("other"), ownedBy("unknown")];
  const unlisted = account.filter((one) => "why" in one);
  const notLooked = account.filter((one) => "unset" in one);
  const subjects = account.filter((one) => "id" in one);
  // Of those in no list, each one counts: a state does not show to which server a user belongs.
  const inLists = here.filter(
    ({ kind }) => kindsOfAccount.includes(kind) && !unlisted.some((one) => one.kind === kind),
  );
  const alone = here.filter((one) => !inLists.includes(one));
  const from = since === undefined ? undefined : readDate(since);
  const secrets = [
    ...subjects.map((secret) => {
      const rotated = inLists.filter((one) => isSameSecret(one, secret));
      return covered(secret, rotated, from);
    }),
    ...alone.map((one) => covered({ kind: one.kind, id: one.id }, [one], from)),
  ];
  const missing = inLists.filter((one) => !subjects.some((secret) => isSameSecret(one, secret)));
  // With no settings at all, they may be missing by mistake.
  const isBlind = notLooked.length === kindsOfAccount.length && secrets.length === 0;
  // Only a state lists Redis users.
  const isComplete = unlisted.length === 0 && !isBlind && read.length === states.length;
  const label = (one: RotationResult) => labelOf(one, read.length);
  const named = (one: RotationResult) => `${label(one)} (${ownerOf(one)})`;
  return {
    since,
    states: read.map(({ name }) => name),
    covered:
      isComplete &&
      secrets.every(({ age = "newer" }) => age === "newer") &&
      here.every(({ alsoValid }) => alsoValid.length === 0),
    isComplete,
    secrets,
    notes: [
      ...states.map(({ name, unread }) => unread ?? `Compared with the state of ${name}.`),
      ...here.flatMap((one) => [
        ...(one.former ? [twoValidNote(label(one), one.former)] : []),
        ...one.alsoValid.map((what) => `Also valid: ${label(one)} has ${what}.`),
      ]),
      ...missing.map((one) => `Not in the account: ${named(one)}.`),
      ...elsewhere.map((one) => `In another account, and not compared: ${named(one)}.`),
      ...unknown.map((one) => `Not compared: ${named(one)}, because ${whyUnknown}`),
      ...unlisted.map(({ kind, why }) => `Not listed: ${pluralOf(kind)}, because ${why}`),
      ...[...new Set(notLooked.map(({ unset }) => unset))].map((unset) => {
        const names = notLooked.flatMap((one) => (one.unset === unset ? pluralOf(one.kind) : []));
        return `Not looked at: ${new Intl.ListFormat("en").format(names)}, because ${unset}.`;
      }),
      "Not seen: other stacks, signing keys of other regions, Redis users that no stack rotates, management keys, and databases of a hosting platform's integration.",
    ],
  };
}

function isSameSecret(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && isSameId(a.id, b.id);
}

function covered(
  { kind, id, name, createdAt }: ListedSecret,
  rotated: readonly RotationResult[],
  since: Date | undefined,
): CoveredSecret {
  // A time in the future is that of another clock, or has another unit.
  const latest = Date.now() + clockToleranceMs;
  const newest = (...times: readonly (number | undefined)[]) =>
    Math.max(0, ...times.map((time = 0) => (time > latest ? 0 : time))) || undefined;
  const shown = (time?: number) =>
    time === undefined ? time : new Date(time).toISOString().replace(/\.\d+/, "");
  const resets = rotated.map(({ rotatedAt }) => rotatedAt);
  const at = newest(...resets, createdAt);
  const [former] = rotated.flatMap((one) => one.former ?? []);
  // A former secret that was valid before the date must be retired.
  const isOlder = since && at && (former || at < since.getTime());
  return {
    kind: kindInList(kind),
    id,
    name,
    rotatedBy: rotated.map(({ resource, state, value }) => ({ resource, state, value })),
    rotatedAt: shown(newest(...resets)),
    createdAt: shown(newest(createdAt)),
    age: since && (at === undefined ? "unknown" : isOlder ? "older" : "newer"),
    formerValidSince: former?.since,
  };
}

/** Whose secret a resource rotates: that of the account that is listed, or of another one. */
type Owner = "listed" | "other" | "unknown";

const whyUnknown =
  "its state does not show that it belongs to the listed account. Set rekey:queueUserId, or name its stack first.";

function accountOf({ kind, settings: saved }: RotatedSecret, settings: Settings): Owner {
  // Undefined if it is not known.
  const isSame = (name: SettingName) => {
    const [one, other] = [saved, settings].map((from) => orUndefined(() => from.get(name)));
    if (one === undefined || other === undefined) return undefined;
    return isSameId(String(one), String(other));
  };
  const { service } = kind;
  if (service === undefined) return "listed";
  if (service === "management") {
    return [isSame("baseUrl"), isSame("username")].includes(false) ? "other" : "listed";
  }
  // Every account has signing keys under the same id: its queue shows which one it is.
  const isUser = isSame("queueUserId");
  if (isUser !== undefined) return isUser ? "listed" : "other";
  if (isSame("queueUrl") === false) return "other";
  // Another token may be a former one.
  return isSame("queueUrl") && isSame("queueToken") ? "listed" : "unknown";
}

/** The coverage as a table, with the notes below it. */
export function coverageText(coverage: Coverage): string {
  return [...tableOf(coverage), "", ...coverage.notes, "", summaryOf(coverage), ""].join("\n");
}

const ages = { newer: "yes", older: "OLDER", unknown: "UNKNOWN" } as const;

function tableOf({ secrets, since, states }: Coverage): string[] {
  const columns: Record<string, (secret: CoveredSecret) => string> = {
    SECRET: ({ kind }) => kind,
    ID: ({ id }) => id,
    NAME: ({ name = "-" }) => name,
    "LAST ROTATED": ({ rotatedAt, createdAt }) =>
      rotatedAt ?? (createdAt ? `created ${createdAt}` : "unknown"),
    ...(since !== undefined && {
      [`SINCE ${since}`]: ({ age = "unknown" }: CoveredSecret) => ages[age],
    }),
    ...(states.length > 0 && {
      "ROTATED BY": ({ rotatedBy }: CoveredSecret) =>
        uniqueList(rotatedBy.map((one) => labelOf(one, states.length))),
      VALUE: ({ rotatedBy }: CoveredSecret) => uniqueList(rotatedBy.map(({ value }) => value)),
    }),
  };
  const rows = [
    Object.keys(columns),
    ...secrets.map((secret) => Object.values(columns).map((cell) => cell(secret))),
  ];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (row: string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => lineOf(row).trimEnd());
}

/** The name of a resource, with that of its stack if there are several. */
function labelOf(
  { resource, state }: Pick<RotatedBy, "resource" | "state">,
  states: number,
): string {
  return states > 1 ? `${resource} in ${state}` : resource;
}

function uniqueList(names: readonly string[]): string {
  return [...new Set(names)].join(", ") || "-";
}

function summaryOf({ secrets, isComplete, since }: Coverage): string {
  const [older, unknown] = ["older", "unknown"].map(
    (age) => secrets.filter((one) => one.age === age).length,
  );
  const ofAge =
    since === undefined ? "" : `: ${older} older than ${since}, ${unknown} of unknown age`;
  const incomplete = isComplete
    ? ""
    : " There may be others, because not everything could be listed.";
  return `${secrets.length} secret${secrets.length === 1 ? "" : "s"}${ofAge}.${incomplete}`;
}
