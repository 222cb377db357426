import { InputError, RequestError, type RequestFacts, withCode } from "../../platform/errors";
import { type SharedReads } from "../../flowControl/sharedReads";
import { refuseUnknown } from "../../rotation/arguments";
import { type Properties, reveal, secretNames, wrap } from "../../records/properties";
import {
  type AnyResource,
  applyResource,
  checkResource,
  idOf,
  type Notice,
  plannedOutputs,
  planResource,
  refreshResource,
  type Saved,
  secretOutputsOf,
} from "../../resource";
import { type Run, startRun } from "../../run";
import { plainCredentials, plainWarning } from "../../settings/plainCredentials";
import { mistypedVariables } from "../../settings/unknownSettings";
import { environmentOfProvider } from "../../settings/settings";
import { changeError, fitsInError, ReportedError } from "../engineErrors";
import { functionNamed } from "../resources";
import { packageSchema } from "./schema";
import { isDefaultProvider, nameIn, resourceOf } from "./urn";

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
  #queueReads: SharedReads | undefined;
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
    const stack = urn.slice("urn:pulumi:".length).split("::")[0] ?? "";
    const plainOnes = plainCredentials(process.cwd(), stack, read).map(plainWarning);
    for (const text of [...plainOnes, ...mistypedVariables(process.env)]) {
      void this.engine.show({ text, isWarning: true }, urn);
    }
  }

  /** @returns what is wrong with the inputs; they always have the id, so that no refresh is taken for an import */
  check(urn: string, news: Properties): { readonly inputs: Properties; readonly problems: string[] } {
    const resource = resourceOf(urn);
    const { idInput, onlyId } = resource;
    const { [idInput]: given, ...others } = news;
    // A checked input of a resource with one id comes back from the engine.
    const own = onlyId !== undefined && reveal(given) === onlyId ? others : news;
    const problems = checkResource(resource, plain(own), this.#started, urn);
    return { inputs: onlyId === undefined ? news : { ...own, [idInput]: onlyId }, problems };
  }

  async diff(urn: string, id: string, olds: Properties, news: Properties) {
    const { changes, replaces, notices } = planResource(
      resourceOf(urn),
      { id, outputs: plain(olds) },
      plain(news),
      this.#started,
    );
    await this.#show(notices, urn);
    return { changes, replaces };
  }

  /** @throws InitError if it is unknown whether the platform did it */
  async create({ urn, ...change }: Change): Promise<Saved> {
    const resource = resourceOf(urn);
    const inputs = plain(change.inputs);
    const planned = planResource(resource, undefined, inputs, this.#started);
    await this.#show(planned.notices, urn);
    if (!change.preview) return this.#apply({ urn, ...change }, undefined, inputs);
    const outputs = plannedOutputs(resource, undefined, inputs, planned);
    return { id: "", outputs: marked(resource, outputs, change.inputs) };
  }

  /** @throws InitError if it is unknown whether the platform did it */
  async update(id: string, olds: Properties, change: Change): Promise<Saved> {
    const resource = resourceOf(change.urn);
    const inputs = plain(change.inputs);
    const saved = { id, outputs: plain(olds) };
    if (!change.preview) return this.#apply(change, saved, inputs);
    const planned = planResource(resource, saved, inputs, this.#started);
    const outputs = planned.changes ? plannedOutputs(resource, saved.outputs, inputs, planned) : saved.outputs;
    return { id, outputs: marked(resource, outputs, change.inputs, olds) };
  }

  /** Reads what may have been changed elsewhere. Without outputs and inputs it is an import, which changes nothing. */
  async read(urn: string, id: string, olds: Properties, inputs: Properties): Promise<Saved & { inputs: Properties }> {
    const resource = resourceOf(urn);
    if (Object.keys({ ...olds, ...inputs }).length === 0) return this.#import(urn, resource, id);
    const { outputs, notices } = await refreshResource(resource, { id, outputs: plain(olds) }, this.#started);
    await this.#show(notices, urn);
    return { id, outputs: marked(resource, outputs, olds), inputs };
  }

  /** Removes what the resource has set at the platform. */
  async delete(urn: string, saved: Properties): Promise<void> {
    const notices = await resourceOf(urn).remove?.(plain(saved), this.#started.permitting("limits"));
    await this.#show(notices ?? [], urn);
  }

  async invoke(token: string, args: Properties): Promise<Properties> {
    const name = token.replace("rekey:index:", "");
    const call = token === `rekey:index:${name}` ? functionNamed(name) : undefined;
    if (call === undefined) throw new InputError(token, "is not a function of this version of pulumi-rekey");
    refuseUnknown(`the arguments of ${name}`, args, packageSchema().functions[token]?.inputs?.properties ?? {});
    const { platform } = this.#started;
    const queue = () => {
      const { SharedReads } =
        require("../../flowControl/sharedReads") as typeof import("../../flowControl/sharedReads");
      return (this.#queueReads ??= new SharedReads(platform.flowControl));
    };
    return wrap((await call({ platform, queue }, plain(args))) as Properties, []);
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
      const text =
        "The resource cannot be imported or read: the platform has nothing to import. Nothing was sent. Remove the option `import` or `id`, then run again.";
      throw new ReportedError(withCode(text, "REKEY_IMPORT_UNSUPPORTED"));
    }
    const { inputs, outputs, notices } = await resource.adopt(id, this.#started);
    await this.#show(notices, urn);
    return { id, outputs: marked(resource, outputs as Properties, {}), inputs: inputs as Properties };
  }

  async #requireRun(facts: RequestFacts): Promise<void> {
    await this.engine.requireEngine(facts);
    if (!this.#runEnd.signal.aborted) return;
    throw new RequestError("not sent", facts, { happened: "the run was cancelled", advice: "Run again." });
  }

  async #apply(
    { urn, inputs, timeoutSeconds, preview }: Change,
    saved: Saved | undefined,
    desired: Properties,
  ): Promise<Saved> {
    const resource = resourceOf(urn);
    const started = this.#started.permitting(preview ? "nothing" : "resets");
    const run = timeoutSeconds > 0 ? started.within(timeoutSeconds * 1000) : started;
    const { outputs: applied, failure, isPartial, notices } = await applyResource(resource, saved, desired, run);
    for (const notice of notices) void this.#show([notice], urn);
    const outputs = marked(resource, applied, inputs);
    const id = idOf(resource, desired);
    if (!failure) return { id, outputs };
    // Those that were reset must be saved, although the run then does not fail.
    if (!isPartial || fitsInError(outputs)) throw changeError(failure, id, outputs);
    await this.engine.showError(failure.message, urn);
    return { id, outputs };
  }
}

/** Values without marks. */
function plain(properties: Properties): Properties {
  return reveal(properties) as Properties;
}

/** Outputs with marks on all secrets, also on those of the inputs or former outputs with the same name. */
function marked(resource: AnyResource, outputs: Properties, ...like: Properties[]): Properties {
  const derived = like.some((inputs) => secretNames(inputs).includes("rotateEvery")) ? ["nextRotationAt"] : [];
  return wrap(outputs, [...secretOutputsOf(resource), ...derived, ...like.flatMap(secretNames)]);
}
