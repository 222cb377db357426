import { type CoveredSecret, type Coverage } from "./coverage";

/** A coverage for printing: without a known secret, and without what a terminal interprets. */
export interface CoverageReport extends Coverage {
  /** The date, unchanged; undefined if none was given. */
  readonly since?: string | undefined;
  /** The stack whose state was compared; undefined if there is none. */
  readonly stack?: string | undefined;
  /** What prevented reading the stack or its configuration, one sentence each. */
  readonly problems: readonly string[];
}

/** What no list of an account contains, and no state of one stack. */
const notSeen =
  "other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration";

/** The report as a table, with the notes below it. */
export function coverageText(report: CoverageReport): string {
  const { stack, problems, missing, elsewhere, unlisted } = report;
  const named = ({ kind, id, resource }: Coverage["missing"][number]) => `${resource} (${kind} ${id})`;
  return [
    ...tableOf(report),
    "",
    stack === undefined ? "No stack was compared." : `Compared with the state of the stack ${stack}.`,
    ...problems,
    ...missing.map((one) => `Not in the account: ${named(one)}.`),
    ...elsewhere.map((one) => `In another account, and not compared: ${named(one)}.`),
    ...unlisted.map(({ kinds, why, fix }) => `Not listed: ${kinds}, because ${why}. ${fix}`),
    `Not seen: ${notSeen}.`,
    "",
    summaryOf(report),
    "",
  ].join("\n");
}

const ages = { newer: "yes", older: "OLDER", unknown: "UNKNOWN" } as const;

function tableOf({ secrets, since, stack }: CoverageReport): string[] {
  const columns: Record<string, (secret: CoveredSecret) => string> = {
    SECRET: ({ kind }) => kind,
    ID: ({ id }) => id,
    NAME: ({ name = "-" }) => name,
    "LAST ROTATED": timeOf,
    ...(since !== undefined && { [`SINCE ${since}`]: ({ age = "unknown" }: CoveredSecret) => ages[age] }),
    ...(stack !== undefined && { "ROTATED BY": ({ resources }: CoveredSecret) => resources.join(", ") || "-" }),
  };
  const rows = [Object.keys(columns), ...secrets.map((secret) => Object.values(columns).map((cell) => cell(secret)))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => lineOf(row).trimEnd());
}

function timeOf({ rotatedAt, createdAt, isUnconfirmed }: CoveredSecret): string {
  const inSeconds = (time: string) => time.replace(/\.\d+/, "");
  const time = rotatedAt ? inSeconds(rotatedAt) : createdAt ? `created ${inSeconds(createdAt)}` : "unknown";
  return isUnconfirmed ? `${time}, a later reset is unconfirmed` : time;
}

function summaryOf({ secrets, unlisted, since }: CoverageReport): string {
  const count = `${secrets.length} secret${secrets.length === 1 ? "" : "s"}`;
  const incomplete = unlisted.length === 0 ? "" : " There may be others, because not everything could be listed.";
  if (since === undefined) return `${count}.${incomplete}`;
  const [older, unknown] = ["older", "unknown"].map((age) => secrets.filter((one) => one.age === age).length);
  if (older || unknown) return `${count}: ${older} older than ${since}, ${unknown} of unknown age.${incomplete}`;
  return unlisted.length === 0
    ? `${count}, all rotated or created since ${since}.`
    : `${count} listed, none of them older than ${since}.${incomplete}`;
}
