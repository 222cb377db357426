import type * as dynamic from "@pulumi/pulumi/dynamic";
import { SettingsError } from "../platform/errors";
import { endWhenIdle, engineAddress, EngineWatch } from "./liveness";
import { type RunSession, sessionFromSettings } from "./session";
import { type AppliedTo, InitError, type Resource, resources, respond } from "./resources";
import { type Properties, unknownNames, withoutProvider, wrap } from "../records/properties";
import { oldestPulumi } from "../runtime";

/** Bytes of an init error's properties. A trailer of 60 kB hangs the call permanently, and the response is lost. */
const maxInitErrorProperties = 32 * 1024;

/** The session of this process. All resources share its limits and results. */
let session: RunSession | undefined;

function startSession(configuration: (key: string) => string | undefined): RunSession {
  const address = engineAddress();
  const watch = address === undefined ? undefined : new EngineWatch(address, endWhenIdle);
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
function requireSession(): RunSession {
  if (session === undefined) throw notConfigured();
  return session;
}

/** Adapts a resource to the shape that Pulumi's dynamic provider host calls. */
function adapter(resource: Resource): Required<dynamic.ResourceProvider<Properties, Properties>> {
  const { secretOutputs } = resource;

  function saved(
    { id, outputs, notice, unconfirmed, failed }: AppliedTo,
    inputs: Properties,
  ): { id: string; outs: Properties } {
    if (notice) console.error(notice);
    const outs = wrap({ ...outputs, __provider: inputs["__provider"] }, secretOutputs);
    const message = failed?.message ?? unconfirmed;
    if (message === undefined) return { id, outs };
    if (Buffer.byteLength(JSON.stringify(outs)) <= maxInitErrorProperties) throw new InitError(message, id, outs);
    // The former state stays.
    if (failed) throw failed;
    console.error(message);
    return { id, outs };
  }

  return {
    // Takes effect synchronously: another call may arrive before this one is awaited.
    configure: ({ config }) => respond(() => void (session ??= startSession((key) => config.get(key)))),
    check: (_olds, news) =>
      respond(() => {
        const reasons = session
          ? resource.check(withoutProvider(news), unknownNames(news), session)
          : [notConfigured().message];
        // The engine prints the value of a property that is named here, even of a secret one.
        return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
      }),
    diff: (id, olds, news) =>
      respond(() => {
        const found = resource.diff(id, olds, withoutProvider(news), unknownNames(news), requireSession);
        if (found.notice) console.error(found.notice);
        if (found.warning) console.error(`warning: ${found.warning}`);
        return { changes: found.changes, replaces: [...(found.replaces ?? [])] };
      }),
    create: (inputs) =>
      respond(async () => saved(await resource.create(withoutProvider(inputs), requireSession()), inputs)),
    update: (id, olds, news) =>
      respond(async () => saved(await resource.update(id, olds, withoutProvider(news), requireSession()), news)),
    // The interface has no operation that reads a database.
    read: (id, props = {}) => respond(() => ({ id, props: wrap(props, secretOutputs) })),
    // Deleting the resource leaves the database and its password unchanged.
    delete: () => respond(() => undefined),
  };
}

/** The provider of `PasswordRotation`. */
export const passwordRotation = adapter(resources.PasswordRotation);

/** The provider of the shards of a `PasswordRotationFleet`. */
export const passwordRotationShard = adapter(resources.PasswordRotationShard);

/** The provider of `PasswordVerification`. */
export const passwordVerification = adapter(resources.PasswordVerificationTargets);

/** The provider of `FlowControlReset`. */
export const flowControlReset = adapter(resources.FlowControlReset);
