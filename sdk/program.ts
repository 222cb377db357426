import * as pulumi from "@pulumi/pulumi";
import { markRunError } from "./pulumiInternals";
import { type ErrorCode, InputError, RekeyError, resetsAreSaved } from "../provider/platform/errors";
import { type Claim } from "../provider/resource";

/** What the resources of a run have in common. */
interface Registry {
  /** Which resource has a secret or a key: `PasswordRotation "sessions"`, by `database "a"`. */
  readonly owners: Map<string, string>;
  /** The first error in the program. */
  error?: RekeyError;
}

/** One for all copies of this package that a program loads, of any version. */
const shared = globalThis as { [key: symbol]: WeakMap<object, Registry> | undefined };
const registries = (shared[Symbol.for("pulumi-rekey.registries")] ??= new WeakMap<object, Registry>());
const registryOfRun = perRun((): Registry => ({ owners: new Map() }), registries);

/**
 * Keeps one value for each run of a Pulumi program. With the Automation API's inline programs and in tests, several
 * runs share a process, and must not see each other's values.
 *
 * @param values where they are kept. Default: separately for each copy of this package
 */
export function perRun<T>(make: () => T, values = new WeakMap<object, T>()): () => T {
  const noRun = {};
  return () => {
    const run = pulumi.runtime.getMonitor() ?? noRun;
    const value = values.get(run) ?? make();
    values.set(run, value);
    return value;
  };
}

/**
 * An error in the program. Throwing it does not keep Pulumi from registering what was constructed before, so this run
 * also registers no further resource of this package.
 */
export function refusal(code: ErrorCode, text: string): RekeyError {
  return refused(runError(code, text));
}

function refused<E extends RekeyError>(error: E): E {
  const { message } = error;
  // Pulumi would put the name of an internal input in front of it, for each resource that is not registered.
  Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
  registryOfRun().error ??= error;
  return error;
}

/**
 * The error that ends the program for one that it caused. Other errors stay.
 *
 * @param of what had it: `PasswordRotation "sessions"`
 */
export function endingError(of: string, error: unknown): unknown {
  if (error instanceof InputError) {
    return refused(asRunError(new InputError(error.property, error.reason, { of, afterReset: true })));
  }
  return error instanceof RekeyError ? asRunError(error) : error;
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
    throw endingError(of, error);
  }
}

/**
 * Claims secrets or keys for a resource of the program.
 *
 * @param of the resource, for errors: `PasswordRotation "sessions"`
 * @throws RekeyError that ends the program, if another resource has one of them
 */
export function claim(of: string, claims: readonly Claim[]): void {
  const { owners } = registryOfRun();
  for (const { subject, code, why } of claims) {
    const owner = owners.get(subject);
    if (owner !== undefined) {
      throw refusal(code, `${of}: ${subject} already belongs to ${owner}: ${why} ${resetsAreSaved}`);
    }
    owners.set(subject, of);
  }
}

/**
 * Waits for one turn of the event loop: until the program has constructed all resources of its first turn.
 *
 * @throws RekeyError if the program has an error
 */
export async function endOfTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const { error } = registryOfRun();
  if (error) throw error;
}

/** Whether the value of an input is not there yet. */
export function isLate(input: unknown): input is pulumi.Output<unknown> | Promise<unknown> {
  return pulumi.Output.isInstance(input) || input instanceof Promise;
}

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, text: string): RekeyError {
  return asRunError(new RekeyError(code, text, "not sent"));
}

/**
 * Prepares an error that ends the program, of which Pulumi then prints only the message. The stack trace is removed,
 * because Pulumi formats it even if it does not show it: on some lines of it (such as
 * `node_modules/@pulumi/output.ts:1`), Node's `inspect` takes half a minute and gigabytes of memory. Pulumi may handle
 * the error late, of which Node would warn without a listener.
 */
function asRunError<E extends Error>(error: E): E {
  error.stack = "";
  if (!process.listeners("rejectionHandled").includes(expected)) process.on("rejectionHandled", expected);
  return markRunError(error);
}

const expected = (): void => undefined;
