import { RekeyError, StateError, withCode } from "../domain/errors";
import { engineMessage, type Properties, reveal, secretNames, wrap } from "../pulumi/values";
import {
  type AnyResource,
  type Imported,
  type Notice,
  type Planned,
  type Result,
  schemaProblems,
  secretOutputsOf,
} from "../resource/resource";
import { type Run } from "../run/run";

/** The saved state of a resource in the engine. */
export interface Saved {
  readonly id: string;
  readonly outputs: Properties;
}

/** A resource in a run, as both adapters handle it. */
export class ResourceHandler {
  constructor(
    readonly resource: AnyResource,
    private readonly run: Run,
  ) {}

  /**
   * Problems with inputs, as messages, and the inputs that the calls after it get: with the marks of secrets that they
   * had, and those of inputs that are always secret.
   *
   * @param savedInputs what the engine saved of the last ones; empty for a new resource
   * @param urn the resource's URN, to refuse a second resource for the same secret or key; the SDK refuses it itself
   */
  check(
    savedInputs: Properties,
    news: Properties,
    urn?: string,
  ): { readonly inputs: Properties; readonly problems: string[] } {
    const { resource, run } = this;
    const given = reveal(news);
    const wrong = schemaProblems(resource.inputs, given);
    // Further checks need inputs of the right types.
    const found = wrong.length > 0 ? wrong : (resource.check?.(given, run) ?? []);
    const problems = found.map(({ property, problem }) => {
      const text = `${property} ${problem}. No request was made for it. Fix the program, then run again.`;
      return withCode(text, "REKEY_INPUT_INVALID");
    });
    if (urn !== undefined && problems.length === 0) problems.push(...this.#conflictsOf(given, urn));
    // A fleet may have a thousand.
    if (problems.length > 0) return { inputs: news, problems: problems.slice(0, 5) };
    const decided = resource.decide?.(reveal(savedInputs), given, run);
    const inputs = decided ? wrap(decided as Properties, secretNames(news)) : news;
    const secrets = [...(resource.secretInputs ?? []), ...secretOutputsOf(resource)];
    return { inputs: wrap(inputs, secrets), problems };
  }

  /** The claims of the resource that another one already has, as messages. */
  #conflictsOf(inputs: Properties, urn: string): string[] {
    const { shared, options } = this.run;
    const { owners } = shared;
    const claims = this.resource.claims?.(inputs, options.settings) ?? [];
    return claims.flatMap(({ subject, code, why }) => {
      const owner = owners.get(subject) ?? urn;
      owners.set(subject, owner);
      if (owner === urn) return [];
      return withCode(
        `${subject} already belongs to ${owner}: ${why} No request was made for it.`,
        code,
      );
    });
  }

  /** The plan of `apply`, and the inputs that would replace the resource: another id always does. */
  plan(saved: Saved | undefined, inputs: Properties): Planned {
    const { resource, run } = this;
    const before = this.#outputsOf(saved);
    const desired = this.#inSavedSpelling(saved, inputs);
    if (saved === undefined || this.#idOf(desired) === saved.id) {
      return resource.plan(before, desired, run);
    }
    const { notices } = resource.plan(undefined, inputs, run);
    return { changes: true, replaces: [resource.idInput], notices };
  }

  /** Creates if nothing is saved, else updates. No error has secrets that became known since it was made. */
  async apply(
    saved: Saved | undefined,
    inputs: Properties,
  ): Promise<Result<Properties> & { readonly id: string }> {
    const { resource, run } = this;
    try {
      const before = this.#outputsOf(saved);
      const desired = this.#inSavedSpelling(saved, inputs);
      const resets = run.during({ permission: "resets" });
      const result = (await resource.apply(before, desired, resets)) as Result<Properties>;
      if (result.failure) result.failure.message = run.redacted(result.failure.message);
      return { ...result, id: this.#idOf(desired) };
    } catch (error) {
      if (error instanceof Error) error.message = run.redacted(error.message);
      throw error;
    }
  }

  /** Reads what may have been changed elsewhere. */
  async refresh(saved: Saved): Promise<Result<Properties>> {
    const outputs = this.#outputsOf(saved) ?? {};
    return ((await this.resource.refresh?.(outputs, this.run)) ?? {
      outputs,
      notices: [],
    }) as Result<Properties>;
  }

  /** Removes what the resource has set at the platform. */
  async remove(outputs: Properties): Promise<readonly Notice[]> {
    const { resource, run } = this;
    const permission = resource.removes ?? "limits";
    return (await resource.remove?.(outputs, run.during({ permission }))) ?? [];
  }

  /** The result that an import saves. */
  async import(id: string): Promise<Imported<Properties, Properties>> {
    const { resource, run } = this;
    if (resource.import) {
      return (await resource.import(id, run)) as Imported<Properties, Properties>;
    }
    const text =
      "The resource cannot be imported or read: the platform has nothing to import. No request was made. Remove the option `import` or `id`, then run again.";
    throw new RekeyError("REKEY_IMPORT_UNSUPPORTED", text, "not sent");
  }

  /** The inputs with the saved id, if theirs is the same in another spelling: what is sent and saved keeps its own. */
  #inSavedSpelling(saved: Saved | undefined, inputs: Properties): Properties {
    const { idInput, isSameId } = this.resource;
    const given = inputs[idInput];
    const isSame =
      saved !== undefined && typeof given === "string" && isSameId?.(saved.id, given) === true;
    return isSame ? { ...inputs, [idInput]: saved.id } : inputs;
  }

  #idOf(inputs: Properties): string {
    return this.resource.onlyId ?? String(inputs[this.resource.idInput]);
  }

  /**
   * The saved outputs. With an id that is not the resource's own, they are damaged, and replacing the resource would be
   * an unrequested reset. An engine that gave up on an error hook has saved no outputs at all.
   */
  #outputsOf(saved: Saved | undefined): Properties | undefined {
    const output = this.resource.idInput;
    if (saved === undefined || saved.outputs[output] === saved.id) return saved?.outputs;
    const reason = `is not ${JSON.stringify(saved.id)}, the id of the resource: the state is damaged`;
    const advice =
      "Restore it from an earlier export of the state, or take the resource out of the state: creating it again resets the secret once more.";
    throw new StateError({ output, reason, advice });
  }
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

export function fitsInError(outputs: Properties): boolean {
  return Buffer.byteLength(JSON.stringify(outputs)) <= maxInitErrorBytes;
}

/**
 * A call of which any failure reaches the engine as an error that it can show. Pulumi's dynamic provider host prints
 * it, too, as `${error}: ${error.stack}`: of an error for the user, only a pointer is left there.
 */
export function reporting<A extends unknown[], T>(
  call: (...args: A) => T | Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      if (!(error instanceof Error)) throw new Error(internalError(String(error)));
      const isExpected = error instanceof RekeyError || error instanceof InitError;
      error.message = engineMessage(isExpected ? error.message : internalError(error.message));
      if (!(error instanceof RekeyError)) throw error;
      throw Object.defineProperties(error, {
        // Calls that share a request fail with the same error.
        toString: { value: () => "pulumi-rekey", configurable: true },
        stack: { value: "see the error of the resource", configurable: true },
      });
    }
  };
}

function internalError(message: string): string {
  return withCode(
    `pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`,
    "REKEY_INTERNAL",
  );
}
