import * as flowControlResetHandler from "../flowControl/flowControlReset";
import * as passwordRotationHandler from "../rotation/passwordRotation";
import * as passwordRotationShardHandler from "../rotation/passwordRotationShard";
import * as passwordVerificationHandler from "../verification/passwordVerification";
import { RekeyError, StateError, withCode, InputError } from "../platform/errors";
import { engineMessage, type Properties } from "../records/properties";
import { engineCommands } from "../runtime";
import { type Applied, type CheckFailure, type Difference } from "../rotation/resource";
import { flowControlResetOutputs, secretFlowControlResetOutputs } from "../flowControl/flowControlReset";
import { passwordRotationOutputs, secretPasswordRotationOutputs } from "../rotation/passwordRotation";
import { passwordRotationShardOutputs, secretPasswordRotationShardOutputs } from "../rotation/shardState";
import { passwordVerificationOutputs, secretPasswordVerificationOutputs } from "../verification/passwordVerification";
import { type RunSession } from "./session";
import { type SharedReads } from "../flowControl/sharedReads";

/** Checks, compares and changes a resource, in plain objects. */
interface ResourceHandler<Inputs, Outputs> {
  /** Inputs that decide whether a reset is due. While one is unknown, so is the decision. */
  readonly decidingInputs: readonly string[];
  check(inputs: Inputs, unknown: ReadonlySet<string>, session: RunSession): CheckFailure[];
  diff(saved: Outputs, inputs: Inputs, session: RunSession): Difference;
  apply(saved: Outputs | undefined, inputs: Inputs, session: RunSession): Promise<Applied<Outputs>>;
}

/** What the adapters need to know of a resource in addition to its handler. */
interface ResourceFacts {
  /** The input that is the id. */
  readonly idInput: string;
  /** The names of all outputs. */
  readonly outputs: readonly string[];
  /** The names of outputs that are always secret. */
  readonly secretOutputs: readonly string[];
  /** Inputs that only an adapter sets; `owner` is the resource's URN. */
  readonly hiddenInputs: readonly string[];
  /** The inputs with which an object is imported without a request; undefined if there is nothing to import. */
  readonly importedInputs?: (id: string) => Properties;
  /** Whether the plugin also saves `connectionUrl`, a secret. The SDK derives it in the program. */
  readonly hasConnectionUrl?: true;
}

/** A resource as the adapters handle it. Values are plain; unknown inputs are named. */
export interface Resource extends ResourceFacts {
  /**
   * @param urn the resource's URN, if the engine passes it; otherwise the SDK passes it in the hidden inputs
   * @returns what is wrong with the inputs
   */
  check(inputs: Properties, unknown: ReadonlySet<string>, session: RunSession, urn?: string): string[];
  /** @throws StateError if the saved outputs are those of another resource */
  diff(
    id: string,
    saved: Properties,
    inputs: Properties,
    unknown: ReadonlySet<string>,
    session: () => RunSession,
  ): Difference;
  create(inputs: Properties, session: RunSession): Promise<AppliedTo>;
  /** @throws StateError if the saved outputs are those of another resource */
  update(id: string, saved: Properties, inputs: Properties, session: RunSession): Promise<AppliedTo>;
}

/** What create or update did, and the id of the resource. */
export interface AppliedTo extends Applied<Properties> {
  readonly id: string;
}

function resource<Inputs, Outputs>(handler: ResourceHandler<Inputs, Outputs>, facts: ResourceFacts): Resource {
  const { decidingInputs } = handler;
  const { idInput, hiddenInputs } = facts;
  const pluginOutputs = facts.hasConnectionUrl ? ["connectionUrl"] : [];

  async function apply(saved: Properties | undefined, inputs: Properties, session: RunSession): Promise<AppliedTo> {
    const applied = await handler.apply(saved as Outputs | undefined, inputs as Inputs, session);
    return { ...(applied as Applied<Properties>), id: String(inputs[idInput]) };
  }

  /**
   * A saved id that differs from the resource's own is damaged: replacing the resource would be an unrequested reset.
   */
  function requireSound(id: string, saved: Properties): void {
    if (saved[idInput] === id) return;
    throw new StateError(
      idInput,
      `is not ${JSON.stringify(id)}, the id of the resource`,
      `Restore it from an earlier \`${engineCommands.exportState}\`, or ${engineCommands.removeFromState}: creating it again resets the password once more.`,
    );
  }

  return {
    ...facts,
    outputs: [...facts.outputs, ...pluginOutputs],
    secretOutputs: [...facts.secretOutputs, ...pluginOutputs],
    check(inputs, unknown, session, urn) {
      const check = (all: Properties) => handler.check(all as Inputs, unknown, session);
      if (urn === undefined) return check(inputs).map(failedCheck);
      const wrong = hiddenInputs.filter((name) => inputs[name] !== undefined);
      if (wrong.length > 0) return wrong.map((name) => failedCheck({ property: name, reason: notAnInput(name) }));
      return check(hiddenInputs.includes("owner") ? { ...inputs, owner: urn } : inputs).map(failedCheck);
    },
    diff(id, saved, inputs, unknown, session) {
      requireSound(id, saved);
      if (decidingInputs.some((name) => unknown.has(name))) return { changes: true };
      return handler.diff(saved as Outputs, inputs as Inputs, session());
    },
    create: (inputs, session) => apply(undefined, inputs, session),
    async update(id, saved, inputs, session) {
      requireSound(id, saved);
      return apply(saved, inputs, session);
    },
  };
}

/** Every resource, by the name of its type. */
export const resources = {
  PasswordRotation: resource(passwordRotationHandler, {
    idInput: "databaseId",
    outputs: passwordRotationOutputs,
    secretOutputs: secretPasswordRotationOutputs,
    hiddenInputs: ["owner", "otherOwners"],
    importedInputs: (databaseId) => ({ databaseId, initialRotation: false }),
    hasConnectionUrl: true,
  }),
  PasswordRotationShard: resource(passwordRotationShardHandler, {
    idInput: "shard",
    outputs: passwordRotationShardOutputs,
    secretOutputs: secretPasswordRotationShardOutputs,
    hiddenInputs: ["otherOwners"],
  }),
  /** The dynamic type is PasswordVerification. In the plugin, that is a component with this child. */
  PasswordVerificationTargets: resource(passwordVerificationHandler, {
    idInput: "subject",
    outputs: passwordVerificationOutputs,
    secretOutputs: secretPasswordVerificationOutputs,
    hiddenInputs: [],
  }),
  FlowControlReset: resource(flowControlResetHandler, {
    idInput: "flowControlKey",
    outputs: flowControlResetOutputs,
    secretOutputs: secretFlowControlResetOutputs,
    hiddenInputs: [],
  }),
};

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
export async function respond<T>(call: () => T | Promise<T>): Promise<T> {
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
  getFlowControlKey: async (reads, { flowControlKey }) => reads.get(requireText("flowControlKey", flowControlKey)),
  getFlowControlKeys: async (reads, { search }) => ({
    keys: await reads.list((search ?? undefined) === undefined ? undefined : requireText("search", search)),
  }),
  getGlobalParallelism: (reads) => reads.globalParallelism(),
};

function requireText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new InputError(name, "must be a string");
}
