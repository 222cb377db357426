import { RekeyError, StateError, withCode } from "../platform/errors";
import { engineMessage } from "../records/engineMessage";
import { type Properties } from "../records/properties";
import { type AnyResource, type Notice, type Planned, type Result, schemaProblems } from "../resource";
import { type Run } from "../run";

/** What the engine saved of a resource. */
export interface Saved {
  readonly id: string;
  readonly outputs: Properties;
}

/**
 * What is wrong with the inputs of a resource, as messages.
 *
 * @param urn the resource's URN, to refuse a second resource for the same secret or key; the SDK refuses it itself
 */
export function checkResource(resource: AnyResource, inputs: Properties, run: Run, urn?: string): string[] {
  const wrong = schemaProblems(resource.inputs, inputs);
  const problems = wrong.length > 0 ? wrong : (resource.check?.(inputs, run) ?? []);
  const messages = problems.map(({ property, problem }) => {
    const text = `${property} ${problem}. Nothing was sent for it. Correct the program, then run again.`;
    return withCode(text, "REKEY_INPUT_INVALID");
  });
  const owners = run.shared(checkResource, () => new Map<string, string>());
  const claims = urn === undefined || problems.length > 0 ? [] : (resource.claims?.(inputs) ?? []);
  for (const { subject, code, why } of claims) {
    const owner = owners.get(subject) ?? urn ?? "";
    owners.set(subject, owner);
    if (owner === urn) continue;
    messages.push(withCode(`${subject} already belongs to ${owner}: ${why} Nothing was sent for it.`, code));
  }
  // A fleet may have a thousand.
  return messages.slice(0, 5);
}

/** What `applyResource` would do, and the input that would replace the resource. */
export function planResource(
  resource: AnyResource,
  saved: Saved | undefined,
  inputs: Properties,
  run: Run,
): Planned & { readonly replaces: string[] } {
  const before = outputsOf(resource, saved);
  if (saved === undefined || idOf(resource, inputs) === saved.id) {
    return { ...resource.plan(before, inputs, run), replaces: [] };
  }
  const { notices } = resource.plan(undefined, inputs, run);
  return { changes: true, replaces: [resource.idInput], notices };
}

/** Creates if nothing is saved, else updates. */
export async function applyResource(
  resource: AnyResource,
  saved: Saved | undefined,
  inputs: Properties,
  run: Run,
): Promise<Result<Properties> & { readonly id: string }> {
  try {
    const before = outputsOf(resource, saved);
    const result = (await resource.apply(before, inputs, run.permitting("resets"))) as Result<Properties>;
    redact(result.failure, run);
    return { ...result, id: idOf(resource, inputs) };
  } catch (error) {
    redact(error, run);
    throw error;
  }
}

/** Removes the secrets that became known since an error was made. */
function redact(error: unknown, run: Run): void {
  if (error instanceof Error) error.message = run.shown(error.message);
}

/** Reads what may have been changed elsewhere. */
export async function refreshResource(resource: AnyResource, saved: Saved, run: Run): Promise<Result<Properties>> {
  const outputs = outputsOf(resource, saved) ?? {};
  return ((await resource.refresh?.(outputs, run)) ?? { outputs, notices: [] }) as Result<Properties>;
}

/** Removes what the resource has set at the platform. */
export async function removeResource(resource: AnyResource, outputs: Properties, run: Run): Promise<readonly Notice[]> {
  return (await resource.remove?.(outputs, run.permitting("limits"))) ?? [];
}

/** The id of a resource with these inputs. */
function idOf({ onlyId, idInput }: AnyResource, inputs: Properties): string {
  return onlyId ?? String(inputs[idInput]);
}

/**
 * The saved outputs. With an id that is not the resource's own, they are damaged, and replacing the resource would be
 * an unrequested reset. An engine that gave up on an error hook has saved no outputs at all.
 *
 * @throws StateError
 */
function outputsOf({ idInput }: AnyResource, saved: Saved | undefined): Properties | undefined {
  if (saved === undefined || saved.outputs[idInput] === saved.id) return saved?.outputs;
  throw new StateError({
    output: idInput,
    reason: `is not ${JSON.stringify(saved.id)}, the id of the resource`,
    advice:
      "Restore it from an earlier export of the state, or take the resource out of the state: creating it again resets the secret once more.",
  });
}

/** An error with which the engine saves the properties nevertheless. */
export class InitError extends Error {
  readonly reasons = [this.message];

  constructor(
    message: string,
    readonly id: string,
    readonly properties: Properties,
  ) {
    super(engineMessage(message));
  }
}

/**
 * Bytes of properties in an init error, as JSON: half of what was seen to pass. With more than 12 MiB the engine closes
 * its connection to the provider, and so loses the responses to all changes in flight. A record has at most 1 MiB.
 */
const maxInitErrorBytes = 6 * 1024 * 1024;

/** Whether outputs can be saved by an error. */
export function fitsInError(outputs: Properties): boolean {
  return Buffer.byteLength(JSON.stringify(outputs)) <= maxInitErrorBytes;
}

/** A call of which any failure reaches the engine as an error that it can show. */
export function reporting<A extends unknown[], T>(call: (...args: A) => T | Promise<T>): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      if (!(error instanceof Error)) throw new Error(internalError(String(error)));
      const isExpected = error instanceof RekeyError || error instanceof InitError;
      error.message = engineMessage(isExpected ? error.message : internalError(error.message));
      throw error;
    }
  };
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}
