import { z } from "zod";
import { whyUnreadable } from "../unreadable";

/** The operation could not be executed. The message says what happened and what to do. */
export class EngineError extends Error {
  /** Name of the class. */
  override readonly name: string = "EngineError";
}

/** A feature that only the `pulumi` CLI supports. */
export class UnsupportedError extends EngineError {
  /** Name of the class. */
  override readonly name = "UnsupportedError";
  constructor(what: string) {
    super(`${what} is not supported by the local engine. Use the \`pulumi\` CLI`);
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Adds the name of what is read, and advice, to errors of `read`. */
export function readable<T>(name: string, advice: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedError) throw error;
    throw new EngineError(`${name} cannot be read: ${whyUnreadable(error)}. ${advice}`, { cause: error });
  }
}

/** Path and problem of the first invalid field. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue && issue.path.length > 0 ? `${z.core.toDotPath(issue.path)}: ` : "";
  return `${field}${issue?.message ?? "it is invalid"}`;
}
