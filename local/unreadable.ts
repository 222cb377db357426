import { YAMLError } from "yaml";

/** Why a YAML or JSON text could not be parsed. Omits the text that the parser quotes, which may contain secrets. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof SyntaxError) return "it is not valid JSON";
  if (error instanceof ReferenceError) return "it uses a YAML alias that is not defined";
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof YAMLError)) return message;
  return `it is not valid YAML${/ at line \d+, column \d+/.exec(message)?.[0] ?? ""}`;
}
