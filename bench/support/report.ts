import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { type Check, enginesOf, type Row, secondsOf } from "./rows";

const columns = ["where", "case", "count", "subject", "seconds", "÷ baseline", "requests", "host MiB", "state kB"];

/** The table of all rows, as Markdown. The baseline is the hand-written provider, on the wire bare HTTP or HTTPS. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { where, roundTripMs, case: one, count, subject, seconds, requests, hostPeak, stateSize } = row;
    const bare = roundTripMs === undefined ? "bare HTTP" : "bare HTTPS";
    const baseline = secondsOf(rows, {
      where,
      case: one,
      count,
      subject: enginesOf(rows).includes(where) ? "handWritten" : bare,
    });
    const ratio = baseline === undefined ? "" : digits(seconds / baseline);
    const host = hostPeak === undefined ? "" : String(Math.round(hostPeak / 2 ** 20));
    const state = stateSize === undefined ? "" : digits(stateSize / 1000);
    return [where, one, count, subject, digits(seconds), ratio, requests ?? "", host, state].map(String);
  });
  return aligned([columns, ...lines]);
}

export function checkTable(checks: readonly Check[]): string {
  const lines = checks.map(({ what, value, limit, holds }) => [
    what,
    digits(value),
    digits(limit),
    holds ? "holds" : "FAILS",
  ]);
  return aligned([["check", "measured", "at most", ""], ...lines]);
}

/** Writes the results as JSON and Markdown. */
export function writeReport(rows: readonly Row[], checks: readonly Check[], skipped: readonly string[]): void {
  const write = (file: string, text: string): void => writeFileSync(join(__dirname, "..", file), text);
  const machine = {
    processors: `${cpus().length} × ${cpus()[0]?.model}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
  write("results.json", `${JSON.stringify({ machine, rows, checks, skipped }, undefined, 2)}\n`);
  const about = Object.values(machine).join(", ");
  const notes = skipped.map((line) => `- ${line}\n`).join("");
  write(
    "results.md",
    `<!-- Written by \`npm run bench\`; do not edit. -->\n\n# Results\n\n${about}.\n\n${checkTable(checks)}\n\n${table(rows)}\n${notes && `\n${notes}`}`,
  );
}

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))) ?? [];
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = lines;
  return [row(head), row(widths.map((width) => "-".repeat(width))), ...body.map(row)].join("\n");
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
