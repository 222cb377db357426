import { styleText } from "node:util";
import { type Changes, type Diagnostic, type EngineEvent, type StepOp } from "./types";
import { nameOf, typeOf } from "./urns";

interface OutputValue {
  readonly value: unknown;
  readonly secret: boolean;
}

type Style = "green" | "yellow" | "red" | "magenta" | "bold" | "dim";
/** Puts colour to a text, or doesn't. */
export type Paint = (style: Style, text: string) => string;
export const plain: Paint = (_, text) => text;
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** How each step is shown: its symbol and colour, what would be done, and what was done. */
const ops: Record<StepOp, { symbol: string; style: Style; planned: string; doing: string; done: string }> = {
  same: { symbol: "  ", style: "dim", planned: "unchanged", doing: "unchanged", done: "unchanged" },
  create: { symbol: "+ ", style: "green", planned: "create", doing: "creating", done: "created" },
  update: { symbol: "~ ", style: "yellow", planned: "update", doing: "updating", done: "updated" },
  delete: { symbol: "- ", style: "red", planned: "delete", doing: "deleting", done: "deleted" },
  replace: { symbol: "+-", style: "magenta", planned: "replace", doing: "replacing", done: "replaced" },
  "create-replacement": {
    symbol: "++",
    style: "green",
    planned: "create replacement",
    doing: "creating replacement",
    done: "created replacement",
  },
  "delete-replaced": {
    symbol: "--",
    style: "red",
    planned: "delete original",
    doing: "deleting original",
    done: "deleted original",
  },
  refresh: { symbol: "~ ", style: "yellow", planned: "refresh", doing: "refreshing", done: "refreshed" },
  "remove-pending-replace": { symbol: "~ ", style: "yellow", planned: "forget", doing: "forgetting", done: "forgot" },
};

/** One line for a step; undefined for what is not worth one: beginnings, and what stays as it is. */
export function renderEvent(event: EngineEvent, dryRun: boolean, paint: Paint): string | undefined {
  if (event.kind === "start" || event.kind === "diagnostic") return undefined;
  const { op, urn, seconds } = event;
  const { symbol, style, planned, doing, done } = ops[op];
  const who = `${shortType(urn)} ${paint("bold", nameOf(urn))}`;
  const line = (text: string): string => ` ${paint(style, symbol)} ${who} ${text}`;
  if (event.kind === "failed") return line(paint("red", `**${doing} failed** (${time(seconds)})`));
  const unchanged = op === "same" || (op === "refresh" && event.result === "same");
  if (unchanged) return undefined;
  const keys = event.keys && event.keys.length > 0 ? ` [${event.keys.join(", ")}]` : "";
  const found = event.result === "delete" ? ", is gone" : event.result === "update" ? ", has changed" : "";
  return line(paint(style, dryRun ? planned : `${done} (${time(seconds)})`) + found + keys);
}

/** For people, `aws:s3/bucket:Bucket` is `aws:s3:Bucket`. */
function shortType(urn: string): string {
  const [module = "", type = ""] = typeOf(urn).split(/:(?=[^:]*$)/);
  const [, outer, inner] = /^(.*)\/([^/]*)$/.exec(module) ?? [];
  return inner?.toLowerCase() === type.toLowerCase() ? `${outer ?? ""}:${type}` : typeOf(urn);
}

function time(seconds: number): string {
  return seconds < 1 ? `${seconds.toFixed(2)}s` : `${Math.floor(seconds)}s`;
}

export interface Summary {
  readonly changes: Changes;
  readonly diagnostics: readonly Diagnostic[];
  readonly outputs: Readonly<Record<string, OutputValue>>;
  readonly before: Readonly<Record<string, OutputValue>>;
  readonly dryRun: boolean;
  readonly seconds: number;
  /** URN of the stack, to which belongs what belongs to no resource. */
  readonly stackUrn: string;
}

/** The last part: what was said about which resource, the outputs, how many resources changed, and how long it took. */
export function renderSummary(summary: Summary, paint: Paint): string {
  const { changes, diagnostics, outputs, before, dryRun, seconds } = summary;
  const heading = (text: string): string => paint("bold", text);
  const sections: string[][] = [];
  const said = renderDiagnostics(diagnostics, summary.stackUrn, paint);
  if (said.length > 0) sections.push([heading("Diagnostics:"), ...said]);
  const names = Object.keys({ ...before, ...outputs }).sort();
  const values = names.flatMap((name) => renderOutput(name, before[name], outputs[name], paint));
  if (values.length > 0) sections.push([heading("Outputs:"), ...values]);
  const counts = summaryLines(changes, diagnostics, dryRun, summary.stackUrn);
  sections.push([heading("Resources:"), ...counts.map((line) => `    ${line}`)]);
  if (!dryRun) sections.push([`${heading("Duration:")} ${Math.ceil(seconds)}s`]);
  return sections.map((lines) => lines.join("\n")).join("\n\n");
}

function renderDiagnostics(diagnostics: readonly Diagnostic[], stackUrn: string, paint: Paint): string[] {
  const byUrn = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const urn = diagnostic.urn ?? stackUrn;
    byUrn.set(urn, [...(byUrn.get(urn) ?? []), diagnostic]);
  }
  const styles = { error: "red", warning: "yellow" } as const;
  return [...byUrn].flatMap(([urn, all]) => [
    `  ${shortType(urn)} (${paint("bold", nameOf(urn))}):`,
    ...all.map(({ severity, message }) => {
      const prefix = severity === "error" || severity === "warning" ? paint(styles[severity], `${severity}: `) : "";
      return `    ${prefix}${message.trimEnd().replaceAll("\n", "\n    ")}`;
    }),
  ]);
}

/** The counts as the CLI prints them. */
export function summaryLines(
  changes: Changes,
  diagnostics: readonly Diagnostic[],
  dryRun: boolean,
  stackUrn: string,
): string[] {
  const lines: string[] = [];
  let total = 0;
  for (const op of ["create", "update", "delete", "replace"] as const) {
    const count = changes[op] ?? 0;
    if (count === 0) continue;
    total += count;
    lines.push(`${ops[op].symbol}${count} ${dryRun ? `to ${op}` : `${op}d`}`);
  }
  const pieces = lines.length >= 2 ? [`${total} changes`] : [];
  if (changes.same) pieces.push(`${changes.same} unchanged`);
  if (pieces.length > 0) lines.push(pieces.join(". "));
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const errored = new Set(errors.map(({ urn }) => urn ?? stackUrn));
  if (errored.size > 0) lines.push(`${errored.size} errored`);
  return lines;
}

function renderOutput(
  name: string,
  before: OutputValue | undefined,
  after: OutputValue | undefined,
  paint: Paint,
): string[] {
  const [then, now] = [before && render(before), after && render(after)];
  if (now === undefined) return [`  ${paint("red", "-")} ${name}: ${then ?? ""}`];
  if (then === undefined) return [`  ${paint("green", "+")} ${name}: ${now}`];
  // A secret is compared without being shown.
  const same = JSON.stringify(before?.value) === JSON.stringify(after?.value);
  if (same) return [`    ${name}: ${now}`];
  return [`  ${paint("yellow", "~")} ${name}: ${then === now ? now : `${then} => ${now}`}`];
}

function render({ value, secret }: OutputValue): string {
  if (secret) return "[secret]";
  return value === undefined ? "[unknown]" : JSON.stringify(value, undefined, 2).replaceAll("\n", "\n    ");
}
