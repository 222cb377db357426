import { type CoveredSecret, type Coverage } from "./coverage";

/** A coverage for printing: without a known secret, and without what a terminal interprets. */
export interface CoverageReport extends Coverage {
  /** The date, unchanged; undefined if none was given. */
  readonly since?: string | undefined;
  /** The stack whose state was compared; undefined if there is none. */
  readonly stack?: string | undefined;
}

/** What no list of an account contains, and no state of one stack. */
const notSeen =
  "other stacks, signing keys of other regions, passwords of ACL users, management keys, and databases of a hosting platform's integration";

/** The report as a table, with the notes below it. */
export function coverageText(report: CoverageReport): string {
  const { stack, notes } = report;
  return [
    ...tableOf(report),
    "",
    stack === undefined ? "No stack was compared." : `Compared with the state of the stack ${stack}.`,
    ...notes,
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

function summaryOf({ secrets, isComplete, since }: CoverageReport): string {
  const [older, unknown] = ["older", "unknown"].map((age) => secrets.filter((one) => one.age === age).length);
  const ofAge = since === undefined ? "" : `: ${older} older than ${since}, ${unknown} of unknown age`;
  const incomplete = isComplete ? "" : " There may be others, because not everything could be listed.";
  return `${secrets.length} secret${secrets.length === 1 ? "" : "s"}${ofAge}.${incomplete}`;
}
