import { flowControlLimits } from "../flowControl/flowControlLimits";
import { flowControlReset } from "../flowControl/flowControlReset";
import { type SharedReads } from "../flowControl/sharedReads";
import { RekeyError, StateError, withCode } from "../platform/errors";
import { engineMessage, type Properties, withoutProvider } from "../records/properties";
import { optionalText, requiredText } from "../rotation/arguments";
import { passwordRotation } from "../rotation/passwordRotation";
import { passwordRotationShard } from "../rotation/passwordRotationShard";
import { type Applied, type CheckFailure, type Difference, type Resource } from "../rotation/resource";
import { engineCommands } from "../runtime";
import { passwordVerification } from "../verification/passwordVerification";
import { type RunSession } from "./session";

/** A resource as the adapters handle it. */
export type AnyResource = Resource<object, object, RunSession>;

/** Every resource, by the name of its type. */
export const resources = {
  PasswordRotation: passwordRotation,
  PasswordRotationShard: passwordRotationShard,
  /** The dynamic type is PasswordVerification. In the plugin, that is a component with this child. */
  PasswordVerificationTargets: passwordVerification,
  FlowControlReset: flowControlReset,
  FlowControlLimits: flowControlLimits,
} satisfies Readonly<Record<string, AnyResource>>;

/** What create or update did, and the id of the resource. */
export interface AppliedTo extends Applied<Properties> {
  readonly id: string;
}

/** What the engine saved of a resource. */
export interface SavedResource {
  readonly id: string;
  readonly outputs: Properties;
}

/**
 * @param urn the resource's URN, if the engine passes it; otherwise the SDK passes it in the hidden inputs
 * @returns what is wrong with the inputs
 */
export function checkResource(
  resource: AnyResource,
  inputs: Properties,
  unknown: ReadonlySet<string>,
  session: RunSession,
  urn?: string,
): string[] {
  const check = (all: Properties) => resource.check(all, unknown, session).map(failedCheck);
  if (urn === undefined) return check(inputs);
  const { hiddenInputs } = resource;
  const wrong = hiddenInputs.filter((name) => inputs[name] !== undefined);
  if (wrong.length > 0) return wrong.map((name) => failedCheck({ property: name, reason: notAnInput(name) }));
  return check(hiddenInputs.includes("owner") ? { ...inputs, owner: urn } : inputs);
}

/** @throws StateError if the saved outputs are those of another resource */
export function diffResource(
  resource: AnyResource,
  saved: SavedResource,
  inputs: Properties,
  unknown: ReadonlySet<string>,
  session: () => RunSession,
): Difference {
  requireSound(resource, saved);
  if (resource.decidingInputs.some((name) => unknown.has(name))) {
    const notice = resource.noticeOfUnknown?.(saved.outputs, inputs, unknown, session());
    return { changes: true, ...(notice !== undefined && { notice }) };
  }
  return resource.diff(saved.outputs, inputs, session());
}

/**
 * Creates if nothing is saved, else updates.
 *
 * @throws StateError if the saved outputs are those of another resource
 */
export async function applyResource(
  resource: AnyResource,
  saved: SavedResource | undefined,
  inputs: Properties,
  session: RunSession,
): Promise<AppliedTo> {
  if (saved) requireSound(resource, saved);
  const applied = (await resource.apply(saved?.outputs, inputs, session)) as Applied<Properties>;
  return { ...applied, id: String(inputs[resource.idInput]) };
}

/** Adopts what was read for an import. Nothing is sent. */
export async function importResource(
  resource: AnyResource,
  inputs: Properties,
  session: RunSession,
): Promise<Applied<Properties>> {
  if (!resource.importedOutputs) return applyResource(resource, undefined, inputs, session);
  return { outputs: { ...resource.importedOutputs(inputs) } };
}

/**
 * Reads what may have been changed elsewhere. Damaged outputs stay, with a warning.
 *
 * @returns undefined if the saved outputs stay unchanged, because there is nothing to read
 */
export async function refreshResource(
  resource: AnyResource,
  saved: SavedResource,
  session: RunSession,
): Promise<Applied<Properties> | undefined> {
  const { outputs } = saved;
  const damage = damageOf(resource, saved);
  if (damage) return { outputs, warning: damage.text };
  if (!resource.refresh) return undefined;
  const { __provider } = outputs;
  const refreshed = (await resource.refresh(withoutProvider(outputs), session)) as Applied<Properties>;
  return { ...refreshed, outputs: __provider === undefined ? refreshed.outputs : { ...refreshed.outputs, __provider } };
}

function requireSound(resource: AnyResource, saved: SavedResource): void {
  const damage = damageOf(resource, saved);
  if (damage) throw damage;
}

/**
 * A saved id that differs from the resource's own is damaged: replacing the resource would be an unrequested reset. An
 * engine that gave up on an error hook has saved no outputs at all.
 */
function damageOf({ idInput }: AnyResource, { id, outputs }: SavedResource): StateError | undefined {
  if (outputs[idInput] === id) return undefined;
  return new StateError({
    output: idInput,
    reason: `is not ${JSON.stringify(id)}, the id of the resource`,
    advice: `Restore it from an earlier \`${engineCommands.exportState}\`, or ${engineCommands.removeFromState}: creating it again resets the password once more.`,
  });
}

/** An error whose message is already complete. */
export class ReportedError extends Error {}

/** An error with which the engine saves the properties nevertheless. */
export class InitError extends ReportedError {
  readonly reasons: readonly string[];

  constructor(
    message: string,
    readonly id: string,
    readonly properties: Properties,
  ) {
    super(engineMessage(message));
    this.reasons = [this.message];
  }
}

function notAnInput(name: string): string {
  return `${name} is not an input of this resource`;
}

/** The message of a failed check. */
export function failedCheck({ reason, code = "REKEY_INPUT_INVALID", advice = nothingSent }: CheckFailure): string {
  return withCode(`${reason}. ${advice}`, code);
}

const nothingSent = "Nothing was sent for it. Correct the program, then run again.";

/** Runs a call so that any failure reaches the engine as an error that it can show. */
export async function withEngineErrors<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(internalError(String(error)));
    const expected = error instanceof RekeyError || error instanceof ReportedError;
    error.message = engineMessage(expected ? error.message : internalError(error.message));
    throw error;
  }
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}

/** The functions of the package, by name. Each returns an object. */
export const functions: Readonly<Record<string, (reads: SharedReads, args: Properties) => Promise<object>>> = {
  getFlowControlKey: async (reads, { flowControlKey }) => reads.get(requiredText("flowControlKey", flowControlKey)),
  getFlowControlKeys: async (reads, { search }) => ({ keys: await reads.list(optionalText("search", search)) }),
  getGlobalParallelism: (reads) => reads.globalParallelism(),
};

/** Undefined if there is none. Inherited properties, such as `constructor`, do not count. */
export function functionNamed(name: string): (typeof functions)[string] | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined;
}
