import assert from "node:assert/strict";
import { InitError } from "../../provider/resource";
import { type Constructed, type Monitor, type Registration } from "../../provider/engine/plugin/component";
import { type Plugin, urnOf } from "./pluginService";
import { type Properties } from "./wire";

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
    assert.deepEqual(await plugin.check(urn, inputs), []);
    const before = saved.get(urn);
    const id = String(inputs.databaseId ?? inputs.shard ?? inputs.subject);
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
