import "./requireNode";
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { RekeyError } from "../domain/errors";
import { oldestPulumi } from "./installedPackage";
import { type Properties, reveal, wrap } from "../pulumi/values";
import { type AnyResource, type Notice, secretOutputsOf } from "../resource/resource";
import { type Run, startRun } from "../run/run";
import { Settings } from "../settings/settings";
import { settingKey } from "../settings/table";
import { InitError, reporting, ResourceHandler, type Saved } from "./adapter";
import { endWhenIdle, EngineWatch, ignoreUnreadOutput } from "./liveness";
import { engineAddress } from "./pulumiInternals";
import { type ResourceType, resources } from "./resources";

type Provider = Required<dynamic.ResourceProvider<Properties, Properties>>;

/** The providers of all dynamic resources, by type. They share one run, which the first call of `configure` starts. */
export function createProviders(
  start: (settings: Settings) => Run,
): Record<ResourceType, Provider> {
  let run: Run | undefined;

  function started(): Run {
    if (run !== undefined) return run;
    // Settings of the environment alone may name another platform.
    const text = `Pulumi's provider host did not pass on the stack's configuration. No request was made. Install @pulumi/pulumi ${oldestPulumi} or later for the program, then run again.`;
    throw new RekeyError("REKEY_PULUMI_TOO_OLD", text, "not sent");
  }

  function show(notices: readonly Notice[]): void {
    for (const { text, isWarning } of notices) {
      started().options.log(isWarning ? `warning: ${text}` : text);
    }
  }

  function providerOf(resource: AnyResource): Provider {
    const secrets = secretOutputsOf(resource);
    const handler = () => new ResourceHandler(resource, started());

    /** The host creates and updates in no preview. */
    async function change(saved: Saved | undefined, { __provider, ...inputs }: Properties) {
      const { id, failure, isPartial, notices, ...applied } = await handler().apply(saved, inputs);
      const outs = wrap({ ...applied.outputs, __provider }, secrets);
      show(notices);
      // Of a partial failure, the program fails: its outputs are for those that use the other parts.
      if (failure && !isPartial) throw new InitError(failure.message, id, outs);
      return { id, outs };
    }

    return {
      // Takes effect synchronously: another call may arrive before this one is awaited.
      configure: reporting(({ config }) => {
        run ??= start(new Settings((name) => config.get(settingKey(name)), process.env));
      }),
      check: reporting((olds, { __provider, ...given }) => {
        const { inputs, problems } = handler().check(olds, given);
        // The engine prints the value of a property that is named here, even of a secret one.
        const failures = problems.map((reason) => ({ property: "", reason }));
        // Previews do not call `create`. Saved inputs always have the provider's text.
        const isNew = failures.length === 0 && Object.keys(olds).length === 0;
        if (isNew) show(handler().plan(undefined, reveal(inputs)).notices);
        return { inputs: wrap({ ...inputs, __provider }, []), failures };
      }),
      diff: reporting((id, outputs, { __provider, ...inputs }) => {
        const { changes, replaces = [], notices } = handler().plan({ id, outputs }, inputs);
        show(notices);
        // Outputs that the plugin saved have no provider, which a read and a delete need: an update saves it.
        const isOfPlugin = outputs["__provider"] === undefined;
        return { changes: changes || isOfPlugin, replaces: [...replaces] };
      }),
      create: reporting((inputs) => change(undefined, inputs)),
      update: reporting((id, outputs, news) => change({ id, outputs }, news)),
      read: reporting(async (id, { __provider, ...outputs } = {}) => {
        const found = await handler().refresh({ id, outputs });
        show(found.notices);
        return { id, props: wrap({ ...found.outputs, __provider }, secrets) };
      }),
      delete: reporting(async (_id, outputs) => show(await handler().remove(outputs))),
    };
  }

  return Object.fromEntries(
    Object.entries(resources).map(([type, resource]) => [type, providerOf(resource)]),
  ) as Record<ResourceType, Provider>;
}

function startHostRun(settings: Settings): Run {
  ignoreUnreadOutput();
  const address = engineAddress();
  const runEnd = new AbortController();
  const onGone = () => {
    runEnd.abort();
    endWhenIdle();
  };
  const watch = address === undefined ? undefined : new EngineWatch(address, onGone);
  return startRun(settings, {
    requireEngine: watch?.requireEngine,
    end: runEnd.signal,
  });
}

// Pulumi's dynamic provider host loads them by name, once for each process: `require("pulumi-rekey/provider").…`.
Object.assign(exports, createProviders(startHostRun));
