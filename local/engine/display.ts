import { stripVTControlCharacters, styleText } from "node:util";
import { type ConfigValue } from "./config";
import { type OperationOptions, type OperationResult, type OutputMap, type OutputValue } from "./results";
import { type Changes, type Diagnostic, type EngineEvent, type PropertyChange, type StepOp } from "./types";
import { nameOf, typeOf } from "./urns";

type Style = "green" | "yellow" | "red" | "magenta" | "bold" | "dim";
/** Colours a text, or returns it unchanged. */
type Paint = (style: Style, text: string) => string;

/** The display of each step: symbol, colour, and the words for planned, running and completed. */
const ops: Record<StepOp, readonly [symbol: string, style: Style, planned: string, doing: string, done: string]> = {
  same: ["  ", "dim", "unchanged", "unchanged", "unchanged"],
  create: ["+ ", "green", "create", "creating", "created"],
  update: ["~ ", "yellow", "update", "updating", "updated"],
  delete: ["- ", "red", "delete", "deleting", "deleted"],
  replace: ["+-", "magenta", "replace", "replacing", "replaced"],
  "create-replacement": ["++", "green", "create replacement", "creating replacement", "created replacement"],
  "delete-replaced": ["--", "red", "delete original", "deleting original", "deleted original"],
  refresh: ["~ ", "yellow", "refresh", "refreshing", "refreshed"],
  "remove-pending-replace": ["~ ", "yellow", "forget", "forgetting", "forgot"],
};

/** The output of an operation for people: lines as events happen, and a summary at the end. */
export class Display {
  readonly diagnostics: Diagnostic[] = [];
  readonly #lines: string[] = [];
  readonly #secrets: string[];
  readonly #began = performance.now();

  constructor(
    private readonly options: OperationOptions,
    private readonly dryRun: boolean,
    /** The resource of diagnostics without a URN. */
    private readonly stackUrn: string,
    config: Readonly<Record<string, ConfigValue>>,
  ) {
    const settings = Object.values(config);
    this.#secrets = settings.flatMap(({ value, secret }) => (secret && value.length >= 3 ? [value] : []));
  }

  report(event: EngineEvent): void {
    const shown = event.kind === "diagnostic" ? { ...event, message: this.#clean(event.message) } : event;
    this.options.onEvent?.(shown);
    if (shown.kind === "diagnostic") {
      const { severity, urn, message } = shown;
      this.diagnostics.push({ severity, urn, message });
    } else if (shown.kind !== "start") this.#print((paint) => this.#step(shown, paint));
  }

  /** Prints the summary: diagnostics by resource, outputs, numbers of changed resources, and the duration. */
  end(succeeded: boolean, changes: Changes, before: OutputMap, outputs: OutputMap): OperationResult {
    this.#print((paint) => {
      // Like the CLI: an output that is unknown in a preview is not shown as changed.
      const isUnknown = (name: string): boolean => this.dryRun && name in outputs && outputs[name]?.value === undefined;
      const names = Object.keys({ ...before, ...outputs }).filter((name) => !(name in before && isUnknown(name)));
      const counts = summaryLines(changes, this.diagnostics, this.dryRun, this.stackUrn);
      const sections: [string, string[]][] = [
        ["Diagnostics:", this.#diagnosticLines(paint)],
        ["Outputs:", names.sort().map((name) => outputLine(name, before[name], outputs[name], paint))],
        ["Resources:", counts.map((line) => `    ${line}`)],
      ];
      const shown = sections.filter(([title, lines]) => lines.length > 0 || title === "Resources:");
      const texts = shown.map(([title, lines]) => [paint("bold", title), ...lines].join("\n"));
      const seconds = Math.ceil((performance.now() - this.#began) / 1000);
      if (!this.dryRun) texts.push(`${paint("bold", "Duration:")} ${seconds}s`);
      return [this.#lines.length > 0 ? "\n" : "", texts.join("\n\n")].join("");
    });
    const { diagnostics } = this;
    const stdout = this.#lines.join("\n");
    return { result: succeeded ? "succeeded" : "failed", changes, outputs, diagnostics, stdout };
  }

  /** Masks secret settings, as the CLI does, and removes the colours that the SDK adds to stack traces. */
  #clean(message: string): string {
    return this.#secrets.reduce(
      (text, secret) => text.replaceAll(secret, "[secret]"),
      stripVTControlCharacters(message),
    );
  }

  #print(render: (paint: Paint) => string | undefined): void {
    const text = render((_, plain) => plain);
    if (text === undefined) return;
    this.#lines.push(...text.split("\n"));
    const coloured: Paint = (style, plain) => styleText(style, plain, { validateStream: false });
    const shown = this.options.colors === true ? render(coloured) : text;
    for (const line of shown?.split("\n") ?? []) this.options.onOutput?.(line);
  }

