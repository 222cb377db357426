import * as pulumi from "@pulumi/pulumi";
import { markRunError } from "./pulumiInternals";
import { type ErrorCode, InputError, RekeyError } from "../provider/platform/errors";
import { isSet } from "../provider/records/fields";
import { hiddenInputs } from "../provider/resource";

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
    throw refused(asRunError(new InputError(error.property, error.reason, { of, afterReset: true })));
  }
}

/**
 * Refuses arguments that only the SDK may set, because the provider would accept them from JavaScript.
 *
 * @param of the resource, for errors: `PasswordRotation "sessions"`
 * @throws InputError that ends the program
 */
export function refuseHidden(of: string, args: object): void {
  const hidden = Object.entries(args).find(([name, value]) => hiddenInputs.includes(name) && isSet(value));
  if (!hidden) return;
  checked(of, () => {
    throw new InputError(hidden[0], "is not an input of this resource");
  });
}

/** Whether the value of an input is not there yet. */
export function isLate(input: unknown): input is pulumi.Output<unknown> | Promise<unknown> {
  return pulumi.Output.isInstance(input) || input instanceof Promise;
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
  return asRunError(new ProgramError(code, text));
}

/** Calls a function whose errors of Rekey end the program without a stack trace, unless the program catches them. */
export async function endingRun<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof RekeyError ? asRunError(error) : error;
  }
}

/**
 * Prepares an error that ends the program, of which Pulumi then prints only the message. The stack trace is removed,
 * because Pulumi formats it even if it does not show it: on some lines of it (such as
 * `node_modules/@pulumi/output.ts:1`), Node's `inspect` takes half a minute and gigabytes of memory. Pulumi may handle
 * the error late, of which Node would warn without a listener.
 */
export function asRunError<E extends Error>(error: E): E {
  error.stack = "";
  if (!process.listeners("rejectionHandled").includes(expected)) process.on("rejectionHandled", expected);
  return markRunError(error);
}

const expected = (): void => undefined;

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

/** The resources of this program that rotate a secret or limit a flow-control key, by what it is. */
const ownersOfRun = perRun(() => new Map<string, Set<Owner>>());

/**
 * A resource that rotates a secret or limits a key. The URN of a component's child is known late; until then it has
 * a short name.
 */
interface Owner {
  readonly shortName: string;
  urn?: string;
}

/**
 * Registers a resource as the owner of a secret or a key.
 *
 * @param shortName for errors: `PasswordRotation "sessions"`
 * @returns the inputs that tell the provider which other resources have the same secret or key
 */
export function ownersFor(
  shortName: string,
  urn: Promise<string>,
  subject: pulumi.Input<string>,
): { owner: Promise<string>; otherOwners: pulumi.Output<string[] | undefined> } {
  const otherOwners = pulumi.output(subject).apply(async (id) => (await othersFor(shortName, urn, [id])).get(id));
  return { owner: urn, otherOwners };
}

/**
 * Registers a fleet as the owner of databases.
 *
 * @param urn the fleet's URN
 * @returns the provider's input for the other resources that rotate them, by their ids
 */
export async function otherOwnersFor(
  fleet: string,
  urn: Promise<string>,
  databaseIds: readonly string[],
): Promise<Record<string, string[]> | undefined> {
  const subjectOf = (id: string) => `database ${id}`;
  const others = await othersFor(`PasswordRotationFleet ${JSON.stringify(fleet)}`, urn, databaseIds.map(subjectOf));
  if (others.size === 0) return undefined;
  return Object.fromEntries(databaseIds.map((id) => [id, others.get(subjectOf(id)) ?? []]));
}

/**
 * Registers an owner, and returns the other owners by what they own. It waits for one turn of the event loop, so that
 * all resources of the program's first turn are registered before the first one is sent to the engine.
 */
async function othersFor(
  shortName: string,
  urn: Promise<string>,
  subjects: readonly string[],
): Promise<Map<string, string[]>> {
  const self: Owner = { shortName };
  void urn.then((known) => (self.urn = known));
  const ownersOf = ownersOfRun();
  for (const subject of subjects) ownersOf.set(subject, (ownersOf.get(subject) ?? new Set()).add(self));
  await endOfTurn();
  const others = subjects.map((subject) => {
    const owners = [...(ownersOf.get(subject) ?? [])].filter((other) => other !== self);
    return [subject, owners.map((other) => other.urn ?? other.shortName)] as const;
  });
  return new Map(others.filter(([, owners]) => owners.length > 0));
}
