import { type Changes, type Diagnostic, type EngineEvent, type StepOp, stackType } from "./types";
import { nameOf, typeOf } from "./urns";

interface OutputValue {
  readonly value: unknown;
  readonly secret: boolean;
}

const symbols: Record<StepOp, string> = {
  same: "  ",
  create: "+ ",
  update: "~ ",
  delete: "- ",
  replace: "+-",
  "create-replacement": "++",
  "delete-replaced": "--",
  refresh: "~ ",
  "remove-pending-replace": "~ ",
};

/** What is being done, what would be done, what was done. */
const words: Record<StepOp, readonly [doing: string, planned: string, done: string]> = {
  same: ["unchanged", "unchanged", "unchanged"],
  create: ["creating", "create", "created"],
  update: ["updating", "update", "updated"],
  delete: ["deleting", "delete", "deleted"],
  replace: ["replacing", "replace", "replaced"],
  "create-replacement": ["creating replacement", "create replacement", "created replacement"],
  "delete-replaced": ["deleting original", "delete original", "deleted original"],
  refresh: ["refreshing", "refresh", "refreshed"],
  "remove-pending-replace": ["forgetting", "forget", "forgot"],
};

/** One line for an event; undefined for what is not worth one: beginnings, and what stays as it is. */
export function renderEvent(event: EngineEvent, dryRun: boolean): string | undefined {
  if (event.kind === "start") return undefined;
  if (event.kind === "diagnostic") return event.severity === "debug" ? undefined : renderDiagnostic(event);
  const { op, urn, seconds } = event;
  const [doing, planned, done] = words[op];
  const who = `${shortType(urn)} ${nameOf(urn)}`;
  if (event.kind === "failed") return ` ${symbols[op]} ${who} **${doing} failed** (${time(seconds)})`;
  if (op === "same") return undefined;
  const found =
    event.result === undefined || event.result === "same"
      ? ""
      : event.result === "delete"
        ? ", is gone"
        : ", has changed";
  if (op === "refresh" && found === "") return undefined;
  const keys = event.keys && event.keys.length > 0 ? ` [${event.keys.join(", ")}]` : "";
  return ` ${symbols[op]} ${who} ${dryRun ? planned : `${done} (${time(seconds)})`}${found}${keys}`;
}

function renderDiagnostic({ severity, urn, message }: Diagnostic): string {
  const about = urn === undefined ? "" : `${shortType(urn)} ${nameOf(urn)}: `;
  const prefix = severity === "info" ? "" : `${severity}: `;
  return `    ${about}${prefix}${message.trimEnd().replaceAll("\n", "\n      ")}`;
}

function shortType(urn: string): string {
  // `pulumi-nodejs:dynamic/module:Type` is, for people, `pulumi-nodejs:dynamic:Type`.
  const type = typeOf(urn);
  return type === stackType ? type : type.replace(/\/[^:]*/, "");
}

function time(seconds: number): string {
  return seconds < 1 ? `${seconds.toFixed(2)}s` : `${Math.floor(seconds)}s`;
}

/** The last part: outputs, how many resources changed, and how long it took. */
export function renderSummary(about: {
  readonly changes: Changes;
  readonly diagnostics: readonly Diagnostic[];
  readonly outputs: Readonly<Record<string, OutputValue>>;
  readonly before: Readonly<Record<string, OutputValue>>;
  readonly dryRun: boolean;
  readonly seconds: number | undefined;
}): string {
  const lines: string[] = [];
  const names = Object.keys({ ...about.before, ...about.outputs }).sort();
  if (names.length > 0) {
    lines.push("Outputs:");
    for (const name of names) lines.push(...renderOutput(name, about.before[name], about.outputs[name]));
    lines.push("");
  }
  lines.push(
    "Resources:",
    ...summaryLines(about.changes, about.diagnostics, about.dryRun).map((line) => `    ${line}`),
  );
  if (about.seconds !== undefined) lines.push("", `Duration: ${Math.ceil(about.seconds)}s`);
  return lines.join("\n");
}

/** The counts as the CLI prints them. */
export function summaryLines(changes: Changes, diagnostics: readonly Diagnostic[], dryRun: boolean): string[] {
  const lines: string[] = [];
  let kinds = 0;
  let total = 0;
  for (const op of ["create", "update", "delete", "replace"] as const) {
    const count = changes[op] ?? 0;
    if (count === 0) continue;
    kinds++;
    total += count;
    lines.push(`${symbols[op]}${count} ${dryRun ? `to ${op}` : `${op}d`}`);
  }
  const pieces = kinds >= 2 ? [`${total} change${total === 1 ? "" : "s"}`] : [];
  if (changes.same) pieces.push(`${changes.same} unchanged`);
  if (pieces.length > 0) lines.push(pieces.join(". "));
  // What belongs to no resource is the stack's.
  const stackUrn = "";
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const errored = new Set(errors.map(({ urn }) => (urn === undefined || typeOf(urn) === stackType ? stackUrn : urn)));
  if (errored.size > 0) lines.push(`${errored.size} errored`);
  return lines;
}

function renderOutput(name: string, before: OutputValue | undefined, after: OutputValue | undefined): string[] {
  const now = after && render(after);
  const then = before && render(before);
  if (now === undefined) return [`  - ${name}: ${then ?? ""}`];
  if (then === undefined) return [`  + ${name}: ${now}`];
  // A secret is compared without being shown.
  const same = JSON.stringify(before?.value) === JSON.stringify(after?.value);
  return same ? [`    ${name}: ${now}`] : [`  ~ ${name}: ${then === now ? now : `${then} => ${now}`}`];
}

function render({ value, secret }: OutputValue): string {
  if (secret) return "[secret]";
  return value === undefined ? "[unknown]" : JSON.stringify(value, undefined, 2).replaceAll("\n", "\n    ");
}
