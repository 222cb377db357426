import type * as dynamic from "@pulumi/pulumi/dynamic";
import { SettingsError } from "../platform/errors";
import { oldestPulumi } from "../platform/version";
import { type Properties, withoutProvider, wrap } from "../records/properties";
import {
  type AnyResource,
  applyResource,
  checkResource,
  idOf,
  type Notice,
  planResource,
  refreshResource,
  type Saved,
  secretOutputsOf,
} from "../resource";
import { type Run, startRun } from "../run";
import { changeError, withEngineErrors } from "./engineErrors";
import { endWhenIdle, engineAddress, EngineWatch, ignoreUnreadOutput } from "./liveness";
import { type ResourceType, resources } from "./resources";

type Provider = Required<dynamic.ResourceProvider<Properties, Properties>>;
type Configuration = (key: string) => string | undefined;
/** `passwordRotation` for the type PasswordRotation. */
type ProviderName = Uncapitalize<ResourceType>;

/** The providers of all dynamic resources, by type. They share one run, which the first call of `configure` starts. */
export function createProviders(start: (configuration: Configuration) => Run): Record<ProviderName, Provider> {
  let run: Run | undefined;

  /** @throws SettingsError if the host did not call `configure` */
  function started(): Run {
    if (run) return run;
    // A host that never calls `configure` must not fall back to the environment, which may name another platform.
    throw new SettingsError("REKEY_PULUMI_TOO_OLD", {
      problem:
        "Pulumi's provider host does not pass on the stack's configuration, because its @pulumi/pulumi is too old",
      advice: `Update @pulumi/pulumi to ${oldestPulumi} or later in the package.json of the program, then run again.`,
    });
  }

  function show(notices: readonly Notice[]): void {
    for (const { text, isWarning } of notices) started().options.log(isWarning ? `warning: ${text}` : text);
  }

  function providerOf(resource: AnyResource): Provider {
    const secrets = secretOutputsOf(resource);

    /** The host creates and updates in no preview. */
    async function change(saved: Saved | undefined, { __provider, ...inputs }: Properties) {
      const { outputs, failure, isPartial, notices } = await applyResource(
        resource,
        saved,
        inputs,
        started().permitting("resets"),
      );
      const id = idOf(resource, inputs);
      const outs = wrap({ ...outputs, __provider }, secrets);
      show(notices);
      // Of a partial failure, the program fails: its outputs are for those that use the other parts.
      if (failure && !isPartial) throw changeError(failure, id, outs);
      return { id, outs };
    }

    return {
      // Takes effect synchronously: another call may arrive before this one is awaited.
      configure: ({ config }) => withEngineErrors(() => void (run ??= start((key) => config.get(key)))),
      check: (olds, news) =>
        withEngineErrors(() => {
          const inputs = withoutProvider(news);
          const reasons = checkResource(resource, inputs, started());
          // Previews do not call `create`. Saved inputs always have the provider's text.
          const isNew = Object.keys(olds).length === 0 && reasons.length === 0;
          if (isNew) show(planResource(resource, undefined, inputs, started()).notices);
          // The engine prints the value of a property that is named here, even of a secret one.
          return { inputs: news, failures: reasons.map((reason) => ({ property: "", reason })) };
        }),
      diff: (id, outputs, news) =>
        withEngineErrors(() => {
          const saved = { id, outputs };
          const { changes, replaces, notices } = planResource(resource, saved, withoutProvider(news), started());
          show(notices);
          return { changes, replaces };
        }),
      create: (inputs) => withEngineErrors(() => change(undefined, inputs)),
      update: (id, outputs, news) => withEngineErrors(() => change({ id, outputs }, news)),
      read: (id, outputs = {}) =>
        withEngineErrors(async () => {
          const found = run ? await refreshResource(resource, { id, outputs }, run) : { outputs, notices: [] };
          show(found.notices);
          return { id, props: wrap(found.outputs, secrets) };
        }),
      delete: (_id, outputs) =>
        withEngineErrors(async () =>
          show((await resource.remove?.(withoutProvider(outputs), started().permitting("limits"))) ?? []),
        ),
    };
  }

  // The provider's text in each state names them: `passwordRotation`.
  const named = Object.entries(resources).map(([type, resource]) => {
    return [`${type.slice(0, 1).toLowerCase()}${type.slice(1)}`, providerOf(resource)] as const;
  });
  return Object.fromEntries(named) as Record<ProviderName, Provider>;
}

/** The instances that Pulumi's dynamic provider host loads, once for each process. */
export const {
  passwordRotation,
  vectorTokenRotation,
  searchTokenRotation,
  queueTokenRotation,
  signingKeyRotation,
  passwordRotationFleet,
  credentialVerification,
  flowControlReset,
  flowControlLimits,
} = createProviders((configuration) => {
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
