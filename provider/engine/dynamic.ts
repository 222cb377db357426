import type * as dynamic from "@pulumi/pulumi/dynamic";
import { SettingsError } from "../platform/errors";
import { endWhenIdle, engineAddress, EngineWatch, ignoreUnreadOutput } from "./liveness";
import { type Run, startRun } from "../run";
import {
  type AnyResource,
  applyResource,
  changeError,
  checkFailures,
  diffResource,
  idOf,
  messagesOf,
  type Notice,
  refreshResource,
  type Result,
  withEngineErrors,
} from "../resource";
import { resources } from "./resources";
import { type Properties, unknownNames, withoutProvider, wrap } from "../records/properties";
import { oldestPulumi } from "../platform/version";

type Provider = Required<dynamic.ResourceProvider<Properties, Properties>>;
type Configuration = (key: string) => string | undefined;

/**
 * The providers of all dynamic resources. They share one run, which the first call of `configure` starts.
 */
export function createProvider(start: (configuration: Configuration) => Run) {
  let run: Run | undefined;

  /** @throws SettingsError if the host did not call `configure` */
  function requireRun(): Run {
    if (run === undefined) throw notConfigured();
    return run;
  }

  /** For creates and updates. The engine makes neither in a preview, because Pulumi's host does not support it. */
  function runOfChange(): Run {
    return requireRun().permitting("resets");
  }

  function show(notices: readonly Notice[]): void {
    for (const { text, isWarning } of notices) requireRun().options.log(isWarning ? `warning: ${text}` : text);
  }

  /** Adapts a resource to the shape that Pulumi's dynamic provider host calls. */
  function adapter(resource: AnyResource): Provider {
    const { secretOutputs } = resource;

    function saved({ outputs, failure, notices }: Result<Properties>, inputs: Properties) {
      const id = idOf(resource, inputs);
      const outs = wrap({ ...outputs, __provider: inputs["__provider"] }, secretOutputs);
      show(notices);
      if (failure) throw changeError(failure, id, outs);
      return { id, outs };
    }

    return {
      // Takes effect synchronously: another call may arrive before this one is awaited.
      configure: ({ config }) => withEngineErrors(() => void (run ??= start((key) => config.get(key)))),
      check: (olds, news) =>
        withEngineErrors(() => {
          const [inputs, unknown] = [withoutProvider(news), unknownNames(news)];
          const reasons = run ? messagesOf(checkFailures(resource, inputs, unknown, run)) : [notConfigured().message];
          // Previews do not call `create`. Saved inputs always have the provider's text.
          const isNew = Object.keys(olds).length === 0 && reasons.length === 0;
          if (isNew) show(resource.noticesOfNew?.(inputs, unknown, requireRun()) ?? []);
          // The engine prints the value of a property that is named here, even of a secret one.
          return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
        }),
      diff: (id, olds, news) =>
        withEngineErrors(() => {
          const state = { id, outputs: olds };
          const found = diffResource(resource, state, withoutProvider(news), unknownNames(news), requireRun());
          show(found.notices);
          return { changes: found.changes || isOfPlugin(olds), replaces: [...(found.replaces ?? [])] };
        }),
      create: (inputs) =>
        withEngineErrors(async () =>
          saved(await applyResource(resource, undefined, withoutProvider(inputs), runOfChange()), inputs),
        ),
      update: (id, olds, news) =>
        withEngineErrors(async () => {
          const state = { id, outputs: withoutDerived(resource, olds) };
          const inputs = withoutProvider(news);
          if (isOfPlugin(olds) && !diffResource(resource, state, inputs, new Set(), requireRun()).changes) {
            return saved({ outputs: state.outputs, notices: [] }, news);
          }
          return saved(await applyResource(resource, state, inputs, runOfChange()), news);
        }),
      read: (id, props = {}) =>
        withEngineErrors(async () => {
          const refreshed = run && (await refreshResource(resource, { id, outputs: props }, run));
          if (refreshed) show(refreshed.notices);
          return { id, props: wrap(refreshed?.outputs ?? props, secretOutputs) };
        }),
      delete: (_id, { __provider, ...outputs }) =>
        withEngineErrors(async () => {
          show((await resource.remove?.(outputs, requireRun().permitting("limits"))) ?? []);
        }),
    };
  }

  return {
    passwordRotation: adapter(resources.PasswordRotation),
    vectorTokenRotation: adapter(resources.VectorTokenRotation),
    searchTokenRotation: adapter(resources.SearchTokenRotation),
    queueTokenRotation: adapter(resources.QueueTokenRotation),
    signingKeyRotation: adapter(resources.SigningKeyRotation),
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

/** The outputs without those that only the plugin saves: the SDK derives them in the program. */
function withoutDerived(
  resource: AnyResource,
  { connectionUrl, restUrl, nextRotationAt, ...outputs }: Properties,
): Properties {
  return resource.outputs.includes("restUrl") ? { ...outputs, restUrl } : outputs;
}

/** A host that never calls `configure` must not fall back to the environment, which may name another platform. */
function notConfigured(): SettingsError {
  return new SettingsError("REKEY_PULUMI_TOO_OLD", {
    problem: "Pulumi's provider host does not pass on the stack's configuration, because its @pulumi/pulumi is too old",
    advice: `Update @pulumi/pulumi to ${oldestPulumi} or later in the package.json of the program, then run again.`,
  });
}

/** The instance that Pulumi's dynamic provider host loads, once for each process. */
export const {
  passwordRotation,
  vectorTokenRotation,
  searchTokenRotation,
  queueTokenRotation,
  signingKeyRotation,
  passwordRotationShard,
  passwordVerification,
  flowControlReset,
  flowControlLimits,
} = createProvider((configuration) => {
  ignoreUnreadOutput();
  const address = engineAddress();
  const runEnd = new AbortController();
  const onGone = () => {
    runEnd.abort();
    endWhenIdle();
  };
  const watch = address === undefined ? undefined : new EngineWatch(address, onGone);
  return startRun({
    configuration,
    requireEngine: watch && ((facts) => watch.requireEngine(facts)),
    end: runEnd.signal,
  });
});
