import { inProcessProvider } from "../support/inProcessProvider";
import { isSecret, type Properties, revealed, unknown } from "../support/wire";
import { type FakePlatform } from "./fakePlatform";
import { type Name, names, type DesiredInputs, type DesiredProgram } from "./desiredInputs";

/** A resource as the state holds it; its secrets are marked. */
export interface Saved {
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  readonly initErrors: readonly string[];
}

/** What the engine did with a resource in one `up`. `same`: the provider was not asked to do anything. */
export type Result = "same" | "done" | "init error" | "failed" | "killed";

export interface UpOptions {
  /** How often the engine repeats each create or update, as an error hook does. */
  readonly repeats: number;
  /** Calls update whether or not the diff found anything. */
  readonly forced: boolean;
  /** Whether other resources go on after a failure, as those that run at the same time do. */
  readonly goesOn: boolean;
  /** `rekey:maxResetsPerRun`. */
  readonly limit: number | undefined;
}

type Provider = ReturnType<typeof inProcessProvider>["passwordRotation"];
type Call = () => Promise<{ id?: string; outs?: Properties }>;

/** Calls the provider as the engine does, but in this process. Each operation has its own host. */
export class InProcessEngine {
  /** What is on disk. */
  state: Partial<Record<Name, Saved>> = {};
  now = Date.UTC(2026, 0, 1);
  /** Whether the program sets `rekey:databasePath`. */
  canRead = false;
  /** The provider's text as programs give it: an upgrade may change it. */
  providerText = "first";
  /** Everything that providers logged or threw. */
  readonly messages: string[] = [];

  constructor(private readonly platform: FakePlatform) {}

  /** @returns what the diff found, by resource. */
  async preview(desiredProgram: DesiredProgram, versionIsKnown: boolean): Promise<Partial<Record<Name, boolean>>> {
    const provider = this.#host();
    const found: Partial<Record<Name, boolean>> = {};
    for (const name of names) {
      const desired = desiredProgram[name];
      if (!desired) continue;
      const inputs = { ...this.#inputs(desired), ...(!versionIsKnown && { version: unknown }) };
      const [news, diff] = await this.#decide(provider, name, inputs);
      found[name] = news !== undefined && (diff?.changes ?? true);
    }
    return found;
  }

  async refresh(): Promise<void> {
    const provider = this.#host();
    for (const name of names) {
      const saved = this.state[name];
      if (!saved) continue;
      const { id, props } = await provider.read(saved.id, revealed(saved.outputs));
      if (id) this.state[name] = { ...saved, id, outputs: { ...props }, initErrors: [] };
      else delete this.state[name];
    }
  }

  async destroy(): Promise<void> {
    const provider = this.#host();
    for (const name of names) await this.#delete(provider, name);
  }

  async up(
    desiredProgram: DesiredProgram,
    killed: Promise<"killed">,
    options: UpOptions,
  ): Promise<Partial<Record<Name, Result>>> {
    const provider = this.#host(options.limit);
    const results: Partial<Record<Name, Result>> = {};
    for (const name of names) {
      const desired = desiredProgram[name];
      if (!desired) continue;
      const result = await Promise.race([this.#apply(provider, name, desired, options), killed]);
      results[name] = result;
      if (result === "killed" || this.platform.engineEnds) return results;
      if ((result === "failed" || result === "init error") && !options.goesOn) return results;
    }
    if (Object.values(results).some((result) => result === "failed" || result === "init error")) return results;
    for (const name of names) if (!desiredProgram[name]) await this.#delete(provider, name);
    return results;
  }

  async #apply(
    provider: Provider,
    name: Name,
    desired: DesiredInputs,
    { repeats, forced }: UpOptions,
  ): Promise<Result> {
    const saved = this.state[name];
    const [news, diff] = await this.#decide(provider, name, this.#inputs(desired));
    if (!news) return "failed";
    const replaces = (diff?.replaces ?? []).length > 0;
    const create = !saved || replaces;
    if (!create && !diff?.changes && saved.initErrors.length === 0 && !forced) {
      this.state[name] = { ...saved, inputs: news };
      return "same";
    }
    const olds = revealed(saved?.outputs ?? {});
    const call: Call = create ? () => provider.create(news) : () => provider.update(saved.id, olds, news);
    let settled = await this.#settle(call);
    for (let repeat = 0; repeat < repeats; repeat++) settled = await this.#settle(call);
    if (this.platform.engineEnds === "unsaved") return "killed";
    if ("failed" in settled) return "failed";
    const { id = saved?.id ?? "", outs, initErrors } = settled;
    // After an init error of an update the inputs stay the old ones.
    const inputs = initErrors.length > 0 && !create ? saved.inputs : news;
    this.state[name] = { id, inputs, outputs: outs, initErrors };
    return initErrors.length > 0 ? "init error" : "done";
  }

  async #settle(call: Call): Promise<{ id?: string; outs: Properties; initErrors: string[] } | { failed: true }> {
    try {
      const { id, outs = {} } = await call();
      return { ...(id !== undefined && { id }), outs, initErrors: [] };
    } catch (error) {
      const { message, reasons, properties, id } = error as Error & Record<"reasons" | "properties" | "id", never>;
      this.messages.push(message);
      return reasons === undefined ? { failed: true } : { id, outs: properties, initErrors: reasons };
    }
  }

  async #decide(provider: Provider, name: Name, inputs: Properties) {
    const saved = this.state[name];
    const { inputs: news, failures } = await provider.check(saved?.inputs ?? {}, inputs);
    if (failures && failures.length > 0) throw new Error(JSON.stringify(failures));
    return [news, saved && (await provider.diff(saved.id, revealed(saved.outputs), { ...news }))] as const;
  }

  async #delete(provider: Provider, name: Name): Promise<void> {
    const saved = this.state[name];
    if (saved) await provider.delete(saved.id, revealed(saved.outputs));
    delete this.state[name];
  }

  #inputs(desired: DesiredInputs): Properties {
    return JSON.parse(JSON.stringify({ ...desired, __provider: this.providerText })) as Properties;
  }

  #host(limit?: number): Provider {
    const log = (line: string) => this.messages.push(line);
    const { canRead } = this;
    const fields = { maxResets: limit, canRead, time: new Date(this.now), deadlineMs: 2_000 };
    return inProcessProvider(this.platform, log, fields).passwordRotation;
  }
}

/** The state as it is on disk: what is marked as a secret cannot be read there. */
export function onDisk(state: InProcessEngine["state"]): string {
  return JSON.stringify(state, (_, value: unknown) => (isSecret(value) ? "[encrypted]" : value));
}
