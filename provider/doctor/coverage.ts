import { RequestError, SettingsError } from "../platform/errors";
import { queueToken, ownerOf, pluralOf, type SecretKind, type Subject, kinds } from "../platform/secretKind";
import { PlatformClient } from "../platformClient";
import { orUndefined } from "../records/fields";
import { clockToleranceMs, readDate } from "../rotation/schedule";
import { type Settings } from "../settings/settings";
import { type Stack } from "./project";
import { type RotatedSecret } from "./stackState";

/** One secret of an account, and what a stack knows of it. Times are in ISO 8601, UTC. */
interface CoveredSecret {
  /** `database`, or `signing keys` for what an account has only once. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** The resources that rotate it; none if the stack does not. */
  readonly resources: readonly string[];
  /** Time of its last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  readonly createdAt?: string | undefined;
  /** With a date: whether it is younger. */
  readonly age?: "newer" | "older" | "unknown" | undefined;
}

/** The secrets of an account, and what a stack knows of them. */
interface Coverage {
  /** The given date, if there is one. */
  readonly since?: string | undefined;
  /** The stack whose state was compared; undefined if there is none. */
  readonly stack?: string | undefined;
  /** Whether everything could be listed and, with a date, is younger. */
  readonly covered: boolean;
  /** Whether everything could be listed. */
  readonly isComplete: boolean;
  readonly secrets: readonly CoveredSecret[];
  /** What was compared, and what was not, one line each. */
  readonly notes: readonly string[];
}

/** A secret that the account has. */
export interface ListedSecret extends Subject {
  /** Its name, or the region of a queue user, which has none. */
  readonly name?: string | undefined;
  /** When what has the secret was created, in milliseconds; undefined if the platform does not show it. */
  readonly createdAt?: number | undefined;
}

/** A kind of secret of which it is unknown what the account has. */
export interface Unlisted {
  readonly kind: SecretKind;
  /** Why, and what to do: `the platform responded with 404. Check …` */
  readonly why: string;
}

/** Compares what the account lists with what a stack rotates. Only reads are sent. */
export async function cover(stack: Stack, state: readonly RotatedSecret[] | string, since?: string): Promise<Coverage> {
  const client = new PlatformClient(stack.settings);
  const account = await Promise.all(Object.values<SecretKind>(kinds).map((kind) => listKind(client, kind)));
  // Names come from elsewhere.
  const shown = (_: string, value: unknown) => (typeof value === "string" ? client.secrets.redactName(value) : value);
  return JSON.parse(JSON.stringify(coverageOf(account.flat(), stack, state, since), shown)) as Coverage;
}

async function listKind(client: PlatformClient, kind: SecretKind): Promise<ListedSecret[] | Unlisted> {
  try {
    if (kind.onlyId === undefined) return (await client.list(kind)).map((record) => secretIn(kind, record));
    await client.operations(kind).read(kind.onlyId);
    return [{ kind, id: kind.onlyId }];
  } catch (error) {
    if (error instanceof SettingsError) return { kind, why: `${error.problem}. ${error.advice}` };
    if (!(error instanceof RequestError)) throw error;
    return { kind, why: `${error.happened}. ${error.advice}` };
  }
}

function secretIn(kind: SecretKind, record: Readonly<Record<string, unknown>>): ListedSecret {
  const { databaseName, name = databaseName, region, creationTime } = record;
  const shown = kind === queueToken ? region : name;
  return {
    kind,
    id: record[kind.table.id ?? ""] as string,
    name: typeof shown === "string" ? shown : undefined,
    createdAt: typeof creationTime === "number" ? creationTime * 1000 : undefined,
  };
}

