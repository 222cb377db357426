import { once } from "node:events";
import { InputError, NotSentError, type RequestFacts, withCode } from "../../platform/errors";
import { type SharedReads } from "../../flowControl/sharedReads";
import { type Permission } from "../../platform/http";
import { refuseUnknown } from "../../rotation/arguments";
import {
  applyResource,
  changeError,
  diffResource,
  idOf,
  type Notice,
  refreshResource,
  ReportedError,
} from "../../resource";
import { functionNamed } from "../resources";
import { environmentOfProvider } from "../../settings/settings";
import { type ComponentRequest, type Constructed, type Monitor, type Component, NotRegistered } from "./component";
import {
  areDerivedOutdated,
  checkWithConnection,
  marked,
  plain,
  planned,
  withDerived,
  withNextRotation,
} from "./outputs";
import { fleetComponent } from "./fleet";
import { packageSchema } from "./schema";
import { isDefaultProvider, nameIn, resourceOf, typePrefix, unknownType } from "./urn";
import { verificationComponent } from "./verification";
import { type Properties, reveal, unknownNames, wrap } from "../../records/properties";
import { plainCredentials, plainWarning } from "../../settings/plainCredentials";
import { mistypedVariables } from "../../settings/unknownSettings";
import { type Run, startRun } from "../../run";
import { checkOptions } from "../../rotation/componentOptions";

/** What the service needs of the engine that started it. */
export interface EngineLink {
  /** Shows the user a line, under a resource if its URN is given. Never rejects. */
  log(line: string, urn?: string): Promise<void>;
  /** Shows the user a warning under a resource. Never rejects. */
  warn(line: string, urn: string): Promise<void>;
  /** @throws NotSentError if the engine is gone */
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

/** What a change saves. Secrets are marked. */
export interface Saved {
  readonly id: string;
  readonly outputs: Properties;
}

const components: ReadonlyMap<string, Component> = new Map([
  [`${typePrefix}PasswordRotationFleet`, fleetComponent],
  [`${typePrefix}PasswordVerification`, verificationComponent],
]);

/** The URN of a rotation that `pulumi do --stateless` creates. A resource of a real stack may have it, too. */
const statelessUrn = new RegExp(`^urn:pulumi:dev::default::${typePrefix}(\\w+Rotation)::\\1$`);

const statelessWarning =
  "`pulumi do --stateless` saves nothing: it resets the secret, and prints the new one as [secret]. " +
  "To keep it, leave out --stateless. If this is a resource of a stack, ignore this.";

const importNotice = "It was imported in this run: its version and triggers are adopted, and nothing is reset.";

const dueNotice = "The next `up` resets it: it is older than rotatedSince, or of unknown age.";

const runEnded = "the run ended first, because another resource failed or the run was cancelled";

/**
 * The provider that Pulumi's engine calls as a plugin, on plain objects. One process serves one provider instance of a
 * program, with its own settings, limits and results.
 */
export class PluginService {
  #run: Run | undefined;
  #queueReads: SharedReads | undefined;
  /** URNs of resources imported in this run. */
  readonly #imported = new Set<string>();
  readonly #runEnd = new AbortController();
  readonly #ended = once(this.#runEnd.signal, "abort");

  constructor(private readonly engine: EngineLink) {}

