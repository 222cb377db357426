import * as pulumi from "@pulumi/pulumi";
import { type ErrorCode, InputError, RekeyError } from "../provider/platform/errors";
import { markRunError } from "./pulumiInternals";

const refusalOfRun = perRun((): { error?: RekeyError } => ({}));

/**
 * An error in the program. Throwing it does not keep Pulumi from registering what was constructed before, so this run
 * also registers no further resource that resets anything.
 */
export function refusal(code: ErrorCode, text: string): RekeyError {
  return refused(runError(code, text));
}

function refused<E extends RekeyError>(error: E): E {
  const { message } = error;
  // Pulumi would put the name of an internal input in front of it, for each resource that is not registered.
  Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
  refusalOfRun().error ??= error;
  return error;
}

/**
 * Calls a function that checks arguments.
 *
 * @param of what has them, for errors: `PasswordRotation "sessions"`
 * @throws InputError that ends the program
 */
export function checked<T>(of: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw refused(withoutStack(new InputError(error.property, error.reason, { of, afterReset: true })));
  }
}

/**
 * Waits for one turn of the event loop: until the program has constructed all resources of its first turn.
 *
 * @throws RekeyError if the program has an error
 */
export async function endOfTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const { error } = refusalOfRun();
  if (error) throw error;
}

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

/**
 * Keeps one value for each run of a Pulumi program. With the Automation API's inline programs and in tests, several
 * runs share a process, and must not see each other's values.
 */
export function perRun<T>(make: () => T): () => T {
  const values = new WeakMap<object, T>();
  const noRun = {};
  return () => {
    const run = pulumi.runtime.getMonitor() ?? noRun;
    const value = values.get(run) ?? make();
    values.set(run, value);
    return value;
  };
}
