import { type ErrorCode, RekeyError } from "../provider/platform/errors";
import { markRunError } from "./pulumiInternals";

/** An error of the program or of its installation. */
class ProgramError extends RekeyError {
  readonly delivery = "not sent";
}

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, text: string): RekeyError {
  return withoutStack(new ProgramError(code, text));
}

/** Calls a function whose errors of Rekey end the program without a stack trace, unless the program catches them. */
export async function endingRun<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof RekeyError ? withoutStack(error) : error;
  }
}

/**
 * Makes Pulumi print only the message of an error that ends the program. The stack trace is removed, because Pulumi
 * formats it even if it does not show it: on some lines of it (such as `node_modules/@pulumi/output.ts:1`), Node's
 * `inspect` takes half a minute and gigabytes of memory.
 */
export function withoutStack<E extends Error>(error: E): E {
  error.stack = "";
  return markRunError(error);
}
