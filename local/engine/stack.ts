import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type ConfigValue, fullKey, type Project, readProject, StackFile } from "./config";
import { EngineError } from "./errors";
import { checkExported } from "./exported";
import { exportDeployment, importDeployment, refuseForeign, saltOf } from "./format";
import { takeLock } from "./lock";
import { runOperation, type RunOptions } from "./operations";
import {
  type OpenOptions,
  OperationError,
  type OperationOptions,
  type OperationResult,
  type OutputMap,
  type RefreshOptions,
  type UpOptions,
} from "./results";
import { coloured, type Paint, plain, renderEvent, renderSummary } from "./display";
import { Crypter, passphraseFrom } from "./secrets";
import { readState, statePath, writeSynced } from "./state";
import { type Deployment, type Diagnostic, type EngineEvent, type ExportedDeployment, stackType } from "./types";
import { makeUrn } from "./urns";
import { containsSecret, type PropertyMap, toPlain } from "./values";

/** A stack on this machine: a program, its settings, and a state in a file. */
export class LocalStack {
  /** Deriving a key takes most of a second; a stack has one, and an imported state perhaps another. */
  private readonly crypters = new Map<string, Promise<Crypter>>();

  private constructor(
    readonly project: Project,
    readonly name: string,
    private readonly path: string,
    private readonly passphrase: string | undefined,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** Opens a stack; it need not exist yet. @throws EngineError when there is no project, or the name or runtime is not usable */
  static async open(options: OpenOptions): Promise<LocalStack> {
    const stack = options.stack ?? "dev";
    if (!/^[A-Za-z0-9_.-]{1,100}$/.test(stack))
      throw new EngineError(`${JSON.stringify(stack)} is no name for a stack`);
    const project = readProject(options.projectDir);
    const env = { ...process.env, ...options.env };
    const passphrase = options.passphrase ?? passphraseFrom(env, (path) => readFileSync(path, "utf8"));
    const stateDir = resolve(options.stateDir ?? join(project.directory, ".rekey"));
    return new LocalStack(project, stack, statePath(stateDir, project.name, stack), passphrase, options.env ?? {});
  }

  /** Says what `up` would do, and changes nothing. @throws OperationError */
  preview(options: UpOptions = {}): Promise<OperationResult> {
    return this.run("preview", options, { dryRun: true, refresh: options.refresh });
  }

  /** Makes everything as the program says; no preview first. @throws OperationError */
  up(options: UpOptions = {}): Promise<OperationResult> {
    return this.run("up", options, { refresh: options.refresh });
  }

  /** Reads every resource anew, without the program. @throws OperationError */
  refresh(options: RefreshOptions & { readonly preview?: boolean | undefined } = {}): Promise<OperationResult> {
    const { clearPendingCreates, preview } = options;
    return this.run("refresh", options, { refresh: true, clearPendingCreates, dryRun: preview });
  }

  /** Deletes everything, without the program. @throws OperationError */
  destroy(options: UpOptions & { readonly preview?: boolean | undefined } = {}): Promise<OperationResult> {
    return this.run("destroy", options, { refresh: options.refresh, dryRun: options.preview });
  }

  /** The outputs of the last `up`, secrets in plain. */
  async outputs(): Promise<OutputMap> {
    const { state } = await this.load();
    return outputsOf(state);
  }

  /** The state in the format of `pulumi stack export`. With `showSecrets` they are in plain text. */
  async exportStack(options: { readonly showSecrets?: boolean | undefined } = {}): Promise<ExportedDeployment> {
    const { crypter, state } = await this.load();
    return exportDeployment(state, crypter, options.showSecrets ?? false);
  }

  /** Replaces the state by an exported one; its secrets must be of the same passphrase. */
  async importStack(exported: ExportedDeployment): Promise<void> {
    checkExported(exported, "the imported state");
    await this.locked(async () => {
      const crypter = await this.crypter(saltOf(exported));
      const state = await this.read(exported, crypter);
      refuseForeign(state.resources);
      await this.save(state, crypter);
    });
  }

  /** Every setting under its full name, secrets in plain. */
  async getAllConfig(): Promise<Record<string, ConfigValue>> {
    const file = this.stackFile();
    return file.settings(file.hasSecrets ? await this.crypter() : undefined);
  }

  /** Sets a setting; a name without a namespace belongs to the project. */
  async setConfig(key: string, value: string, options: { readonly secret?: boolean | undefined } = {}): Promise<void> {
    // The salt is written before the file is read again: the setting goes into the same file.
    const crypter = options.secret === true ? await this.crypter() : undefined;
    const file = this.stackFile();
    file.set(key, crypter ? { secure: crypter.encrypt(value) } : value);
    file.save();
  }

  /** Removes a setting. @returns whether there was one */
  async removeConfig(key: string): Promise<boolean> {
    const file = this.stackFile();
    const removed = file.remove(key);
    if (removed) file.save();
    return removed;
  }

  /** The full name of a setting. */
  configKey(key: string): string {
    return fullKey(this.project.name, key);
  }

  private async run(
    kind: RunOptions["kind"],
    options: OperationOptions,
    what: { dryRun?: boolean | undefined; refresh?: boolean | undefined; clearPendingCreates?: boolean | undefined },
  ): Promise<OperationResult> {
    return this.locked(async () => {
      const { crypter, state } = await this.load();
      refuseForeign(state.resources);
      const config = this.stackFile().settings(crypter);
      const diagnostics: Diagnostic[] = [];
      const dryRun = what.dryRun ?? false;
      const said: string[] = [];
      const say = (render: (paint: Paint) => string | undefined): void => {
        const text = render(plain);
        if (text === undefined) return;
        said.push(...text.split("\n"));
        const shown = options.colors === true ? render(coloured) : text;
        for (const line of shown?.split("\n") ?? []) options.onOutput?.(line);
      };
      const mask = masking(config);
      const began = performance.now();
      const emit = (told: EngineEvent): void => {
        // The SDK colours stack traces whether or not anybody can see it.
        const clean = (message: string): string => mask(stripVTControlCharacters(message));
        const event = told.kind === "diagnostic" ? { ...told, message: clean(told.message) } : told;
        options.onEvent?.(event);
        if (event.kind === "diagnostic") {
          diagnostics.push({ severity: event.severity, urn: event.urn, message: event.message });
        }
        say((paint) => renderEvent(event, dryRun, paint));
      };
      const {
        succeeded,
        changes,
        state: after,
        outputs: given,
      } = await runOperation({
        kind,
        dryRun,
        refresh: what.refresh ?? false,
        clearPendingCreates: what.clearPendingCreates ?? false,
        project: this.project,
        stack: this.name,
        env: { ...process.env, ...this.env },
        config,
        state,
        statePath: this.path,
        crypter,
        parallel: options.parallel,
        signal: options.signal,
        emit,
      });
      const outputs = dryRun && given ? toOutputs(given) : outputsOf(after);
      const seconds = (performance.now() - began) / 1000;
      const stackUrn = makeUrn(this.name, this.project.name, undefined, stackType, `${this.project.name}-${this.name}`);
      const summary = { changes, diagnostics, outputs, before: outputsOf(state), dryRun, seconds, stackUrn };
      say((paint) => `${said.length > 0 ? "\n" : ""}${renderSummary(summary, paint)}`);
      const result: OperationResult = {
        result: succeeded ? "succeeded" : "failed",
        changes,
        outputs,
        diagnostics,
        stdout: said.join("\n"),
      };
      if (!succeeded) throw new OperationError(kind, result);
      return result;
    });
  }

  private async locked<T>(work: () => Promise<T>): Promise<T> {
    const release = takeLock(this.path.replace(/json$/, "lock"));
    try {
      return await work();
    } finally {
      release();
    }
  }

  private stackFile(): StackFile {
    return new StackFile(join(this.project.directory, `Pulumi.${this.name}.yaml`), this.project);
  }

  private async load(): Promise<{ crypter: Crypter; state: Deployment }> {
    const exported = readState(this.path);
    if (exported !== undefined) checkExported(exported, `the state file ${this.path}`);
    const crypter = await this.crypter(exported && saltOf(exported));
    return { crypter, state: exported ? await this.read(exported, crypter) : { resources: [], pending: [] } };
  }

  private async read(exported: ExportedDeployment, crypter: Crypter): Promise<Deployment> {
    const salt = saltOf(exported);
    const own = salt === undefined || salt === crypter.salt;
    const from = own ? crypter : await this.openCrypter(salt);
    const state = importDeployment(exported, (ciphertext) => from.decrypt(ciphertext));
    // Secrets under another salt are encrypted anew when they are saved.
    return own ? state : importDeployment(exportDeployment(state, from, true), (text) => text);
  }

  private async save(state: Deployment, crypter: Crypter): Promise<void> {
    await writeSynced(this.path, `${JSON.stringify(exportDeployment(state, crypter, false), undefined, 4)}\n`);
  }

  /** The stack's crypter; the salt is in its settings, else in its state; a new one is written to its settings. */
  private async crypter(stateSalt?: string): Promise<Crypter> {
    const file = this.stackFile();
    const salt = file.salt ?? stateSalt;
    const crypter = await (salt === undefined ? Crypter.create(this.needPassphrase()) : this.openCrypter(salt));
    if (file.salt === undefined) {
      file.setSalt(crypter.salt);
      file.save();
      this.crypters.set(crypter.salt, Promise.resolve(crypter));
    }
    return crypter;
  }

  private openCrypter(salt: string): Promise<Crypter> {
    const known = this.crypters.get(salt) ?? Crypter.open(this.needPassphrase(), salt);
    this.crypters.set(salt, known);
    return known;
  }

  private needPassphrase(): string {
    if (this.passphrase !== undefined) return this.passphrase;
    throw new EngineError(
      "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    );
  }
}

/** Takes the values of secret settings out of what programs and providers say, as the CLI does. */
function masking(config: Readonly<Record<string, ConfigValue>>): (text: string) => string {
  const secrets = Object.values(config).flatMap(({ value, secret }) => (secret && value.length >= 3 ? [value] : []));
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, "[secret]"), text);
}

function outputsOf(state: Deployment): OutputMap {
  return toOutputs(state.resources.find(({ type }) => type === stackType)?.outputs ?? {});
}

function toOutputs(outputs: PropertyMap): OutputMap {
  return Object.fromEntries(
    Object.entries(outputs).map(([key, value]) => [
      key,
      { value: toPlain(value, true), secret: containsSecret(value) },
    ]),
  );
}
