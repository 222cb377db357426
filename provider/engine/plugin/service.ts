import { RekeyError, RequestError, type RequestFacts } from "../../platform/errors";
import { type Properties, reveal, secretNames, unknownValue, wrap } from "../../records/properties";
import {
  type AnyResource,
  applyResource,
  checkResource,
  type Notice,
  type Planned,
  planResource,
  refreshResource,
  removeResource,
  type Saved,
  secretOutputsOf,
} from "../../resource";
import { type Run, startRun } from "../../run";
import { environmentOfProvider } from "../../settings/settings";
import { unknownSettings } from "../../settings/table";
import { fitsInError, InitError } from "../engineErrors";
import { callFunction } from "../functions";
import { isDefaultProvider, nameIn, resourceIn } from "./urn";

/** What the service needs of the engine that started it. */
export interface EngineLink {
  /** Shows the user a line, under a resource if its URN is given. Never rejects. */
  show(notice: Notice, urn?: string): Promise<void>;
  /** Shows the user an error, which does not fail the run. Never rejects. */
  showError(text: string, urn: string): Promise<void>;
  /** @throws RequestError if the engine is gone */
  requireEngine(facts: RequestFacts): Promise<void>;
}

/** A change of a resource. Secrets are marked; a preview may hold unknown values. */
interface Change {
  readonly urn: string;
  readonly inputs: Properties;
  /** Seconds that the program allows; 0 if it sets no limit. */
  readonly timeoutSeconds: number;
  readonly preview: boolean;
}

/**
 * The provider that Pulumi's engine calls as a plugin, on plain objects. One process serves one provider instance of a
 * program, with its own settings, limits and results.
 */
export class PluginService {
  #run: Run | undefined;
  readonly #runEnd = new AbortController();

  constructor(
    private readonly engine: EngineLink,
    private readonly start = startRun,
  ) {}

