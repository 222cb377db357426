import { RequestError, type RequestFacts } from "../../domain/errors";
import { type Properties, unknownValue, wrap, reveal, secretNames } from "../../pulumi/values";
import { type AnyResource, type Notice, secretOutputsOf } from "../../resource/resource";
import { type Run, startRun } from "../../run/run";
import { unknownSettings } from "../../settings/table";
import { fitsInError, InitError, ResourceHandler, type Saved } from "../adapter";
import { callFunction } from "../functions";
import { resourceOf } from "../resources";
import { settingsOf } from "./config";

/** The functions of the engine that the service needs. */
export interface EngineLink {
  /** Shows the user a line, under a resource if its URN is given. It fails no run, and never rejects. */
  show(severity: "INFO" | "WARNING" | "ERROR", text: string, urn?: string): Promise<void>;
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
    const settings = settingsOf(urn, reveal(args));
    this.#run = this.start(settings, {
      requireEngine: async (facts) => {
        await this.engine.requireEngine(facts);
        if (!this.#runEnd.signal.aborted) return;
        throw new RequestError("not sent", facts, {
          happened: "the run was cancelled",
          advice: "Run again.",
        });
      },
      log: (text) => void this.engine.show("INFO", text),
      end: this.#runEnd.signal,
    });
    const unknown = settings.provider === undefined ? unknownSettings([], process.env) : [];
    for (const text of unknown) void this.engine.show("WARNING", text, urn);
  }

  check(urn: string, news: Properties, olds: Properties = {}) {
    return this.#handler(urn).check(olds, news, urn);
  }

  async diff(urn: string, saved: Saved, news: Properties) {
    const {
      changes,
      replaces = [],
      notices,
    } = this.#handler(urn).plan(reveal(saved), reveal(news));
    await this.#show(notices, urn);
    return { changes, replaces };
  }

  /**
   * Creates if nothing is saved, else updates. A preview sends nothing, and returns what is known of the outputs.
   *
   * @throws InitError if it is unknown whether the platform did it
   */
  async change(change: Change, saved?: Saved): Promise<Saved> {
    if (change.preview) return this.#preview(change, saved);
    const { urn, inputs, timeoutSeconds } = change;
    const handler = this.#handler(urn, timeoutSeconds);
    const desired = reveal(inputs);
    // The Diff of an update has shown its notices.
    if (saved === undefined) await this.#show(handler.plan(undefined, desired).notices, urn);
    const { id, failure, isPartial, notices, ...applied } = await handler.apply(
      reveal(saved),
      desired,
    );
    // The result is saved before the lines are delivered.
    void this.#show(notices, urn);
    const outputs = marked(handler.resource, applied.outputs, inputs);
    if (!failure) return { id, outputs };
    // Those that were reset must be saved, although the run then does not fail.
    if (!isPartial || fitsInError(outputs)) throw new InitError(failure.message, id, outputs);
    await this.engine.show("ERROR", failure.message, urn);
    return { id, outputs };
  }

  async #preview({ urn, inputs }: Change, saved: Saved | undefined): Promise<Saved> {
    const handler = this.#handler(urn);
    const [before, desired] = [reveal(saved), reveal(inputs)];
    const { idInput, onlyId, outputs: all } = handler.resource;
    const { changes, changing = Object.keys(all), notices } = handler.plan(before, desired);
    // The Diff of an update has shown its notices.
    if (saved === undefined) await this.#show(notices, urn);
    // Outputs that a change may change are unknown. Others are as the inputs of the same name.
    const given = Object.entries(desired).filter(([name]) => name in all);
    const unknown = changing.map((name) => [name, unknownValue]);
    const planned = changes ? [...given, ...unknown] : [];
    const known = { ...before?.outputs, ...Object.fromEntries(planned) } as Properties;
    const id = onlyId ?? before?.outputs[idInput] ?? desired[idInput];
    const outputs = { ...known, [idInput]: id };
    return {
      id: saved?.id ?? "",
      outputs: marked(handler.resource, outputs, inputs, saved?.outputs),
    };
  }

  /** Reads what may have been changed elsewhere. Without outputs and inputs it is an import, which changes nothing. */
  async read(
    urn: string,
    saved: Saved,
    inputs: Properties,
  ): Promise<Saved & { inputs: Properties }> {
    const handler = this.#handler(urn);
    const isImport = Object.keys({ ...saved.outputs, ...inputs }).length === 0;
    const found = isImport
      ? await handler.import(saved.id)
      : { ...(await handler.refresh(reveal(saved))), inputs };
    await this.#show(found.notices, urn);
    const outputs = marked(handler.resource, found.outputs, saved.outputs);
    return { id: saved.id, outputs, inputs: found.inputs };
  }

  /** Removes what the resource has set at the platform. */
  async delete(urn: string, saved: Properties): Promise<void> {
    await this.#show(await this.#handler(urn).remove(reveal(saved)), urn);
  }

  async invoke(token: string, args: Properties): Promise<Properties> {
    const result = await callFunction(nameInToken(token), this.#started.platform, reveal(args));
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

  #handler(urn: string, timeoutSeconds = 0): ResourceHandler {
    const resource = resourceOf(nameInToken(urn.split("::")[2]?.split("$").at(-1) ?? ""));
    const run =
      timeoutSeconds > 0 ? this.#started.during({ limitMs: timeoutSeconds * 1000 }) : this.#started;
    return new ResourceHandler(resource, run);
  }

  async #show(notices: readonly Notice[], urn: string): Promise<void> {
    for (const { text, isWarning } of notices) {
      await this.engine.show(isWarning ? "WARNING" : "INFO", this.#started.redacted(text), urn);
    }
  }
}

/** The name of a resource or a function, from its token. */
function nameInToken(token: string): string {
  return token.replace(/^rekey:index:/, "");
}

/** Outputs with marks on all secrets, also on those of the inputs or former outputs with the same name. */
function marked(
  resource: AnyResource,
  outputs: Properties,
  ...like: (Properties | undefined)[]
): Properties {
  return wrap(outputs, [
    ...secretOutputsOf(resource),
    ...like.flatMap((one = {}) => secretNames(one)),
  ]);
}