export function coverageOf(
  account: readonly (ListedSecret | Unlisted)[],
  { name, unread, settings }: Stack,
  state: readonly RotatedSecret[] | string,
  since?: string,
): Coverage {
  const isRead = typeof state !== "string";
  const rotated = isRead ? state : [];
  const elsewhere = rotated.filter((one) => isElsewhere(one, settings));
  const here = rotated.filter((one) => !elsewhere.includes(one));
  const unlisted = account.filter((one) => "why" in one);
  // What the state knows of a kind that could not be listed.
  const unseen = here.filter(({ kind }) => unlisted.some((one) => one.kind === kind));
  const subjects = new Map<string, ListedSecret>(unseen.map(({ kind, id }) => [ownerOf({ kind, id }), { kind, id }]));
  for (const secret of account) if ("id" in secret) subjects.set(ownerOf(secret), secret);
  const from = since === undefined ? undefined : readDate(since);
  const secrets = [...subjects].map(([key, secret]) => {
    const resources = here.filter((one) => ownerOf(one) === key);
    return covered(secret, resources, from);
  });
  const missing = here.filter((one) => !subjects.has(ownerOf(one)));
  const named = (one: RotatedSecret) => `${one.resource} (${ownerOf(one)})`;
  return {
    since,
    stack: isRead ? name : undefined,
    covered: unlisted.length === 0 && secrets.every(({ age = "newer" }) => age === "newer"),
    isComplete: unlisted.length === 0,
    secrets,
    notes: [
      ...(unread ? [unread.message] : []),
      isRead ? `Compared with the state of the stack ${name}.` : state,
      ...missing.map((one) => `Not in the account: ${named(one)}.`),
      ...elsewhere.map((one) => `In another account, and not compared: ${named(one)}.`),
      ...unlisted.map(({ kind, why }) => `Not listed: ${pluralOf(kind)}, because ${why}`),
      "Not seen: other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration.",
    ],
  };
}

function covered(
  { kind, id, name, createdAt }: ListedSecret,
  rotated: readonly RotatedSecret[],
  since: Date | undefined,
): CoveredSecret {
  // A time in the future is that of another clock, or has another unit.
  const latest = Date.now() + clockToleranceMs;
  const newest = (...times: readonly (number | undefined)[]) =>
    Math.max(0, ...times.map((time = 0) => (time > latest ? 0 : time))) || undefined;
  const shown = (time?: number) => (time === undefined ? time : new Date(time).toISOString().replace(/\.\d+/, ""));
  const resets = rotated.map(({ rotatedAt }) => rotatedAt);
  const at = newest(...resets, createdAt);
  return {
    kind: kind.onlyId === undefined ? kind.noun : pluralOf(kind),
    id,
    name,
    resources: rotated.map(({ resource }) => resource),
    rotatedAt: shown(newest(...resets)),
    createdAt: shown(newest(createdAt)),
    age: since && (at === undefined ? "unknown" : at < since.getTime() ? "older" : "newer"),
  };
}

/** Whether a secret belongs to another account, by the saved settings of its provider. */
function isElsewhere({ kind, settings: saved }: RotatedSecret, settings: Settings): boolean {
  const names = kind.service === "management" ? (["baseUrl", "username"] as const) : (["queueUrl"] as const);
  return names.some((name) => {
    const value = orUndefined(() => saved.get(name));
    return value !== undefined && value !== orUndefined(() => settings.get(name));
  });
}

/** The coverage as a table, with the notes below it. */
export function coverageText(coverage: Coverage): string {
  return [...tableOf(coverage), "", ...coverage.notes, "", summaryOf(coverage), ""].join("\n");
}

const ages = { newer: "yes", older: "OLDER", unknown: "UNKNOWN" } as const;

function tableOf({ secrets, since, stack }: Coverage): string[] {
  const columns: Record<string, (secret: CoveredSecret) => string> = {
    SECRET: ({ kind }) => kind,
    ID: ({ id }) => id,
    NAME: ({ name = "-" }) => name,
    "LAST ROTATED": ({ rotatedAt, createdAt }) => rotatedAt ?? (createdAt ? `created ${createdAt}` : "unknown"),
    ...(since !== undefined && { [`SINCE ${since}`]: ({ age = "unknown" }: CoveredSecret) => ages[age] }),
    ...(stack !== undefined && { "ROTATED BY": ({ resources }: CoveredSecret) => resources.join(", ") || "-" }),
  };
  const rows = [Object.keys(columns), ...secrets.map((secret) => Object.values(columns).map((cell) => cell(secret)))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => lineOf(row).trimEnd());
}

function summaryOf({ secrets, isComplete, since }: Coverage): string {
  const [older, unknown] = ["older", "unknown"].map((age) => secrets.filter((one) => one.age === age).length);
  const ofAge = since === undefined ? "" : `: ${older} older than ${since}, ${unknown} of unknown age`;
  const incomplete = isComplete ? "" : " There may be others, because not everything could be listed.";
  return `${secrets.length} secret${secrets.length === 1 ? "" : "s"}${ofAge}.${incomplete}`;
}
