import { type ErrorCode, InputError, type RekeyError } from "../provider/platform/errors";
import { perRun } from "./perRun";
import { runError, withoutStack } from "./runError";

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
