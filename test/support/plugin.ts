import assert from "node:assert/strict";
import { InitError } from "../../provider/resource";
import {
  type Constructed,
  type Monitor,
  NotRegistered,
  type Registration,
} from "../../provider/engine/plugin/component";
import { type Platform } from "../../local/platform/index";
import { NotSentError, type RequestFacts } from "../../provider/platform/errors";
import { PluginService } from "../../provider/engine/plugin/service";
import { resourceOf } from "../../provider/engine/plugin/urn";
import { defaultProvider, type Properties, secret, urnOf } from "./wire";

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

/** One run of an engine as a component sees it: it creates or updates what is registered. */
export class PluginRun implements Monitor {
  readonly registered: Registration[] = [];
  readonly #outputs = new Map<string, Properties>();

  /** @param saved the state, which only an `up` changes */
  constructor(
    private readonly plugin: Plugin,
    private readonly saved: Map<string, Properties>,
    private readonly preview = false,
  ) {}

  async construct(type: string, name: string, inputs: Properties, options = {}): Promise<Constructed> {
    const request = {
      type: `rekey:index:${type}`,
      name,
      parent: "",
      inputs,
      options,
      secretOutputs: [],
      preview: this.preview,
    };
    const constructed = await this.plugin.construct(request, this);
    assert.deepEqual(this.#outputs.get(constructed.urn), constructed.outputs);
    return constructed;
  }

  async register(resource: Registration): Promise<{ urn: string; outputs: Properties }> {
    this.registered.push(resource);
    const { type, custom, name, inputs } = resource;
    const urn = urnOf(type.replace("rekey:index:", ""), name);
    const outputs = custom ? await this.#apply(urn, inputs) : {};
    this.#outputs.set(urn, outputs);
    return { urn, outputs };
  }

  async registerOutputs(urn: string, outputs: Properties): Promise<void> {
    this.#outputs.set(urn, outputs);
  }

  async read(urn: string): Promise<Properties> {
    return this.#outputs.get(urn) ?? assert.fail(`${urn} is not registered`);
  }

  async #apply(urn: string, inputs: Properties): Promise<Properties> {
    const { plugin, preview, saved } = this;
    const wrong = await plugin.check(urn, inputs);
    if (wrong.length > 0) throw new NotRegistered(wrong.join("\n"));
    const before = saved.get(urn);
    const id = String(inputs[resourceOf(urn).idInput]);
    if (before && !(await plugin.diff(urn, id, before, inputs)).changes) return before;
    const change = before ? plugin.change(urn, id, before, inputs, preview) : plugin.make(urn, inputs, { preview });
    const { outputs } = await change.catch((error: unknown) => {
      if (error instanceof InitError) saved.set(urn, error.properties);
      throw error;
    });
    if (!preview) saved.set(urn, outputs);
    return outputs;
  }
}
