import type * as dynamic from "@pulumi/pulumi/dynamic";
import { InputError, RekeyError, SettingsError } from "./api/errors";
import { engineCommands } from "./engineCommands";
import { engineMessage, type Properties, unknownNames, withoutProvider, wrap } from "./engineValues";
import { engineAddress, EngineWatch } from "./engineWatch";
import { type Applied, type CheckFailure, type Difference } from "./lifecycle/resource";
import * as flowControlResetHandler from "./lifecycle/flowControlReset";
import * as passwordRotationHandler from "./lifecycle/passwordRotation";
import * as passwordRotationShardHandler from "./lifecycle/passwordRotationShard";
import { type Session, sessionFromSettings } from "./lifecycle/session";
import { oldestPulumi } from "./version";

/** How a resource is checked, compared and changed, in plain objects. */
interface ResourceHandler<Inputs, Outputs> {
  readonly secretOutputs: readonly string[];
  /** Inputs that decide whether something is done; while one is unknown, so is the decision. */
  readonly decidingInputs: readonly string[];
  check(inputs: Inputs, unknown: ReadonlySet<string>, session: Session): CheckFailure[];
  diff(saved: Outputs, inputs: Inputs, session: Session): Difference;
  apply(saved: Outputs | undefined, inputs: Inputs, session: Session): Promise<Applied<Outputs>>;
}

/** Bytes of an init error's properties. A trailer of 60 kB hangs the call permanently, and the response is lost. */
const maxInitErrorProperties = 32 * 1024;

/** The session of this process. All resources share its limits, and what it remembers. */
let session: Session | undefined;

function startSession(configuration: (key: string) => string | undefined): Session {
  const address = engineAddress();
  const watch = address === undefined ? undefined : new EngineWatch(address);
  return sessionFromSettings(configuration, watch && ((facts) => watch.requireEngine(facts)));
}

/** A host that never calls `configure` must not fall back on the environment, which may name another platform. */
function notConfigured(): SettingsError {
  return new SettingsError(
    "Pulumi's provider host does not pass on the stack's configuration, because its @pulumi/pulumi is too old",
    `Update @pulumi/pulumi to ${oldestPulumi} or later in the package.json of the program, then run again.`,
  );
}

/** @throws SettingsError if the host did not call `configure` */
function requireSession(): Session {
  if (session === undefined) throw notConfigured();
  return session;
}

/** An error that tells the engine to save the properties all the same. */
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
   * What was saved under another id than the resource's own is damaged: a replacement would reset what nobody asked
   * for.
   */
  function requireSound(id: string, saved: Properties): void {
    if (saved[idInput] === id) return;
    throw new InputError(
      `the saved output ${idInput}`,
      `is not ${JSON.stringify(id)}, the id of the resource: the state is damaged`,
      `Restore it from an earlier \`${engineCommands.exportState}\`, or ${engineCommands.removeFromState}: creating it again is one more reset.`,
    );
  }

  return {
    // All is done when the first synchronous run ends: another call may come before this one is awaited.
    configure: ({ config }) => answer(() => void (session ??= startSession((key) => config.get(key)))),
    check: (_olds, news) =>
      answer(() => {
        const reasons = session
          ? handler.check(withoutProvider(news) as Inputs, unknownNames(news), session).map(inProgram)
          : [notConfigured().message];
        // The engine prints the value of a property that is named here, also of a secret one.
        return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
      }),
    diff: (id, olds, news) =>
      answer(() => {
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
    create: (inputs) => answer(() => apply(undefined, inputs)),
    update: (id, olds, news) =>
      answer(() => {
        requireSound(id, olds);
        return apply(olds, news);
      }),
    // The interface has no reading of a database: what was saved stays what is known.
    read: (id, props = {}) => answer(() => ({ id, props: wrap(props, handler.secretOutputs) })),
    // Deleting the resource leaves the database, and its password, as they are.
    delete: () => answer(() => undefined),
  };
}

/** An input is checked before anything else: says so, and where it is to be mended. */
function inProgram({ reason }: CheckFailure): string {
  return `${reason}. Nothing was sent. Correct the program, then run again.`;
}

/** Runs a call so that whatever goes wrong in it reaches the engine as an error it can show. */
async function answer<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(ourMistake(String(error)));
    const meant = error instanceof RekeyError || error instanceof InitError;
    error.message = engineMessage(meant ? error.message : ourMistake(error.message));
    throw error;
  }
}

function ourMistake(message: string): string {
  return `pulumi-rekey failed in a way it should not: ${message}. Report this to pulumi-rekey.`;
}

/** What `PasswordRotation` resources name as their provider. */
export const passwordRotation = adapter(passwordRotationHandler, "databaseId");

/** What the shards of `PasswordRotationFleet` components name as their provider. */
export const passwordRotationShard = adapter(passwordRotationShardHandler, "shard");

/** What `FlowControlReset` resources name as their provider. */
export const flowControlReset = adapter(flowControlResetHandler, "flowControlKey");
