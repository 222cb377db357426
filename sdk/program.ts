import * as pulumi from "@pulumi/pulumi";
import { typeTokenOf, markRunError } from "./pulumiInternals";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { version } from "@pulumi/pulumi/version";
import { isTooOld, oldestPulumi } from "../provider/runtime";
import { howToHaveOne, howToInstall, installedFrom } from "../provider/engine/installation";
import { type ErrorCode, InputError, RekeyError } from "../provider/platform/errors";

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

/** Whether the value of an input is not there yet. */
export function isLate(input: unknown): boolean {
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

/** The prefix of the type token of each dynamic resource: the plugin, and this package's module. */
const typePrefix = "pulumi-nodejs:dynamic/rekey";

/** A resource that this package's provider manages in Pulumi's dynamic provider host. */
export abstract class DynamicResource extends pulumi.CustomResource {
  /**
   * @param provider name of the resource's provider in `pulumi-rekey/provider`. The text made of it must never change:
   * a changed text would be an update, and so possibly a reset.
   * @param retainOnDelete the default of the option. With true, the engine does not need the provider for a removal,
   * so the package can be removed together with its resources.
   */
  protected constructor(
    type: string,
    provider: string,
    name: string,
    properties: pulumi.Inputs,
    secretOutputs: readonly string[],
    options: pulumi.CustomResourceOptions | undefined,
    retainOnDelete = true,
  ) {
    requirePackageForHost();
    refuseImport(type, name, options);
    const __provider = `exports.handler=()=>require("pulumi-rekey/provider").${provider}`;
    super(
      typeOf(type),
      name,
      { ...properties, __provider },
      {
        ...options,
        additionalSecretOutputs: [...secretOutputs, ...(options?.additionalSecretOutputs ?? [])],
        retainOnDelete: options?.retainOnDelete ?? retainOnDelete,
      },
    );
  }
}

/**
 * Pulumi's host cannot import, and a read with `id` would save a resource without a record or credentials.
 *
 * @throws RekeyError
 */
export function refuseImport(type: string, name: string, options: pulumi.CustomResourceOptions | undefined): void {
  const option = (["import", "id"] as const).find((one) => options?.[one] !== undefined);
  if (option === undefined) return;
  throw refusal(
    "REKEY_IMPORT_UNSUPPORTED",
    `${type} "${name}" does not support the option \`${option}\`: a dynamic resource cannot be imported. Nothing was sent. Remove the option; a PasswordRotation with \`initialRotation: false\` adopts its database without a reset, and a FlowControlLimits sends only what differs from the platform.`,
  );
}

/** The full type token of a resource of this package. */
function typeOf(type: string): string {
  return `${typePrefix}:${type}`;
}

/** Whether an object is a resource of this package and of the given type, even from another copy of the package. */
export function isOfType(type: string, object: unknown): boolean {
  return pulumi.CustomResource.isInstance(object) && typeTokenOf(object) === typeOf(type);
}

let isPackageChecked = false;

/**
 * Makes sure that Pulumi's provider host, which searches from the program's working directory upwards, finds this copy
 * of the package and configures it.
 *
 * @throws RekeyError
 */
export function requirePackageForHost(): void {
  if (isPackageChecked) return;
  requirePulumi();
  const directory = process.cwd();
  const found = installedFrom(directory);
  if (found === undefined) {
    throw runError(
      "REKEY_NOT_INSTALLED",
      `Pulumi's provider host cannot find pulumi-rekey from ${directory}. Nothing was sent.\n` +
        howToInstall(directory),
    );
  }
  const own = realpathSync(join(__dirname, "..", ".."));
  if (found !== own) {
    throw runError(
      "REKEY_INSTALLED_TWICE",
      `Two copies of pulumi-rekey are installed: the program uses ${own}, and Pulumi's provider host would use ${found}. Nothing was sent.\n` +
        howToHaveOne(directory),
    );
  }
  isPackageChecked = true;
}

/**
 * Makes sure that Pulumi's provider host passes the stack's configuration on. Otherwise the passwords of another
 * platform could be reset.
 *
 * @throws RekeyError
 */
function requirePulumi(): void {
  if (!isTooOld(version)) return;
  throw runError(
    "REKEY_PULUMI_TOO_OLD",
    `The program uses @pulumi/pulumi ${version}, but pulumi-rekey needs ${oldestPulumi} or later: older versions do not pass the stack's configuration to the provider. Nothing was sent. Update @pulumi/pulumi in the package.json of the program, then run again.`,
  );
}

/** The resources of this program that rotate a database or limit a flow-control key, by what it is. */
const ownersOfRun = perRun(() => new Map<string, Set<Owner>>());

/**
 * A resource that rotates a database or limits a key. The URN of a component's child is known late; until then it has
 * a short name.
 */
interface Owner {
  readonly shortName: string;
  urn?: string;
}

/** The inputs that tell the provider which other resources have the same database or key. */
export interface Owners {
  readonly owner: Promise<string>;
  readonly otherOwners: pulumi.Output<string[] | undefined>;
}

/** Registers a resource as the owner of a database or a key. */
export function ownersFor(
  type: string,
  name: string,
  subject: pulumi.Input<string>,
  parent: pulumi.Resource | undefined,
): Owners {
  const owner = valueOnly(pulumi.createUrn(name, typeOf(type), parent));
  const self = ownerOf(type, name, owner);
  const otherOwners = pulumi.output(subject).apply(async (id) => (await othersFor([id], self)).get(id));
  return { owner, otherOwners };
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
  const others = await othersFor(databaseIds, ownerOf("PasswordRotationFleet", fleet, urn));
  return others.size > 0 ? Object.fromEntries(others) : undefined;
}

/**
 * Registers the owner of databases, and returns the other owners. It waits for one turn of the event loop, so that all
 * resources of the program's first turn are registered before the first one is sent to the engine.
 */
async function othersFor(databaseIds: readonly string[], self: Owner): Promise<Map<string, string[]>> {
  const ownersOf = ownersOfRun();
  for (const id of databaseIds) ownersOf.set(id, (ownersOf.get(id) ?? new Set()).add(self));
  await endOfTurn();
  const others = databaseIds.map((id) => {
    const owners = [...(ownersOf.get(id) ?? [])].filter((other) => other !== self);
    return [id, owners.map(({ urn, shortName }) => urn ?? shortName)] as const;
  });
  return new Map(others.filter(([, owners]) => owners.length > 0));
}

function ownerOf(type: string, name: string, urn: Promise<string>): Owner {
  const owner: Owner = { shortName: `${type} ${JSON.stringify(name)}` };
  void urn.then((known) => (owner.urn = known));
  return owner;
}

/**
 * A URN without its dependencies. A URN depends on that of the parent, and an output of a component waits for all of
 * its children: two children would wait for each other permanently.
 */
export function valueOnly(urn: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => void urn.apply(resolve));
}
