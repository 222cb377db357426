import { createProviders } from "../../provider/engine/dynamic";
import { type Run } from "../../provider/run/run";
import { Plugin } from "../support/plugin";
import { type EngineCalls, type Stack } from "../support/stack";
import { explicitProvider, type Properties, revealed } from "../support/wire";
import { type ResourceType } from "../../provider/engine/resources";

const __provider = "exports.handler = …";

/** A process of the dynamic provider. */
export function dynamicCalls(type: ResourceType, run: Run): EngineCalls {
  const provider = createProviders(() => run)[type];
  void provider.configure({ config: { get: () => undefined } as never });
  const given = (outputs: Properties): Properties => ({ ...revealed(outputs), __provider });
  return {
    previews: false,
    check: async (news, olds) => {
      const { inputs = {}, failures = [] } = await provider.check(olds, given(news));
      return { inputs, problems: failures.map(({ reason }) => reason) };
    },
    diff: async (id, olds, inputs) => {
      const { changes = false, replaces = [] } = await provider.diff(id, given(olds), given(inputs));
      return { changes, replaces };
    },
    create: async (inputs) => {
      const { id, outs = {} } = await provider.create(given(inputs));
      return { id, outputs: outs };
    },
    update: async (id, olds, inputs) => ({
      id,
      outputs: (await provider.update(id, given(olds), given(inputs))).outs ?? {},
    }),
    read: async (id, olds) => ({ id, outputs: (await provider.read(id, given(olds))).props ?? {} }),
    delete: (id, olds) => provider.delete(id, given(olds)),
  };
}

/** A process of the plugin. */
export function pluginCalls(type: ResourceType, run: Run, said: string[]): EngineCalls {
  const plugin = new Plugin(said, run);
  plugin.configure(explicitProvider, {});
  return plugin.calls(type);
}

/** An engine that repeats each change, as an error hook does. */
export function twice(calls: EngineCalls): EngineCalls {
  const again = async <T>(change: () => Promise<T>): Promise<T> => {
    await change().catch(() => undefined);
    return change();
  };
  return {
    ...calls,
    create: (inputs, preview) => again(() => calls.create(inputs, preview)),
    update: (id, olds, inputs, preview) => again(() => calls.update(id, olds, inputs, preview)),
  };
}

/** An engine that updates a resource in which nothing has changed, as after an init error. */
export function forced(calls: EngineCalls): EngineCalls {
  return { ...calls, diff: async (...of) => ({ ...(await calls.diff(...of)), changes: true }) };
}

/** An engine that replaces a resource without a Diff, as with `--replace`. */
export function replacing(calls: EngineCalls): EngineCalls {
  return { ...calls, diff: async () => ({ changes: true, replaces: ["*"] }) };
}

/** An engine that deletes what it replaces first, with `deleteBeforeReplace`. */
export function deletingFirst(calls: EngineCalls, saved: Stack["saved"]): EngineCalls {
  const create: EngineCalls["create"] = async (...of) => {
    if (saved) await calls.delete(saved.id, saved.outputs);
    return calls.create(...of);
  };
  return { ...calls, create };
}
