import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { type ConfigValue, fullKey, type Project, readProject, StackFile } from "./config";
import { Display } from "./display";
import { EngineError, UnsupportedError } from "./errors";
import { checkExported, type ExportedDeployment, readDeployment, resourceText, saltOf } from "./format";
import { type StackState, stateText } from "./format";
import { takeLock } from "./lock";
import type { runOperation, RunOptions } from "./operations";
import { type OpenOptions, OperationError, type OperationOptions, type OperationResult } from "./results";
import { type OutputMap, type RefreshOptions, type UpOptions } from "./results";
import { Crypter, passphraseFrom } from "./secrets";
import { readState, writeSynced } from "./state";
import { makeUrn, stackType } from "./urns";
import { containsSecret, mapParts, type PropertyMap, reveal, unknown } from "./values";

/** Other options are rejected: ignoring a `target`, for example, would change resources that were not selected. */
const operationOptions = "parallel onOutput colors diff onEvent signal refresh clearPendingCreates preview".split(" ");

const neutralAdvice = "A resource may have been changed without being saved: check it, then run `up` again.";

/** A stack on this machine: a program, its settings, and its state in a file. */
export class LocalStack {
  private constructor(
    /** The project, from its `Pulumi.yaml`. */
    readonly project: Project,
    /** Name of the stack. */
    readonly name: string,
    private readonly path: string,
    private readonly passphrase: string | undefined,
    private readonly env: NodeJS.ProcessEnv,
    private readonly unsavedChangeAdvice: string,
  ) {}

  /**
   * Opens a stack, which need not exist yet.
   * @throws EngineError if there is no project, or the name or runtime is not supported
   */
  static async open(options: OpenOptions): Promise<LocalStack> {
    const stack = options.stack ?? "dev";
    if (!/^[A-Za-z0-9_.-]{1,100}$/.test(stack)) {
      throw new EngineError(
        `${JSON.stringify(stack)} is not a stack name: use 1 to 100 characters of A-Z a-z 0-9 _ . -`,
      );
    }
    const project = readProject(options.projectDir);
    if (process.versions["pnp"] !== undefined) {
      throw new EngineError(
        "Pulumi requires node_modules, which Yarn Plug'n'Play does not create. Nothing was changed. Set " +
          "`nodeLinker: node-modules` in .yarnrc.yml, then run yarn install",
      );
    }
    const env = { ...process.env, ...options.env };
    const passphrase = options.passphrase ?? passphraseFrom(env, (path) => readFileSync(path, "utf8"));
    const stateDir = resolve(options.stateDir ?? join(project.directory, ".rekey"));
    const path = join(stateDir, "stacks", project.name, `${stack}.json`);
    return new LocalStack(project, stack, path, passphrase, env, options.unsavedChangeAdvice ?? neutralAdvice);
  }

  /** Shows what `up` would do, and changes nothing. @throws OperationError */
  preview(options: UpOptions = {}): Promise<OperationResult> {
    return this.#run("preview", options, { dryRun: true, refresh: options.refresh });
  }

  /** Creates, updates and deletes resources as the program declares, without a preview. @throws OperationError */
  up(options: UpOptions = {}): Promise<OperationResult> {
    return this.#run("up", options, { refresh: options.refresh });
  }

  /** Reads the actual state of every resource, without running the program. @throws OperationError */
  refresh(options: RefreshOptions & { readonly preview?: boolean | undefined } = {}): Promise<OperationResult> {
    const { clearPendingCreates, preview } = options;
    return this.#run("refresh", options, { refresh: true, clearPendingCreates, dryRun: preview });
  }

  /** Deletes all resources, without running the program. @throws OperationError */
  destroy(options: UpOptions & { readonly preview?: boolean | undefined } = {}): Promise<OperationResult> {
    return this.#run("destroy", options, { refresh: options.refresh, dryRun: options.preview });
  }

  /** The outputs of the last `up`, with secrets in plain text. */
  async outputs(): Promise<OutputMap> {
    const { state } = await this.#load();
    return outputsOf(state);
  }

  /** The state in the format of `pulumi stack export`. `showSecrets` includes secrets in plain text. */
  async exportStack(options: { readonly showSecrets?: boolean | undefined } = {}): Promise<ExportedDeployment> {
    const { crypter, state } = await this.#load();
    const text = stateText(state, crypter.salt, (resource) => resourceText(resource, crypter, options.showSecrets));
    return JSON.parse(text) as ExportedDeployment;
  }

