import { mkdirSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { EngineError, messageOf, readable } from "./errors";
import {
  mendState,
  type PendingOperation,
  type ResourceState,
  resourceText,
  type StackState,
  stateText,
} from "./format";
import { type Crypter } from "./secrets";

/** Reads a state file; undefined when there is none. */
export function readState(path: string): unknown {
  return readable(`the state file ${path}`, mendState, () => {
    try {
      return JSON.parse(readFileSync(path, "utf8")) as unknown;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  });
}

/**
 * Replaces a file so that, whenever the power goes, either the old or the new one is there, whole.
 * @param advice what to do about changes that were to be saved, if there may be any
 */
export async function writeSynced(path: string, text: string, advice?: string): Promise<void> {
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
    if (process.platform === "win32") return;
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw new EngineError(
      `the state cannot be written: ${messageOf(error)}.\n` +
        `${path} holds what was saved last. Free some space, or make the folder writable.` +
        (advice === undefined ? "" : ` ${advice}`),
      { cause: error },
    );
  }
}

/**
 * The state while an operation runs: what this run made or kept, followed by what it has not come to yet; each list is
 * in an order in which every resource comes after what it depends on. Every change is on disk before the promise for it
 * resolves; changes that come while a write runs share the next one.
 */
export class Snapshot {
  readonly #news: ResourceState[] = [];
  readonly #olds: ResourceState[];
  readonly #pending = new Set<PendingOperation>();
  readonly #texts = new WeakMap<ResourceState, string>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** @param path where it is saved; undefined for a preview, which saves nothing */
  constructor(
    { resources, pending }: StackState,
    private readonly crypter: Crypter,
    private readonly path: string | undefined,
    private readonly unsavedChangeAdvice?: string,
  ) {
    this.#olds = [...resources];
    // Creates that were never confirmed stay until a person says what became of them.
    for (const operation of pending) if (operation.type === "creating") this.#pending.add(operation);
  }

  get state(): StackState {
    return { resources: [...this.#news, ...this.#olds], pending: [...this.#pending] };
  }

  clearInterrupted(): void {
    this.#pending.clear();
  }

  /** Notes on disk what is about to be done; the function it gives takes the note off the next write. */
  async begin(type: "creating" | "updating" | "deleting", resource: ResourceState): Promise<() => void> {
    const operation = { type, resource };
    this.#pending.add(operation);
    await this.save();
    return () => this.#pending.delete(operation);
  }

  /** Adds a resource that this run made or kept, in the place of an old one. Nothing is written yet. */
  put(resource: ResourceState, instead?: ResourceState): void {
    this.change(resource, {});
    this.#news.push(resource);
    if (!instead) return;
    this.remove(instead);
    if (instead.urn === resource.urn) return;
    // What refers to a resource by the name it had before an alias refers to the new one.
    for (const old of this.#olds) {
      this.change(
        old,
        changeReferences(old, (urn) => (urn === instead.urn ? resource.urn : urn)),
      );
    }
  }

  /** Changes a resource that is in the state already. Nothing is written yet. */
  change(resource: ResourceState, changes: Partial<ResourceState>): void {
    Object.assign(resource, changes);
    this.#texts.delete(resource);
  }

  remove(resource: ResourceState): void {
    for (const list of [this.#news, this.#olds]) if (list.includes(resource)) list.splice(list.indexOf(resource), 1);
  }

  /** Resolves when all that was changed before the call is on disk. */
  save(): Promise<void> {
    const { path } = this;
    if (path === undefined) return Promise.resolve();
    this.#next ??= this.#running.then(() => {
      const written = writeSynced(
        path,
        stateText(this.state, this.crypter.salt, (resource) => this.#textOf(resource)),
        this.unsavedChangeAdvice,
      );
      this.#next = undefined;
      this.#running = written.catch(() => undefined);
      return written;
    });
    return this.#next;
  }

  #textOf(resource: ResourceState): string {
    const text = this.#texts.get(resource) ?? resourceText(resource, this.crypter);
    this.#texts.set(resource, text);
    return text;
  }
}

/** A resource's references, each changed or, for undefined, left out. */
export function changeReferences(
  { parent, dependencies, propertyDependencies }: ResourceState,
  change: (urn: string) => string | undefined,
): Partial<ResourceState> {
  const all = (urns: string[]): string[] => urns.map(change).filter((urn) => urn !== undefined);
  const properties = Object.entries(propertyDependencies ?? {}).map(([key, urns]) => [key, all(urns)] as const);
  return {
    ...(parent && { parent: change(parent) }),
    ...(dependencies && { dependencies: all(dependencies) }),
    ...(propertyDependencies && { propertyDependencies: Object.fromEntries(properties) }),
  };
}
