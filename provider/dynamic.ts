import type * as dynamic from "@pulumi/pulumi/dynamic";
import { RekeyError, SettingsError, StateError, withCode } from "./api/errors";
import { engineCommands } from "./engineCommands";
import { engineMessage, type Properties, unknownNames, withoutProvider, wrap } from "./engineValues";
import { engineAddress, EngineWatch } from "./engineWatch";
import { type Applied, type CheckFailure, type Difference } from "./lifecycle/resource";
import * as flowControlResetHandler from "./lifecycle/flowControlReset";
import * as passwordRotationHandler from "./lifecycle/passwordRotation";
import * as passwordRotationShardHandler from "./lifecycle/passwordRotationShard";
import * as passwordVerificationHandler from "./lifecycle/passwordVerification";
import { type Session, sessionFromSettings } from "./lifecycle/session";
import { oldestPulumi } from "./version";

/** Checks, compares and changes a resource, in plain objects. */
interface ResourceHandler<Inputs, Outputs> {
  readonly secretOutputs: readonly string[];
  /** Inputs that decide whether a reset is due. While one is unknown, so is the decision. */
  readonly decidingInputs: readonly string[];
  check(inputs: Inputs, unknown: ReadonlySet<string>, session: Session): CheckFailure[];
  diff(saved: Outputs, inputs: Inputs, session: Session): Difference;
  apply(saved: Outputs | undefined, inputs: Inputs, session: Session): Promise<Applied<Outputs>>;
}

/** Bytes of an init error's properties. A trailer of 60 kB hangs the call permanently, and the response is lost. */
const maxInitErrorProperties = 32 * 1024;

/** The session of this process. All resources share its limits and results. */
let session: Session | undefined;

function startSession(configuration: (key: string) => string | undefined): Session {
  const address = engineAddress();
  const watch = address === undefined ? undefined : new EngineWatch(address);
  return sessionFromSettings(configuration, watch && ((facts) => watch.requireEngine(facts)));
}

/** A host that never calls `configure` must not fall back to the environment, which may name another platform. */
function notConfigured(): SettingsError {
  return new SettingsError(
    "REKEY_PULUMI_TOO_OLD",
    "Pulumi's provider host does not pass on the stack's configuration, because its @pulumi/pulumi is too old",
    `Update @pulumi/pulumi to ${oldestPulumi} or later in the package.json of the program, then run again.`,
  );
}

/** @throws SettingsError if the host did not call `configure` */
function requireSession(): Session {
  if (session === undefined) throw notConfigured();
  return session;
}

/** An error with which the engine saves the properties nevertheless. */
class InitError extends Error {
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

/** Adapts a resource handler to the shape that Pulumi's dynamic provider host calls. */
function adapter<Inputs, Outputs>(
  handler: ResourceHandler<Inputs, Outputs>,
  idInput: string,
): Required<dynamic.ResourceProvider<Properties, Properties>> {
  async function apply(saved: Properties | undefined, inputs: Properties): Promise<{ id: string; outs: Properties }> {
    const id = String(inputs[idInput]);
    const applied = await handler.apply(
      saved as Outputs | undefined,
      withoutProvider(inputs) as Inputs,
      requireSession(),
    );
    if (applied.notice) console.error(applied.notice);
    const outs = wrap({ ...applied.outputs, __provider: inputs["__provider"] }, handler.secretOutputs);
    if (applied.unconfirmed === undefined) return { id, outs };
    if (Buffer.byteLength(JSON.stringify(outs)) <= maxInitErrorProperties) {
      throw new InitError(applied.unconfirmed, id, outs);
    }
    console.error(applied.unconfirmed);
    return { id, outs };
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
    // Takes effect synchronously: another call may arrive before this one is awaited.
    configure: ({ config }) => respond(() => void (session ??= startSession((key) => config.get(key)))),
    check: (_olds, news) =>
      respond(() => {
        const reasons = session
          ? handler.check(withoutProvider(news) as Inputs, unknownNames(news), session).map(inProgram)
          : [notConfigured().message];
        // The engine prints the value of a property that is named here, even of a secret one.
        return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
      }),
    diff: (id, olds, news) =>
      respond(() => {
        requireSound(id, olds);
        const unknown = unknownNames(news);
        if (handler.decidingInputs.some((name) => unknown.has(name))) return { changes: true };
        const { notice, replaces, changes } = handler.diff(
          olds as Outputs,
          withoutProvider(news) as Inputs,
          requireSession(),
        );
        if (notice) console.error(notice);
        return { changes, replaces: [...(replaces ?? [])] };
      }),
    create: (inputs) => respond(() => apply(undefined, inputs)),
    update: (id, olds, news) =>
      respond(() => {
        requireSound(id, olds);
        return apply(olds, news);
      }),
    // The interface has no operation that reads a database.
    read: (id, props = {}) => respond(() => ({ id, props: wrap(props, handler.secretOutputs) })),
    // Deleting the resource leaves the database and its password unchanged.
    delete: () => respond(() => undefined),
  };
}

/** The message of a failed check. */
function inProgram({ reason, code = "REKEY_INPUT_INVALID" }: CheckFailure): string {
  return withCode(`${reason}. Nothing was sent. Correct the program, then run again.`, code);
}

/** Runs a call so that any failure reaches the engine as an error that it can show. */
async function respond<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(internalError(String(error)));
    const expected = error instanceof RekeyError || error instanceof InitError;
    error.message = engineMessage(expected ? error.message : internalError(error.message));
    throw error;
  }
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}

/** The provider of `PasswordRotation`. */
export const passwordRotation = adapter(passwordRotationHandler, "databaseId");

/** The provider of the shards of a `PasswordRotationFleet`. */
export const passwordRotationShard = adapter(passwordRotationShardHandler, "shard");

/** The provider of `PasswordVerification`. */
export const passwordVerification = adapter(passwordVerificationHandler, "subject");

/** The provider of `FlowControlReset`. */
export const flowControlReset = adapter(flowControlResetHandler, "flowControlKey");