  /** Replaces the state with an exported one. Its secrets must be encrypted with the same passphrase. */
  async importStack(exported: ExportedDeployment): Promise<void> {
    const json = checkExported(exported, "the imported state");
    await this.#locked(async () => {
      const salt = saltOf(json);
      const crypter = await this.#crypter(salt);
      // Secrets with another salt are encrypted again.
      const state = readDeployment(json, salt === undefined ? crypter : await this.#openCrypter(salt));
      await writeSynced(
        this.path,
        stateText(state, crypter.salt, (resource) => resourceText(resource, crypter)),
      );
    });
  }

  /** All settings by full name, with secrets in plain text. */
  async getAllConfig(): Promise<Record<string, ConfigValue>> {
    const file = this.#stackFile();
    return file.settings(file.hasSecrets ? await this.#crypter() : undefined);
  }

  /** Sets a setting. A name without a namespace belongs to the project. */
  async setConfig(key: string, value: string, options: { readonly secret?: boolean | undefined } = {}): Promise<void> {
    // A new salt is written to the same file, so read the file after that.
    const crypter = options.secret === true ? await this.#crypter() : undefined;
    const file = this.#stackFile();
    file.set(key, crypter ? { secure: crypter.encrypt(value) } : value);
    file.save();
  }

  /** Removes a setting. @returns whether it existed */
  async removeConfig(key: string): Promise<boolean> {
    const file = this.#stackFile();
    const removed = file.remove(key);
    if (removed) file.save();
    return removed;
  }

  /** The full name of a setting. */
  configKey(key: string): string {
    return fullKey(this.project.name, key);
  }

  async #run(
    kind: RunOptions["kind"],
    options: OperationOptions,
    what: { dryRun?: boolean | undefined; refresh?: boolean | undefined; clearPendingCreates?: boolean | undefined },
  ): Promise<OperationResult> {
    const unsupported = Object.keys(options).find((option) => !operationOptions.includes(option));
    if (unsupported !== undefined) throw new UnsupportedError(`the option \`${unsupported}\` of \`${kind}\``);
    const { dryRun = false, refresh = false, clearPendingCreates = false } = what;
    const { parallel = availableParallelism() * 4, signal } = options;
    return this.#locked(async () => {
      const loading = this.#load();
      // Loaded while the key is derived, because both take as long.
      const operations = require("./operations") as { runOperation: typeof runOperation };
      const { crypter, state } = await loading;
      const before = outputsOf(state);
      const config = this.#stackFile().settings(crypter);
      const { name: project } = this.project;
      const identity = { stack: this.name, project, parent: undefined, type: stackType };
      const display = new Display(options, dryRun, makeUrn({ ...identity, name: `${project}-${this.name}` }), config);
      const done = await operations.runOperation({
        ...{ kind, dryRun, refresh, clearPendingCreates, parallel, signal, crypter, state, config },
        ...{ project: this.project, stack: this.name, env: this.env, statePath: this.path },
        unsavedChangeAdvice: this.unsavedChangeAdvice,
        emit: (event) => display.report(event),
      });
      const outputs = dryRun && done.outputs ? toOutputs(done.outputs) : outputsOf(done.state);
      const result = display.end(done.succeeded, done.changes, before, outputs);
      if (!done.succeeded) throw new OperationError(kind, result);
      return result;
    });
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const release = takeLock(this.path.replace(/json$/, "lock"));
    return work().finally(release);
  }

  #stackFile(): StackFile {
    return new StackFile(join(this.project.directory, `Pulumi.${this.name}.yaml`), this.project);
  }

  async #load(): Promise<{ crypter: Crypter; state: StackState }> {
    const text = readState(this.path);
    const empty = { version: 3, deployment: {} };
    const json = checkExported(text ?? empty, `the state file ${this.path}`);
    const salt = saltOf(json);
    const crypter = await this.#crypter(salt);
    return { crypter, state: readDeployment(json, salt === undefined ? crypter : await this.#openCrypter(salt)) };
  }

  /** The stack's crypter. The salt is in the settings, else in the state; a new one is saved in the settings. */
  async #crypter(stateSalt?: string): Promise<Crypter> {
    const file = this.#stackFile();
    const salt = file.salt ?? stateSalt;
    const crypter = await (salt === undefined ? Crypter.create(this.#needPassphrase()) : this.#openCrypter(salt));
    if (file.salt === undefined) {
      file.setSalt(crypter.salt);
      file.save();
    }
    return crypter;
  }

  #openCrypter(salt: string): Promise<Crypter> {
    return Crypter.open(this.#needPassphrase(), salt);
  }

  #needPassphrase(): string {
    if (this.passphrase !== undefined) return this.passphrase;
    throw new EngineError(
      "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    );
  }
}

function outputsOf({ resources }: StackState): OutputMap {
  return toOutputs(resources.find(({ type }) => type === stackType)?.outputs ?? {});
}

function toOutputs(outputs: PropertyMap): OutputMap {
  const plain = (value: PropertyMap[string]): unknown => {
    return mapParts<PropertyMap[string]>(reveal(value), (part) => (part === unknown ? (undefined as never) : part));
  };
  const entries = Object.entries(outputs);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, { value: plain(value), secret: containsSecret(value) }]),
  );
}