  /** @param urn of the provider resource; empty if the engine is too old to pass it */
  configure(urn: string, args: Properties): void {
    const settings = plain(args);
    const read = (name: string) => {
      const value = settings[name] ?? undefined;
      return typeof value === "string" ? value : JSON.stringify(value);
    };
    const isDefault = isDefaultProvider(urn, settings["version"]);
    this.#run = this.start({
      configuration: (key) => read(key.slice("rekey:".length)),
      requireEngine: (facts) => this.#requireRun(facts),
      environment: isDefault ? process.env : environmentOfProvider(read, process.env),
      provider: isDefault ? undefined : nameIn(urn) || undefined,
      log: (text) => void this.engine.show({ text }),
      end: this.#runEnd.signal,
    });
    if (!isDefault) return;
    for (const text of unknownSettings([], process.env)) void this.engine.show({ text, isWarning: true }, urn);
  }

  /** @returns what is wrong with the inputs; they always have the id, so that no refresh is taken for an import */
  check(urn: string, news: Properties): { readonly inputs: Properties; readonly problems: string[] } {
    const resource = resourceIn(urn);
    const { idInput, onlyId } = resource;
    const { [idInput]: given, ...others } = news;
    // A checked input of a resource with one id comes back from the engine.
    const own = onlyId !== undefined && reveal(given) === onlyId ? others : news;
    const problems = checkResource(resource, plain(own), this.#started, urn);
    return { inputs: onlyId === undefined ? news : { ...own, [idInput]: onlyId }, problems };
  }

  async diff(urn: string, saved: Saved, news: Properties) {
    const { changes, replaces, notices } = planResource(resourceIn(urn), plain(saved), plain(news), this.#started);
    await this.#show(notices, urn);
    return { changes, replaces };
  }

  /**
   * Creates if nothing is saved, else updates. A preview sends nothing, and returns what is known of the outputs.
   *
   * @throws InitError if it is unknown whether the platform did it
   */
  async change({ urn, inputs, timeoutSeconds, preview }: Change, saved?: Saved): Promise<Saved> {
    const resource = resourceIn(urn);
    const [before, desired] = [plain(saved), plain(inputs)];
    if (saved === undefined || preview) {
      const planned = planResource(resource, before, desired, this.#started);
      // The Diff of an update has shown them.
      if (saved === undefined) await this.#show(planned.notices, urn);
      const outputs = plannedOutputs(resource, before?.outputs, desired, planned);
      if (preview) return { id: saved?.id ?? "", outputs: marked(resource, outputs, inputs, saved?.outputs) };
    }
    const run = timeoutSeconds > 0 ? this.#started.within(timeoutSeconds * 1000) : this.#started;
    const { id, failure, isPartial, notices, ...applied } = await applyResource(resource, before, desired, run);
    // The result is saved before the lines are delivered.
    void this.#show(notices, urn);
    const outputs = marked(resource, applied.outputs, inputs);
    if (!failure) return { id, outputs };
    // Those that were reset must be saved, although the run then does not fail.
    if (!isPartial || fitsInError(outputs)) throw new InitError(failure.message, id, outputs);
    await this.engine.showError(failure.message, urn);
    return { id, outputs };
  }

  /** Reads what may have been changed elsewhere. Without outputs and inputs it is an import, which changes nothing. */
  async read(urn: string, saved: Saved, inputs: Properties): Promise<Saved & { inputs: Properties }> {
    const resource = resourceIn(urn);
    if (Object.keys({ ...saved.outputs, ...inputs }).length === 0) return this.#import(urn, resource, saved.id);
    const { outputs, notices } = await refreshResource(resource, plain(saved), this.#started);
    await this.#show(notices, urn);
    return { id: saved.id, outputs: marked(resource, outputs, saved.outputs), inputs };
  }

  /** Removes what the resource has set at the platform. */
  async delete(urn: string, saved: Properties): Promise<void> {
    await this.#show(await removeResource(resourceIn(urn), plain(saved), this.#started), urn);
  }

  async invoke(token: string, args: Properties): Promise<Properties> {
    const name = token.replace(/^rekey:index:/, "");
    const result = await callFunction(name, this.#started.platform, plain(args));
    return wrap(result as Properties, []);
  }

  /** The run ends, or the user stops it: requests in flight complete and are saved, and no further reset is sent. */
  cancel(): void {
    this.#runEnd.abort();
  }

  get #started(): Run {
    if (this.#run === undefined) throw new Error("the engine did not configure the provider");
    return this.#run;
  }

  async #show(notices: readonly Notice[], urn: string): Promise<void> {
    for (const { text, isWarning } of notices) {
      await this.engine.show({ text: this.#started.shown(text), isWarning }, urn);
    }
  }

  async #import(urn: string, resource: AnyResource, id: string): Promise<Saved & { inputs: Properties }> {
    if (resource.adopt === undefined) {
      throw new RekeyError(
        "REKEY_IMPORT_UNSUPPORTED",
        "The resource cannot be imported or read: the platform has nothing to import. Nothing was sent. Remove the option `import` or `id`, then run again.",
        "not sent",
      );
    }
    const { inputs, outputs, notices } = await resource.adopt(id, this.#started);
    await this.#show(notices, urn);
    return { id, outputs: marked(resource, outputs as Properties), inputs: inputs as Properties };
  }

  async #requireRun(facts: RequestFacts): Promise<void> {
    await this.engine.requireEngine(facts);
    if (!this.#runEnd.signal.aborted) return;
    throw new RequestError("not sent", facts, { happened: "the run was cancelled", advice: "Run again." });
  }
}

/** Values without marks. */
function plain<T extends object | undefined>(values: T): T {
  return reveal(values) as T;
}

/** Outputs with marks on all secrets, also on those of the inputs or former outputs with the same name. */
function marked(resource: AnyResource, outputs: Properties, ...like: (Properties | undefined)[]): Properties {
  return wrap(outputs, [...secretOutputsOf(resource), ...like.flatMap((one = {}) => secretNames(one))]);
}

/** The outputs of a change in a preview: what it may change is unknown. */
function plannedOutputs(
  { idInput, onlyId, outputs }: AnyResource,
  saved: Properties | undefined,
  inputs: Properties,
  { changes, changing = Object.keys(outputs) }: Planned,
): Properties {
  const unknown = Object.fromEntries((changes ? changing : []).map((name) => [name, unknownValue]));
  return { ...saved, ...unknown, [idInput]: onlyId ?? inputs[idInput] };
}
