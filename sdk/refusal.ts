import { type ErrorCode, InputError } from "../provider/api/errors";
import { problemAfterReset } from "../provider/lifecycle/arguments";
import { perRun } from "./perRun";
import { runError } from "./runError";

type Refusal = ReturnType<typeof runError>;

const refusalOfRun = perRun((): { error?: Refusal } => ({}));

/**
 * An error in the program. Throwing it does not keep Pulumi from registering what was constructed before. So this run
 * also resets no password of a rotation that is not registered yet.
 */
export function refusal(code: ErrorCode, text: string): Refusal {
  const error = runError(code, text);
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
 * @throws RekeyError for an InputError
 */
export function checked<T>(of: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof InputError) throw refusal(error.code, `${of}: ${problemAfterReset(error)}`);
    throw error;
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
