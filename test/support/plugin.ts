import { type Platform } from "../../local/platform/index";
import { PluginService } from "../../provider/engine/plugin/service";
import { servePlugin } from "../../provider/engine/plugin/wire";
import { EngineListener } from "./engineListener";
import { ProviderClient } from "./providerClient";
import { type EngineCalls } from "./stack";
import { defaultProvider, type Properties, secret, urnOf } from "./wire";

/** The settings of an account, as a provider gets them: secrets marked. */
export function argsFor({ url, username, password, queueToken }: Platform): Properties {
  return { baseUrl: url, queueUrl: url, username, password: secret(password), queueToken: secret(queueToken) };
}

/** The plugin's service, with an engine that records what it shows the user. */
export class Plugin extends PluginService {
  readonly said: string[];

  constructor() {
    const said: string[] = [];
    super({
      async show(severity, text, urn = "") {
        said.push(`${urn.split("::").at(-1)}: ${severity === "INFO" ? "" : `${severity.toLowerCase()}: `}${text}`);
      },
      requireEngine: async () => undefined,
    });
    this.said = said;
  }

  /** A service configured for an account, as the default provider unless a URN is given. */
  static for(platform: Platform, more: Properties = {}, urn = defaultProvider): Plugin {
    const plugin = new Plugin();
    plugin.configure(urn, { ...argsFor(platform), ...more });
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

/** The plugin over gRPC, in this process, and the engine that it serves. */
export async function startPlugin() {
  const engine = await EngineListener.start();
  const service = await servePlugin(engine.address, () => undefined);
  const plugin = new ProviderClient(service.port);
  const stop = async (): Promise<void> => {
    plugin.close();
    service.close();
    await engine.close();
  };
  return { engine, plugin, stop };
}
