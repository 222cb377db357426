import { type Platform } from "../../local/platform/index";
import { PluginService } from "../../provider/engine/plugin/service";
import { settingsFor } from "./resources";
import { type EngineCalls } from "./stack";
import { defaultProvider, type Properties, urnOf } from "./wire";

/** The plugin's service, with an engine that records what it shows the user. */
export class Plugin extends PluginService {
  readonly said: string[];

  constructor() {
    const said: string[] = [];
    super({
      async show({ text, isWarning }, urn = "") {
        said.push(`${urn.split("::").at(-1)}: ${isWarning ? "warning: " : ""}${text}`);
      },
      async showError(text, urn) {
        said.push(`${urn.split("::").at(-1)}: error: ${text}`);
      },
      requireEngine: async () => undefined,
    });
    this.said = said;
  }

  /** A service configured for an account, as the default provider unless a URN is given. */
  static for(platform: Platform, more: Properties = {}, urn = defaultProvider): Plugin {
    const plugin = new Plugin();
    plugin.configure(urn, { ...settingsFor(platform), ...more });
    return plugin;
  }

  /** The calls of an engine for a resource of a type. */
  calls(type: string): EngineCalls {
    return callsOf(this, type);
  }
}

/** The calls of an engine to a service for a resource of a type. */
export function callsOf(service: PluginService, type: string): EngineCalls {
  const urn = urnOf(type);
  const change = (inputs: Properties, preview: boolean) => ({ urn, inputs, preview, timeoutSeconds: 0 });
  return {
    previews: true,
    check: async (inputs) => service.check(urn, inputs),
    diff: (id, outputs, inputs) => service.diff(urn, { id, outputs }, inputs),
    create: (inputs, preview) => service.change(change(inputs, preview)),
    update: (id, outputs, inputs, preview) => service.change(change(inputs, preview), { id, outputs }),
    read: (id, outputs, inputs) => service.read(urn, { id, outputs }, inputs),
    delete: (_id, olds) => service.delete(urn, olds),
  };
}
