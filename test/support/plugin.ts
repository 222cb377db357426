import { type Platform } from "../../local/platform/index";
import { PluginService } from "../../provider/engine/plugin/service";
import { type Run } from "../../provider/run/run";
import { settingsFor } from "./resources";
import { type EngineCalls } from "./stack";
import { defaultProvider, type Properties, urnOf } from "./wire";

/** The plugin's service, with an engine that records what it shows the user. */
export class Plugin extends PluginService {
  /** @param run in place of one with the settings that it is configured with */
  constructor(
    readonly said: string[] = [],
    run?: Run,
  ) {
    const engine = {
      show: async (severity, text) => void said.push(severity === "INFO" ? text : `${severity.toLowerCase()}: ${text}`),
      requireEngine: async () => undefined,
    } satisfies ConstructorParameters<typeof PluginService>[0];
    super(engine, run && (() => run));
  }

  /** A service configured for an account, as the default provider. */
  static for(platform: Platform, more: Properties = {}): Plugin {
    const plugin = new Plugin();
    plugin.configure(defaultProvider, { ...settingsFor(platform), ...more });
    return plugin;
  }

  /** The calls of an engine for a resource of a type. */
  calls(type: string): EngineCalls {
    const urn = urnOf(type);
    const change = (inputs: Properties, preview: boolean) => ({ urn, inputs, preview, timeoutSeconds: 0 });
    return {
      previews: true,
      check: async (inputs, olds) => this.check(urn, inputs, olds),
      diff: (id, outputs, inputs) => this.diff(urn, { id, outputs }, inputs),
      create: (inputs, preview) => this.change(change(inputs, preview)),
      update: (id, outputs, inputs, preview) => this.change(change(inputs, preview), { id, outputs }),
      read: (id, outputs, inputs) => this.read(urn, { id, outputs }, inputs),
      delete: (_id, olds) => this.delete(urn, olds),
    };
  }
}
