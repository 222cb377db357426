import type * as dynamic from "@pulumi/pulumi/dynamic";
import { SettingsError } from "../platform/errors";
import { endWhenIdle, engineAddress, EngineWatch } from "./liveness";
import { type RunSession, sessionFromSettings } from "./session";
import {
  type AnyResource,
  type AppliedTo,
  applyResource,
  checkResource,
  diffResource,
  InitError,
  refreshResource,
  resources,
  withEngineErrors,
} from "./resources";
import { type Properties, unknownNames, withoutProvider, wrap } from "../records/properties";
import { oldestPulumi } from "../runtime";

/** Bytes of an init error's properties. A trailer of 60 kB hangs the call permanently, and the response is lost. */
const maxInitErrorProperties = 32 * 1024;

type Provider = Required<dynamic.ResourceProvider<Properties, Properties>>;
type Configuration = (key: string) => string | undefined;

/**
 * The providers of all dynamic resources. They share the limits and results of one session, which the first call of
 * `configure` starts.
 */
export function createProvider(startSession: (configuration: Configuration) => RunSession) {
  let session: RunSession | undefined;

  /** @throws SettingsError if the host did not call `configure` */
  function requireSession(): RunSession {
    if (session === undefined) throw notConfigured();
    return session;
  }

  /** Adapts a resource to the shape that Pulumi's dynamic provider host calls. */
  function adapter(resource: AnyResource): Provider {
    const { secretOutputs } = resource;

    function show({ notice, warning }: { notice?: string | undefined; warning?: string | undefined }): void {
      if (notice) requireSession().options.log(notice);
      if (warning) requireSession().options.log(`warning: ${warning}`);
    }

    function saved(applied: AppliedTo, inputs: Properties) {
      const { id, outputs, unconfirmed, failed } = applied;
      show(applied);
      const outs = wrap({ ...outputs, __provider: inputs["__provider"] }, secretOutputs);
      const message = failed?.message ?? unconfirmed;
      if (message === undefined) return { id, outs };
      if (Buffer.byteLength(JSON.stringify(outs)) <= maxInitErrorProperties) throw new InitError(message, id, outs);
      // The former state stays.
      if (failed) throw failed;
      requireSession().options.log(message);
      return { id, outs };
    }

    return {
      // Takes effect synchronously: another call may arrive before this one is awaited.
      configure: ({ config }) => withEngineErrors(() => void (session ??= startSession((key) => config.get(key)))),
      check: (_olds, news) =>
        withEngineErrors(() => {
          const reasons = session
            ? checkResource(resource, withoutProvider(news), unknownNames(news), session)
            : [notConfigured().message];
          // The engine prints the value of a property that is named here, even of a secret one.
          return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
        }),
      diff: (id, olds, news) =>
        withEngineErrors(() => {
          const state = { id, outputs: olds };
          const found = diffResource(resource, state, withoutProvider(news), unknownNames(news), requireSession);
          show(found);
          return { changes: found.changes || isOfPlugin(olds), replaces: [...(found.replaces ?? [])] };
        }),
      create: (inputs) =>
        withEngineErrors(async () =>
          saved(await applyResource(resource, undefined, withoutProvider(inputs), requireSession()), inputs),
        ),
      update: (id, olds, news) =>
        withEngineErrors(async () => {
          const state = { id, outputs: olds };
          const inputs = withoutProvider(news);
          if (isOfPlugin(olds) && !diffResource(resource, state, inputs, new Set(), requireSession).changes) {
            return saved(state, news);
          }
          return saved(await applyResource(resource, state, inputs, requireSession()), news);
        }),
      read: (id, props = {}) =>
        withEngineErrors(async () => {
          const refreshed = session && (await refreshResource(resource, { id, outputs: props }, session));
          if (refreshed) show(refreshed);
          return { id, props: wrap(refreshed?.outputs ?? props, secretOutputs) };
        }),
      delete: (_id, { __provider, ...saved }) =>
        withEngineErrors(async () => show({ notice: await resource.remove?.(saved, requireSession()) })),
    };
  }

  return {
    passwordRotation: adapter(resources.PasswordRotation),
    passwordRotationShard: adapter(resources.PasswordRotationShard),
    passwordVerification: adapter(resources.PasswordVerificationTargets),
    flowControlReset: adapter(resources.FlowControlReset),
    flowControlLimits: adapter(resources.FlowControlLimits),
  };
}

/** Whether the plugin saved the outputs. Pulumi's host cannot read or delete them: it needs the provider's text. */
function isOfPlugin(outputs: Properties): boolean {
  return outputs["__provider"] === undefined;
}

/** A host that never calls `configure` must not fall back to the environment, which may name another platform. */
function notConfigured(): SettingsError {
  return new SettingsError("REKEY_PULUMI_TOO_OLD", {
    problem: "Pulumi's provider host does not pass on the stack's configuration, because its @pulumi/pulumi is too old",
    advice: `Update @pulumi/pulumi to ${oldestPulumi} or later in the package.json of the program, then run again.`,
  });
}

/** The instance that Pulumi's dynamic provider host loads, once for each process. */
export const { passwordRotation, passwordRotationShard, passwordVerification, flowControlReset, flowControlLimits } =
  createProvider((configuration) => {
    const address = engineAddress();
    const runEnd = new AbortController();
    const onGone = () => {
      runEnd.abort();
      endWhenIdle();
    };
    const watch = address === undefined ? undefined : new EngineWatch(address, onGone);
    const { signal } = runEnd;
    return sessionFromSettings(configuration, watch && ((facts) => watch.requireEngine(facts)), { runEnd: signal });
  });
