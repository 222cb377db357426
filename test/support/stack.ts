import { InitError } from "../../provider/engine/adapter";
import assert from "node:assert/strict";
import { type Host, providerTexts, type Result } from "./host";
import { type Properties, revealed } from "./wire";

/** A resource in a state: what it was created with, and its outputs with their marks. */
interface Saved {
  readonly id: string;
  readonly outputs: Properties;
  readonly inputs?: Properties;
}

/** What an engine asks of an adapter about one resource. A failed change throws; an `InitError` has what is saved. */
export interface EngineCalls {
  /** Whether a preview also asks for the change. */
  readonly previews: boolean;
  /** @returns the inputs for the calls that follow, and what is wrong with them */
  check(inputs: Properties, olds: Properties): Promise<{ inputs: Properties; problems: readonly string[] }>;
  diff(id: string, olds: Properties, inputs: Properties): Promise<{ changes: boolean; replaces: readonly string[] }>;
  create(inputs: Properties, preview: boolean): Promise<Saved>;
  update(id: string, olds: Properties, inputs: Properties, preview: boolean): Promise<Saved>;
  /** An import, without outputs and inputs. */
  read(id: string, olds: Properties, inputs: Properties): Promise<Saved>;
  delete(id: string, olds: Properties): Promise<void>;
}

/** What an operation did, and the outputs that it saved or planned. */
interface Step {
  readonly did: "create" | "update" | "replace" | "same";
  readonly outputs: Properties;
}

/** One resource over several runs, each with the calls that an engine makes. */
export class Stack {
  saved: Saved | undefined;
  /** What was replaced, and is not deleted yet. */
  replaced: readonly Saved[] = [];

  /** @param calls of the adapter in this run. Another run may have another one */
  constructor(public calls: EngineCalls) {}

  /** The saved outputs, secrets in plain. */
  get plain(): Properties {
    return revealed(this.saved?.outputs ?? {});
  }

  preview(inputs: Properties): Promise<Step> {
    return this.#change(inputs, true);
  }

  /** Saves what it returns, also with an init error, which it throws. */
  up(inputs: Properties): Promise<Step> {
    return this.#change(inputs, false);
  }

  async refresh(): Promise<Properties> {
    const { id, outputs, inputs = {} } = this.saved ?? assert.fail();
    this.saved = { ...(await this.calls.read(id, outputs, inputs)), inputs };
    return this.plain;
  }

  async import(id: string): Promise<Saved> {
    return (this.saved = await this.calls.read(id, {}, {}));
  }

  async destroy(): Promise<void> {
    if (this.saved) await this.calls.delete(this.saved.id, this.saved.outputs);
    this.saved = undefined;
    await this.end();
  }

  /** The end of a run in which nothing has failed: deletes what was replaced. */
  async end(): Promise<void> {
    const deletes = this.replaced.map(async (one) => {
      await this.calls.delete(one.id, one.outputs);
      this.replaced = this.replaced.filter((other) => other !== one);
    });
    await Promise.allSettled(deletes);
    await Promise.all(deletes);
  }

  async #change(program: Properties, preview: boolean): Promise<Step> {
    const { saved, calls } = this;
    const { inputs, problems } = await calls.check(program, saved?.inputs ?? {});
    if (problems.length > 0) throw new Error(problems.join("\n"));
    const isNew = { changes: true, replaces: [] };
    const { changes, replaces } = saved ? await calls.diff(saved.id, saved.outputs, inputs) : isNew;
    if (saved && !changes) return { did: "same", outputs: saved.outputs };
    const did = !saved ? "create" : replaces.length > 0 ? "replace" : "update";
    if (preview && !calls.previews) return { did, outputs: {} };
    try {
      const made = await (saved && did === "update"
        ? calls.update(saved.id, saved.outputs, inputs, preview)
        : calls.create(inputs, preview));
      if (saved && did === "replace" && !preview) this.replaced = [...this.replaced, saved];
      if (!preview) this.saved = { ...made, inputs };
      return { did, outputs: made.outputs };
    } catch (error) {
      if (error instanceof InitError) this.saved = { id: error.id, outputs: error.properties, inputs };
      throw error;
    }
  }
}

/** The process of an adapter, for a resource that names this provider. */
export function hostCalls(host: Host, provider: keyof typeof providerTexts): EngineCalls {
  const own = (properties: Properties) => ({ ...properties, __provider: providerTexts[provider] });
  return {
    previews: host.adapter === "plugin",
    check: (inputs, olds) => host.check(own(inputs), olds),
    diff: (id, olds, inputs) => host.diff(id, olds, own(inputs)),
    create: async (inputs, preview) => savedBy(await host.create(own(inputs), preview)),
    update: async (id, olds, inputs, preview) => savedBy(await host.update(id, olds, own(inputs), preview)),
    read: (id, olds, inputs) => host.read(id, olds, own(inputs)),
    delete: (id, olds) => host.delete(id, own(olds)),
  };
}

function savedBy(result: Result): Saved {
  if (result.kind === "failed") throw new Error(result.message);
  if (result.kind === "init error") throw new InitError(result.message, result.id, result.outs);
  return { id: result.id, outputs: result.outs };
}
