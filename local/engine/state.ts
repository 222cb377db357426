import { mkdirSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError, messageOf } from "./errors";
import { deploymentHead, encrypter, resourceToJson } from "./format";
import { type Crypter } from "./secrets";
import {
  type Deployment,
  type ExportedDeployment,
  type OperationType,
  type PendingOperation,
  type ResourceState,
} from "./types";

/** Where a stack's state is kept. */
export function statePath(stateDir: string, project: string, stack: string): string {
  return join(stateDir, "stacks", project, `${stack}.json`);
}

/** Reads a state file; undefined when there is none. */
export function readState(path: string): ExportedDeployment | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new EngineError(`the state cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text) as ExportedDeployment;
  } catch (error) {
    throw new EngineError(`the state file ${path} is broken: ${messageOf(error)}`, { cause: error });
  }
}

/** Replaces a file so that, whenever the power goes, either the old or the new one is there, whole. */
export async function writeSynced(path: string, text: string): Promise<void> {
  // One name: whoever holds the lock writes over what a killed engine left half-written.
  const aside = `${path}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const file = await open(aside, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
    if (process.platform !== "win32") {
      const folder = await open(dirname(path), "r");
      await folder.sync().finally(() => folder.close());
    }
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw new EngineError(`the state cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The state while an operation runs: what this run made or kept, followed by what it has not come to yet; each list is in an
 * order in which every resource comes after what it depends on. Every change is on disk before the promise for it resolves;
 * changes that come while a write runs share the next one.
 */
export class Snapshot {
  private readonly news: ResourceState[] = [];
  private readonly pending = new Set<PendingOperation>();
  private readonly renamed = new Map<string, string>();
  private readonly texts = new WeakMap<ResourceState, string>();
  private readonly encrypt;
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  /** Creates that were never confirmed: they stay until a person says what became of them. */
  private interrupted: PendingOperation[];

  /** @param path where it is saved; undefined for a preview, which saves nothing */
  constructor(
    private readonly olds: ResourceState[],
    pending: readonly PendingOperation[],
    private readonly crypter: Crypter,
    private readonly path: string | undefined,
  ) {
    this.encrypt = encrypter(crypter, false);
    this.interrupted = pending.filter(({ type }) => type === "creating");
  }

  get deployment(): Deployment {
    return { resources: [...this.news, ...this.olds], pending: [...this.interrupted, ...this.pending] };
  }

  clearInterrupted(): void {
    this.interrupted = [];
  }

  /** Notes on disk what is about to be done; the function it gives takes the note off the next write. */
  async begin(type: OperationType, resource: ResourceState): Promise<() => void> {
    const operation = { type, resource };
    this.pending.add(operation);
    await this.save();
    return () => this.pending.delete(operation);
  }

  /** Adds a resource that this run made or kept, in the place of an old one. Nothing is written yet. */
  put(resource: ResourceState, instead?: ResourceState): void {
    this.news.push(resource);
    if (instead) {
      this.remove(instead);
      if (instead.urn !== resource.urn) {
        this.renamed.set(instead.urn, resource.urn);
        for (const old of this.olds) this.changed(old);
      }
    }
  }

  remove(resource: ResourceState): void {
    for (const list of [this.news, this.olds]) {
      const at = list.indexOf(resource);
      if (at >= 0) list.splice(at, 1);
    }
  }

  /** Puts what a refresh found in the same place. */
  replace(old: ResourceState, found: ResourceState): void {
    this.olds.splice(this.olds.indexOf(old), 1, found);
  }

  /** To be called after a change of a resource that is in the state already. */
  changed(resource: ResourceState): void {
    this.texts.delete(resource);
  }

  /** Resolves when all that was changed before the call is on disk. */
  save(): Promise<void> {
    if (this.path === undefined) return Promise.resolve();
    this.next ??= this.running.then(() => {
      const written = writeSynced(this.path ?? "", this.text());
      this.next = undefined;
      this.running = written.catch(() => undefined);
      return written;
    });
    return this.next;
  }

  private text(): string {
    const { resources, pending } = this.deployment;
    const head = JSON.stringify(deploymentHead(this.crypter)).slice(1, -1);
    const operations = pending.map(({ resource, type }) => `{"resource":${this.textOf(resource)},"type":"${type}"}`);
    return (
      `{"version":3,"deployment":{${head},"resources":[\n${resources.map((r) => this.textOf(r)).join(",\n")}\n]` +
      (operations.length > 0 ? `,"pending_operations":[\n${operations.join(",\n")}\n]` : "") +
      `,"metadata":{}}}\n`
    );
  }

  private textOf(resource: ResourceState): string {
    const known = this.texts.get(resource);
    if (known !== undefined) return known;
    const text = JSON.stringify(resourceToJson(this.withNewNames(resource), this.encrypt));
    this.texts.set(resource, text);
    return text;
  }

  /** What refers to a resource by the name it had before an alias refers to the new one. */
  private withNewNames(resource: ResourceState): ResourceState {
    if (this.renamed.size === 0) return resource;
    const rename = (urn: string): string => this.renamed.get(urn) ?? urn;
    const { parent, dependencies, propertyDependencies } = resource;
    return {
      ...resource,
      parent: parent && rename(parent),
      dependencies: dependencies?.map(rename),
      propertyDependencies:
        propertyDependencies &&
        Object.fromEntries(Object.entries(propertyDependencies).map(([key, urns]) => [key, urns.map(rename)])),
    };
  }
}
