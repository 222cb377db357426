import { type Platform } from "../../local/platform/index";
import { NotSentError, type RequestFacts } from "../../provider/platform/errors";
import { PluginService } from "../../provider/engine/plugin/service";
import { defaultProvider } from "./urns";
import { secret, type Properties } from "./wire";

export { defaultProvider, explicitProvider, urnOf } from "./urns";

/** The settings of an account, as a provider gets them: secrets marked. */
export function argsFor({ url, username, password, queueToken }: Platform): Properties {
  return { baseUrl: url, queueUrl: url, username, password: secret(password), queueToken: secret(queueToken) };
}

/** A service with an engine that records what it shows the user. */
export class Plugin extends PluginService {
  readonly said: string[];
  /** Makes the engine one that was killed. */
  readonly killed: { gone: boolean };

  constructor() {
    const said: string[] = [];
    const killed = { gone: false };
    super({
      async log(line, urn = "") {
        said.push(`${urn.split("::").at(-1)}: ${line}`);
      },
      async warn(line, urn) {
        said.push(`${urn.split("::").at(-1)}: warning: ${line}`);
      },
      async requireEngine(facts: RequestFacts) {
        const problem = { happened: "it has ended", advice: "Run again.", code: "REKEY_ENGINE_GONE" } as const;
        if (killed.gone) throw new NotSentError(facts, problem);
      },
    });
    this.said = said;
    this.killed = killed;
  }

  /** A service configured for an account, as the default provider unless a URN is given. */
  static for(platform: Platform, more: Properties = {}, urn = defaultProvider): Plugin {
    const plugin = new Plugin();
    plugin.configure(urn, { ...argsFor(platform), ...more });
    return plugin;
  }

  make(urn: string, inputs: Properties, more: { preview?: boolean; timeoutSeconds?: number } = {}) {
    return this.create({ urn, inputs, timeoutSeconds: 0, preview: false, ...more });
  }

  change(urn: string, id: string, olds: Properties, inputs: Properties, preview = false) {
    return this.update(id, olds, { urn, inputs, timeoutSeconds: 0, preview });
  }
}
