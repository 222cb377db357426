import { pluralOf, type SecretKind } from "../platform/secretKind";
import { type CoveredSecret, type Coverage } from "./coverage";
import { type RotatedSecret } from "./stackState";

/** What a coverage is about, and what was not read for it. */
interface Subject {
  /** The date, unchanged; undefined if none was. */
  readonly since?: string | undefined;
  /** The stack whose state was compared; undefined if there is none. */
  readonly stack?: string | undefined;
  /** What prevented reading the stack or its configuration, one sentence each. */
  readonly problems: readonly string[];
}

/** A secret that the stack rotates, and that is not one of the account. */
type ReportedResource = Readonly<Record<"kind" | "id" | "resource", string>>;

/** A coverage for printing: without a known secret, and without what a terminal interprets. */
export interface CoverageReport extends Subject {
  /** With a date: whether everything could be listed and is younger. Without one: whether no list failed. */
  readonly covered: boolean;
  readonly secrets: readonly (Omit<CoveredSecret, "kind"> & { readonly kind: string })[];
  readonly missing: readonly ReportedResource[];
  readonly elsewhere: readonly ReportedResource[];
  readonly unreadable: readonly string[];
  readonly unlisted: readonly Readonly<Record<"kinds" | "why" | "fix", string>>[];
  readonly notSeen: string;
}

/** What no list of an account contains, and no state of one stack. */
const notSeen =
  "other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration";

/** @param quote returns a text from elsewhere as it may be printed */
export function reportOf(coverage: Coverage, subject: Subject, quote: (text: string) => string): CoverageReport {
  const { secrets, missing, elsewhere, unreadable, unlisted } = coverage;
  const { since, stack, problems } = subject;
  const reported = ({ kind, id, resource }: RotatedSecret): ReportedResource => {
    return { kind: labelOf(kind), id: quote(id), resource: quote(resource) };
  };
  return {
    covered:
      since === undefined
        ? unlisted.every(({ isFailure }) => !isFailure)
        : unlisted.length === 0 && secrets.every(({ age }) => age === "newer"),
    since,
    stack,
    problems,
    secrets: secrets.map(({ kind, id, name, resources, ...secret }) => ({
      kind: labelOf(kind),
      id: quote(id),
      name: name === undefined ? undefined : quote(name),
      resources: resources.map(quote),
      ...secret,
    })),
    missing: missing.map(reported),
    elsewhere: elsewhere.map(reported),
    unreadable: unreadable.map(quote),
    unlisted: unlisted.map(({ kind, why, fix }) => ({ kinds: pluralOf(kind), why, fix })),
    notSeen,
  };
}

/** `database`; for what an account has only once: `signing keys` */
function labelOf(kind: SecretKind): string {
  return kind.onlyId === undefined ? kind.noun : pluralOf(kind);
}

/** The report as a table, with the notes below it. */
export function reportText(report: CoverageReport): string {
  const { stack, problems, missing, elsewhere, unreadable, unlisted } = report;
  const named = ({ kind, id, resource }: ReportedResource) => `${resource} (${kind} ${id})`;
  return [
    ...tableOf(report),
    "",
    stack === undefined ? "No stack was compared." : `Compared with the state of the stack ${stack}.`,
    ...problems,
    ...missing.map((one) => `Not in the account: ${named(one)}.`),
    ...elsewhere.map((one) => `In another account, and not compared: ${named(one)}.`),
    ...unreadable.map((resource) => `Encrypted in the state, and not compared: the databases of ${resource}.`),
    ...unlisted.map(({ kinds, why, fix }) => `Not listed: ${kinds}, because ${why}. ${fix}`),
    `Not seen: ${notSeen}.`,
    "",
    summaryOf(report),
    "",
  ].join("\n");
}

type Row = CoverageReport["secrets"][number];

const ages = { newer: "yes", older: "OLDER", unknown: "UNKNOWN" } as const;

function tableOf({ secrets, since, stack }: CoverageReport): string[] {
  const columns: Record<string, (secret: Row) => string> = {
    SECRET: ({ kind }) => kind,
    ID: ({ id }) => id,
    NAME: ({ name = "-" }) => name,
    "LAST ROTATED": timeOf,
    ...(since !== undefined && { [`SINCE ${since}`]: ({ age = "unknown" }: Row) => ages[age] }),
    ...(stack !== undefined && {
      "ROTATED BY": ({ resources }: Row) => resources.join(", ") || "-",
      "CREDENTIALS IN THE STATE": ({ inState }: Row) => inState,
    }),
  };
  const rows = [Object.keys(columns), ...secrets.map((secret) => Object.values(columns).map((cell) => cell(secret)))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function timeOf({ rotatedAt, createdAt, isUnconfirmed }: Row): string {
  const time = rotatedAt ? inSeconds(rotatedAt) : createdAt ? `created ${inSeconds(createdAt)}` : "unknown";
  return isUnconfirmed ? `${time}, a later reset is unconfirmed` : time;
}

function inSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+/, "");
}

function summaryOf({ secrets, unlisted, since }: CoverageReport): string {
  const count = `${secrets.length} secret${secrets.length === 1 ? "" : "s"}`;
  const incomplete = unlisted.length === 0 ? "" : " There may be others, because not everything could be listed.";
  if (since === undefined) return `${count}.${incomplete}`;
  const ofAge = (age: Row["age"]) => secrets.filter((one) => one.age === age).length;
  const [older, unknown] = [ofAge("older"), ofAge("unknown")];
  if (older + unknown === 0) {
    return unlisted.length === 0
      ? `${count}, all rotated or created since ${since}.`
      : `${count} listed, none of them older than ${since}.${incomplete}`;
  }
  return `${count}: ${older} older than ${since}, ${unknown} of unknown age.${incomplete}`;
}