  /** @param urn of the provider resource; empty if the engine is too old to pass it */
  configure(urn: string, args: Properties): void {
    const settings = reveal(args) as Properties;
    const read = (name: string) => {
      const value = settings[name] ?? undefined;
      return typeof value === "string" ? value : JSON.stringify(value);
    };
    const isDefault = isDefaultProvider(urn, settings["version"]);
    this.#run = startRun({
      configuration: (key) => read(key.slice("rekey:".length)),
      requireEngine: (facts) => this.#requireRun(facts),
      environment: isDefault ? process.env : environmentOfProvider(read, process.env),
      provider: isDefault ? undefined : nameIn(urn) || undefined,
      log: (line) => void this.engine.log(line),
      end: this.#runEnd.signal,
    });
    if (!isDefault) return;
    const stack = urn.slice("urn:pulumi:".length).split("::")[0] ?? "";
    const plain = plainCredentials(process.cwd(), stack, read).map(plainWarning);
    for (const text of [...plain, ...mistypedVariables(process.env)]) void this.engine.warn(text, urn);
  }

  /** @returns what is wrong with the inputs */
  async check(urn: string, news: Properties): Promise<string[]> {
    const resource = resourceOf(urn);
    const wrong = checkWithConnection(resource, news, this.#started, urn);
    // Its other commands read, and so adopt, the database first.
    const isAdopted = this.#imported.has(urn) || reveal(news["initialRotation"]) === false;
    // Shown before the command asks for a confirmation.
    if (statelessUrn.test(urn) && !isAdopted && wrong.length === 0) await this.engine.warn(statelessWarning, urn);
    return wrong;
  }

  /** @param savedInputs empty if the engine does not pass them */
  async diff(
    urn: string,
    id: string,
    olds: Properties,
    news: Properties,
    savedInputs: Properties = {},
  ): Promise<{ changes: boolean; replaces: string[] }> {
    const resource = resourceOf(urn);
    const saved = { id, outputs: plain(olds) };
    const compare = (inputs: Properties) => diffResource(resource, saved, inputs, unknownNames(inputs), this.#started);
    const found = compare(plain(news));
    const isImported = this.#imported.has(urn);
    for (const notice of found.notices) if (!isImported || notice.isWarning) await this.#show(notice, urn);
    if (isImported && found.changes) {
      const { version, triggers, ...others } = plain(news);
      await this.#show({ text: compare(others).resets ? `${importNotice} ${dueNotice}` : importNotice }, urn);
    }
    const changes =
      found.changes || areDerivedOutdated(resource, reveal(olds) as Properties, savedInputs, news, this.#started);
    return { changes, replaces: [...(found.replaces ?? [])] };
  }

  /** @throws InitError if it is unknown whether the platform did it */
  async create(change: Change): Promise<Saved> {
    const { urn, inputs, preview } = change;
    const resource = resourceOf(urn);
    const notices = resource.noticesOfNew?.(plain(inputs), unknownNames(inputs), this.#started) ?? [];
    for (const notice of notices) await this.#show(notice, urn);
    if (preview) return { id: "", outputs: planned(resource, inputs) };
    return this.#apply(change, "resets", undefined, plain(inputs));
  }

  /** @throws InitError if it is unknown whether the platform did it */
  async update(id: string, olds: Properties, change: Change): Promise<Saved> {
    const { urn, inputs, preview } = change;
    const resource = resourceOf(urn);
    const saved = { id, outputs: plain(olds) };
    if (this.#imported.has(urn)) {
      if (preview) return { id, outputs: planned(resource, inputs) };
      // The import did not know the trigger of the program: it is that of the adoption, and requests no reset.
      const { rotatedSince, ...others } = plain(inputs);
      const adopted = { ...others, ...(await resource.importedInputs?.(id, this.#started)) };
      return this.#apply(change, "nothing", undefined, adopted);
    }
    const found = diffResource(resource, saved, plain(inputs), unknownNames(inputs), this.#started);
    if (!found.changes) {
      // The rest is kept as it is, with the dynamic provider's text.
      const outputs = withDerived(resource, reveal(olds) as Properties, inputs, this.#started);
      return { id, outputs: marked(resource, outputs, olds) };
    }
    if (preview) return { id, outputs: planned(resource, inputs) };
    return this.#apply(change, "resets", saved, plain(inputs), olds);
  }

  /** Reads what may have been changed elsewhere. Without outputs and inputs it is an import, which resets nothing. */
  async read(urn: string, id: string, olds: Properties, inputs: Properties): Promise<Saved & { inputs: Properties }> {
    if (Object.keys({ ...olds, ...inputs }).length === 0) return this.#import(urn, id);
    return { ...(await this.#refresh(urn, id, olds, inputs)), inputs };
  }

  /** Removes what the resource has set at the platform. */
  async delete(urn: string, saved: Properties): Promise<void> {
    const notices = (await resourceOf(urn).remove?.(plain(saved), this.#started.permitting("limits"))) ?? [];
    for (const notice of notices) await this.#show(notice, urn);
  }

  /** Reads from the platform. Reads that arrive together share their requests. */
  async invoke(token: string, args: Properties): Promise<Properties> {
    const name = token.replace(typePrefix, "");
    const call = functionNamed(name);
    if (call === undefined) throw new InputError(token, "is not a function of this version of pulumi-rekey");
    refuseUnknown(`the arguments of ${name}`, args, packageSchema().functions[token]?.inputs?.properties ?? {});
    const { platform } = this.#started;
    const queue = (): SharedReads => {
      const { SharedReads } =
        require("../../flowControl/sharedReads") as typeof import("../../flowControl/sharedReads");
      return (this.#queueReads ??= new SharedReads(platform.flowControl));
    };
    return wrap((await call({ platform, queue }, plain(args))) as Properties, []);
  }

  /** Registers a component and its children. */
  async construct(request: ComponentRequest, monitor: Monitor): Promise<Constructed> {
    const { type, inputs, options } = request;
    const component = components.get(type);
    if (component === undefined) throw unknownType(type);
    checkOptions(options, component.childInputs);
    const incomplete = (reason: string): never => {
      const message = `It is not complete: ${reason}. What was sent is saved. Fix the other error, then run again.`;
      throw new ReportedError(withCode(message, component.incomplete));
    };
    const construct = async (): Promise<Constructed> => {
      refuseUnknown("its inputs", inputs, packageSchema().resources[type]?.inputProperties ?? {});
      const constructed = await component.construct(request, monitor, this.#started);
      const { urn, warning } = constructed;
      if (warning !== undefined) await this.engine.warn(warning, urn);
      return constructed;
    };
    const constructed = construct().catch((error: unknown) => {
      if (error instanceof NotRegistered) return incomplete(error.message);
      // The engine names the component. Its other resources may be done already.
      throw error instanceof InputError ? new InputError(error.property, error.reason, { afterReset: true }) : error;
    });
    // The engine does not respond to registrations once the run ends, and would report a closed connection.
    return Promise.race([constructed, this.#ended.then(() => incomplete(runEnded))]);
  }

  /** The run ends, or the user stops it: requests in flight complete and are saved, and no further reset is sent. */
  cancel(): void {
    this.#runEnd.abort();
  }

  get #started(): Run {
    if (this.#run === undefined) throw new Error("the engine did not configure the provider");
    return this.#run;
  }

  #show({ text, isWarning }: Notice, urn: string): Promise<void> {
    const line = this.#started.shown(text);
    return isWarning ? this.engine.warn(line, urn) : this.engine.log(line, urn);
  }

  async #refresh(urn: string, id: string, olds: Properties, inputs: Properties): Promise<Saved> {
    const resource = resourceOf(urn);
    const saved = reveal(olds) as Properties;
    const refreshed = await refreshResource(resource, { id, outputs: saved }, this.#started);
    for (const notice of refreshed?.notices ?? []) await this.#show(notice, urn);
    const read = refreshed?.outputs ?? saved;
    // Only a changed database has another record object: the one that was read. Its URLs follow the credentials.
    const isChanged = read["record"] !== saved["record"];
    const outputs = isChanged
      ? withDerived(resource, read, inputs, this.#started)
      : withNextRotation(resource, read, inputs);
    return { id, outputs: marked(resource, outputs, olds) };
  }

  async #import(urn: string, id: string): Promise<Saved & { inputs: Properties }> {
    const resource = resourceOf(urn);
    if (resource.importedInputs === undefined) {
      throw new ReportedError(
        withCode(
          "The resource cannot be imported or read: the platform has nothing to import. Nothing was sent. Remove the option `import` or `id`, then run again.",
          "REKEY_IMPORT_UNSUPPORTED",
        ),
      );
    }
    const inputs = { ...(await resource.importedInputs(id, this.#started)) };
    // An import does not know the program, so it may not save credentials.
    const { outputs: read, notices } = resource.importedOutputs
      ? { outputs: { ...resource.importedOutputs(inputs) }, notices: [] }
      : await applyResource(resource, undefined, { ...inputs, saveCredentials: false }, this.#started);
    for (const notice of notices) if (notice.isWarning) await this.#show(notice, urn);
    const outputs = withDerived(resource, read, inputs, this.#started);
    // What is not adopted, such as limits, is compared with the program's as usual.
    if (!resource.importedOutputs) this.#imported.add(urn);
    return { id, outputs: marked(resource, outputs, {}), inputs };
  }

  async #requireRun(facts: RequestFacts): Promise<void> {
    await this.engine.requireEngine(facts);
    if (!this.#runEnd.signal.aborted) return;
    throw new NotSentError(facts, { happened: "the run was cancelled", advice: "Run again." });
  }

  async #apply(
    { urn, inputs, timeoutSeconds, preview }: Change,
    permission: Permission,
    saved: Saved | undefined,
    desired: Properties,
    { __provider }: Properties = {},
  ): Promise<Saved> {
    const resource = resourceOf(urn);
    const started = this.#started.permitting(preview ? "nothing" : permission);
    const run = timeoutSeconds > 0 ? started.within(timeoutSeconds * 1000) : started;
    const { outputs: all, failure, notices } = await applyResource(resource, saved, desired, run);
    for (const notice of notices) void this.#show(notice, urn);
    const applied = withDerived(resource, all, inputs, run);
    // The dynamic provider's text stays, so that a moved stack can move back.
    const outputs = marked(resource, { ...applied, __provider: reveal(__provider) }, inputs);
    const id = idOf(resource, plain(inputs));
    if (failure) throw changeError(failure, id, outputs);
    return { id, outputs };
  }
}
