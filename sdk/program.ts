import * as pulumi from "@pulumi/pulumi";
import { markRunError } from "./pulumiInternals";
import { type ErrorCode, InputError, RekeyError, resetsAreSaved, withCode } from "../provider/platform/errors";
import { type Claim } from "../provider/resource";

/** What the resources of a run have in common. */
interface Registry {
  /** Which resource has a secret or a key: `PasswordRotation "sessions"`, by `database "a"`. */
  readonly owners: Map<string, string>;
  /** Which two resources have the same, and what to do. */
  conflict?: string;
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
 * Claims what no other resource of the program may have.
 *
 * @param of the resource, for messages: `PasswordRotation "sessions"`
 */
export function claim(of: string, claims: readonly Claim[]): void {
  const registry = registryOfRun();
  for (const { subject, code, why } of claims) {
    const owner = registry.owners.get(subject);
    registry.owners.set(subject, owner ?? of);
    if (owner === undefined) continue;
    const text = `${of}: ${subject} already belongs to ${owner}: ${why} ${resetsAreSaved}`;
    registry.conflict ??= withCode(text, code);
  }
}

/** Why no resource of this package may be changed any more in this run; undefined if they may. */
export function conflictInRun(): string | undefined {
  return registryOfRun().conflict;
}

/** The error of a data source, which ends the program unless the program catches it. Errors of others stay. */
export function readError(name: string, error: unknown): unknown {
  if (error instanceof InputError) {
    return ending(new InputError(error.property, error.reason, { of: name, afterReset: true }));
  }
  return error instanceof RekeyError ? ending(error) : error;
}

/** An error that ends the program without a stack trace. */
export function runError(code: ErrorCode, text: string): RekeyError {
  return ending(new RekeyError(code, text, "not sent"));
}

/**
 * Prepares an error of which Pulumi prints only the message. The stack trace is removed, because Pulumi formats it even
 * if it does not show it: on some lines of it (such as `node_modules/@pulumi/output.ts:1`), Node's `inspect` takes half
 * a minute and gigabytes of memory. Pulumi may handle the error late, of which Node would warn without a listener.
 */
function ending<E extends Error>(error: E): E {
  error.stack = "";
  if (!process.listeners("rejectionHandled").includes(expected)) process.on("rejectionHandled", expected);
  return markRunError(error);
}

const expected = (): void => undefined;
