import { YAMLError } from "yaml";
import { z } from "zod";

/** The operation could not be done; the message says what happened and what to do. */
export class EngineError extends Error {
  /** Name of the class. */
  override readonly name: string = "EngineError";
}

/** Something that was asked for, and that this engine leaves to the `pulumi` CLI. */
export class UnsupportedError extends EngineError {
  /** Name of the class. */
  override readonly name = "UnsupportedError";
  constructor(what: string) {
    super(`${what} is not supported by the local engine; the \`pulumi\` CLI does it`);
  }
}

/** Says what a thrown value was, whatever it was. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads something; what goes wrong is told with its name. @param whatToDo the next step then */
export function readable<T>(name: string, whatToDo: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedError) throw error;
    throw new EngineError(`${name} cannot be read: ${firstLineOf(error)}. ${whatToDo}`, { cause: error });
  }
}

/** What a reader of YAML or JSON says, without what it quotes of the text: that may hold secrets. */
export function firstLineOf(error: unknown): string {
  const message = messageOf(error);
  if (error instanceof SyntaxError) return "it is not valid JSON";
  if (error instanceof ReferenceError) return "it uses a YAML alias that is not defined";
  if (!(error instanceof YAMLError)) return message;
  return `it is not valid YAML${/ at line \d+, column \d+/.exec(message)?.[0] ?? ""}`;
}

/** The first field that is not as it should be. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue && issue.path.length > 0 ? `${z.core.toDotPath(issue.path)}: ` : "";
  return `${field}${issue?.message ?? "it cannot be used"}`;
}
