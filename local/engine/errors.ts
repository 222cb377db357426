import { z } from "zod";
import { whyUnreadable } from "../unreadable";

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
    throw new EngineError(`${name} cannot be read: ${whyUnreadable(error)}. ${whatToDo}`, { cause: error });
  }
}

/** The first field that is not as it should be. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue && issue.path.length > 0 ? `${z.core.toDotPath(issue.path)}: ` : "";
  return `${field}${issue?.message ?? "it cannot be used"}`;
}
