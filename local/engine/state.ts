import { mkdirSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { EngineError, messageOf, readable } from "./errors";
import {
  fixState,
  type PendingOperation,
  type ResourceState,
  resourceText,
  type StackState,
  stateText,
} from "./format";
import { type Crypter } from "./secrets";

/** Reads a state file; undefined if it does not exist. */
export function readState(path: string): unknown {
  return readable(`the state file ${path}`, fixState, () => {
    try {
      return JSON.parse(readFileSync(path, "utf8")) as unknown;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  });
}

/**
 * Replaces a file atomically, so that after a power failure either the old or the new content is complete.
 * @param advice what to do about changes that could not be saved
 */
export async function writeSynced(path: string, text: string, advice?: string): Promise<void> {
  // A fixed name, so that the next operation overwrites the partial file of a killed engine.
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
        `${path} contains the last saved state. Free some space, or make the folder writable.` +
        (advice === undefined ? "" : ` ${advice}`),
      { cause: error },
    );
  }
}

/**
 * The state during an operation: the resources that this run created or kept, followed by those that it has not
 * processed yet. In both lists, resources follow their dependencies. `save` resolves when the changes are on disk;
 * changes during a write share the next one.
 */
export class Snapshot {
  readonly #news: ResourceState[] = [];
  readonly #olds: ResourceState[];
  readonly #pending = new Set<PendingOperation>();
  readonly #texts = new WeakMap<ResourceState, string>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** @param path the state file; undefined for a preview, which saves nothing */
  constructor(
    { resources, pending }: StackState,
    private readonly crypter: Crypter,
    private readonly path: string | undefined,
    private readonly unsavedChangeAdvice?: string,
  ) {
    this.#olds = [...resources];
    // Unconfirmed creates stay pending until the user clears them.
    for (const operation of pending) if (operation.type === "creating") this.#pending.add(operation);
  }

  get state(): StackState {
    return { resources: [...this.#news, ...this.#olds], pending: [...this.#pending] };
  }

  clearInterrupted(): void {
    this.#pending.clear();
  }

  /** Saves a pending operation. @returns a function that removes it from the next write */
  async begin(type: "creating" | "updating" | "deleting", resource: ResourceState): Promise<() => void> {
    const operation = { type, resource };
    this.#pending.add(operation);
    await this.save();
    return () => this.#pending.delete(operation);
  }

  /**
   * Adds a resource that this run created or kept, and removes the old one that it replaces. Nothing is written yet.
   */
  put(resource: ResourceState, replaced?: ResourceState): void {
    this.change(resource, {});
    this.#news.push(resource);
    if (!replaced) return;
    this.remove(replaced);
    if (replaced.urn === resource.urn) return;
    // Update references to the URN that the resource had before an alias.
    for (const old of this.#olds) {
      this.change(
        old,
        changeReferences(old, (urn) => (urn === replaced.urn ? resource.urn : urn)),
      );
    }
  }

  /** Changes a resource of the state. Nothing is written yet. */
  change(resource: ResourceState, changes: Partial<ResourceState>): void {
    Object.assign(resource, changes);
    this.#texts.delete(resource);
  }

  remove(resource: ResourceState): void {
    for (const list of [this.#news, this.#olds]) if (list.includes(resource)) list.splice(list.indexOf(resource), 1);
  }

  /** Resolves when all changes before the call are on disk. */
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

/** A resource's references, each replaced or, for undefined, removed. */
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