  /** The line of a step, with its changes if `diff` is set; undefined for an unchanged resource. */
  #step(event: EngineEvent & { kind: "done" | "failed" }, paint: Paint): string | undefined {
    const { op, urn, seconds, changes = [] } = event;
    const [symbol, style, planned, doing, done] = ops[op];
    const time = `(${seconds < 1 ? seconds.toFixed(2) : Math.floor(seconds)}s)`;
    const differences =
      this.options.diff === true ? changes.map((change) => `\n${changeLine(change, paint)}`).join("") : "";
    const line = (text: string): string =>
      ` ${paint(style, symbol)} ${typeOf(urn)} ${paint("bold", nameOf(urn))} ${text}${differences}`;
    if (event.kind === "failed") return line(paint("red", `**${doing} failed** ${time}`));
    if (op === "same" || (op === "refresh" && event.result === "same")) return undefined;
    const keys = event.keys?.length ? ` [${event.keys.join(", ")}]` : "";
    const found = event.result === "delete" ? ", is gone" : event.result === "update" ? ", has changed" : "";
    return line(paint(style, this.dryRun ? planned : `${done} ${time}`) + found + keys);
  }

  #diagnosticLines(paint: Paint): string[] {
    const byUrn = new Map<string, Diagnostic[]>();
    for (const diagnostic of this.diagnostics) {
      const urn = diagnostic.urn ?? this.stackUrn;
      byUrn.set(urn, [...(byUrn.get(urn) ?? []), diagnostic]);
    }
    const styles = { error: "red", warning: "yellow" } as const;
    return [...byUrn].flatMap(([urn, all]) => [
      `  ${typeOf(urn)} (${paint("bold", nameOf(urn))}):`,
      ...all.map(({ severity, message }) => {
        const prefix = severity === "info" ? "" : paint(styles[severity], `${severity}: `);
        return `    ${prefix}${message.trimEnd().replaceAll("\n", "\n    ")}`;
      }),
    ]);
  }
}

/** The counts as the CLI prints them. */
export function summaryLines(
  changes: Changes,
  diagnostics: readonly Diagnostic[],
  dryRun: boolean,
  stackUrn: string,
): string[] {
  const done = (["create", "update", "delete", "replace"] as const).filter((op) => changes[op]);
  const lines = done.map((op) => `${ops[op][0]}${changes[op] ?? 0} ${dryRun ? `to ${op}` : `${op}d`}`);
  const total = done.reduce((sum, op) => sum + (changes[op] ?? 0), 0);
  const pieces = [
    ...(done.length >= 2 ? [`${total} changes`] : []),
    ...(changes.same ? [`${changes.same} unchanged`] : []),
  ];
  if (pieces.length > 0) lines.push(pieces.join(". "));
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const errored = new Set(errors.map(({ urn }) => urn ?? stackUrn));
  if (errored.size > 0) lines.push(`${errored.size} errored`);
  return lines;
}

function outputLine(name: string, then: OutputValue | undefined, now: OutputValue | undefined, paint: Paint): string {
  const render = ({ value, secret }: OutputValue): string =>
    secret ? "[secret]" : value === undefined ? "[unknown]" : json(value, "    ");
  const before = then && render(then);
  const after = now && render(now);
  // A secret is compared without being shown.
  const same =
    before !== undefined && after !== undefined && JSON.stringify(then?.value) === JSON.stringify(now?.value);
  return same ? `    ${name}: ${after}` : `  ${difference(name, before, after, paint)}`;
}

function changeLine({ name, before, after }: PropertyChange, paint: Paint): string {
  const [then, now] = [before, after].map((value) => (value === undefined ? undefined : json(value, "      ")));
  return `      ${difference(name, then, now, paint)}`;
}

function difference(name: string, before: string | undefined, after: string | undefined, paint: Paint): string {
  if (after === undefined) return `${paint("red", "-")} ${name}: ${before ?? ""}`;
  if (before === undefined) return `${paint("green", "+")} ${name}: ${after}`;
  return `${paint("yellow", "~")} ${name}: ${before === after ? after : `${before} => ${after}`}`;
}

/** A value for people. The placeholders of secret and unknown values are shown without quotes. */
function json(value: unknown, indent: string): string {
  const text = JSON.stringify(value, undefined, 2).replace(/"(\[secret\]|\[unknown\])"/g, "$1");
  return text.replaceAll("\n", `\n${indent}`);
}
