import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { EngineError, messageOf } from "./errors";
import { type ResourceState } from "./format";
import { type DynamicHost, HostGone, InitError, type Made } from "./host";
import { settleDiff } from "./plan";
import { type Snapshot } from "./state";
import { type Changes, type Listener, type PropertyChange, type StepOp } from "./types";
import { providerType } from "./urns";
import { changedKeys, markSecretOutputs, masked, type PropertyMap } from "./values";

/**
 * A step failed, and its error has been reported. With `othersMayContinue`, nothing was attempted, so other steps may
 * run.
 */
export class StepFailed extends Error {
  constructor(
    readonly othersMayContinue: boolean,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

class Protected extends EngineError {}

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly snapshot: Snapshot;
  /** The provider host, which is started on first use. */
  readonly host: () => Promise<DynamicHost>;
  readonly emit: Listener;
}

interface About {
  /** The properties that cause the step. */
  readonly keys?: readonly string[] | undefined;
  /** The former inputs. */
  readonly before?: PropertyMap | undefined;
}

/** Executes steps: calls the provider, saves the state before and after, and reports events. */
export class Applier {
  readonly changes: Changes = {};

  constructor(private readonly options: ApplyOptions) {}

  same(old: ResourceState, fresh: ResourceState): Promise<void> {
    return this.#step("same", fresh, async () => {
      const { id, created, modified } = old;
      Object.assign(fresh, { id, created, modified, outputs: mark(fresh, old.outputs) });
      this.options.snapshot.put(fresh, old);
    });
  }

  /** @param replaced the resource that it replaces, which is deleted later or already deleted */
  create(fresh: ResourceState, replaced?: ResourceState, keys?: readonly string[]): Promise<void> {
    const { snapshot } = this.options;
    const record = ({ id, outputs }: Made): void => {
      const now = new Date().toISOString();
      Object.assign(fresh, { id, outputs: mark(fresh, outputs), created: now, modified: now });
      snapshot.put(fresh, replaced?.pendingReplacement ? replaced : undefined);
      if (replaced && !replaced.pendingReplacement) snapshot.change(replaced, { delete: true });
    };
    const work = (): Promise<void> => this.#make("creating", fresh, (host) => host.create(fresh), record);
    return this.#step(replaced ? "create-replacement" : "create", fresh, work, { keys, before: replaced?.inputs });
  }

  update(old: ResourceState, fresh: ResourceState, keys: readonly string[]): Promise<void> {
    const { id, created, modified, inputs: before } = old;
    Object.assign(fresh, { id, created, modified });
    const record = ({ outputs }: Made): void => {
      fresh.outputs = mark(fresh, outputs);
      if (fresh.custom) fresh.modified = new Date().toISOString();
      // Keep the old inputs after a partial update, so that the next run tries it again.
      if (fresh.initErrors) fresh.inputs = before;
      this.options.snapshot.put(fresh, old);
    };
    const work = (): Promise<void> => this.#make("updating", fresh, (host) => host.update(old, fresh), record);
    return this.#step("update", fresh, work, { keys, before });
  }

  /**
   * @param mode the reason: it was removed from the program (`removed`), it was replaced (`replaced`), it must be
   * deleted before its replacement is created (`making-room`), or it was deleted for a replacement that is no longer in
   * the program (`forgotten`)
   */
  delete(old: ResourceState, mode: "removed" | "replaced" | "making-room" | "forgotten"): Promise<void> {
    const { snapshot, dryRun } = this.options;
    const op = mode === "removed" ? "delete" : mode === "forgotten" ? "remove-pending-replace" : "delete-replaced";
    const record = (): void => {
      if (mode === "making-room") snapshot.change(old, { pendingReplacement: true });
      else snapshot.remove(old);
    };
    return this.#step(op, old, async () => {
      if (mode === "removed" && old.protect) throw new Protected(protectedMessage(old.urn));
      if (dryRun || !isManaged(old) || old.retainOnDelete || mode === "forgotten") record();
      else await this.#attempt("deleting", old, (host) => host.delete(old), record);
      await snapshot.save();
    });
  }

  /** Reports that a resource was replaced. Its deletion and creation are separate steps. */
  replaced(fresh: ResourceState, keys: readonly string[]): Promise<void> {
    return this.#step("replace", fresh, async () => undefined, { keys });
  }

  /** Reads the actual state of a resource and saves it. @returns whether it still exists */
  async refresh(old: ResourceState, count: boolean): Promise<boolean> {
    const { snapshot } = this.options;
    let result = "same" as "same" | "update" | "delete";
    await this.#step("refresh", old, async () => {
      if (isManaged(old) && !old.pendingReplacement) {
        const host = await this.options.host();
        const found = await host.read(old);
        if (!found) {
          result = "delete";
          snapshot.remove(old);
        } else {
          const { inputs: before, outputs } = old;
          const inputs = found.inputs ?? before;
          const same = isDeepStrictEqual(inputs, before) && isDeepStrictEqual(found.outputs, outputs);
          const now = { ...old, id: found.id, inputs, outputs: mark({ ...old, inputs }, found.outputs) };
          if (settleDiff(await host.diff(now, before), inputs, before).changed) result = "update";
          const { id, outputs: marked } = now;
          snapshot.change(old, { id, inputs, outputs: marked, initErrors: undefined });
          if (!same) snapshot.change(old, { modified: new Date().toISOString() });
        }
        await snapshot.save();
      }
      if (count) this.#count(result, old);
      return result;
    });
    return result !== "delete";
  }

  /** Creates or updates a resource. Without a provider, its outputs equal its inputs. */
  async #make(
    type: "creating" | "updating",
    fresh: ResourceState,
    call: (host: DynamicHost) => Promise<Made>,
    record: (made: Made) => void,
  ): Promise<void> {
    const { dryRun, snapshot } = this.options;
    if (!dryRun && isManaged(fresh)) return this.#attempt(type, fresh, call, record);
    const id = fresh.type === providerType && !dryRun ? (fresh.id ?? randomUUID()) : fresh.id;
    record({ id, outputs: fresh.custom ? fresh.inputs : {} });
    await snapshot.save();
  }

  /**
   * Calls the provider and records the result or the failure. An operation with an unknown result stays pending in the
   * state.
   */
  async #attempt<T>(
    type: "creating" | "updating" | "deleting",
    resource: ResourceState,
    call: (host: DynamicHost) => Promise<T>,
    record: (response: T) => void,
  ): Promise<void> {
    const end = await this.options.snapshot.begin(type, resource);
    try {
      const response = await call(await this.options.host());
      // End the pending operation and record the response together: another step may save the state at any moment.
      end();
      record(response);
    } catch (error) {
      if (!(error instanceof HostGone)) end();
      if (error instanceof InitError) {
        resource.initErrors = error.reasons;
        record(error as T);
      }
      throw error;
    } finally {
      await this.options.snapshot.save();
    }
  }

  #count(op: keyof Changes, { type }: ResourceState): void {
    if (type !== providerType) this.changes[op] = (this.changes[op] ?? 0) + 1;
  }

  async #step(
    op: StepOp,
    resource: ResourceState,
    work: () => Promise<"same" | "update" | "delete" | void>,
    { keys, before }: About = {},
  ): Promise<void> {
    const { urn, type } = resource;
    // Events of the default provider are not reported.
    const emit: Listener = type === providerType ? () => undefined : this.options.emit;
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const differs = op === "create" || op === "update" || op === "create-replacement";
    const changes = differs ? inputChanges(before ?? {}, resource.inputs) : undefined;
    emit({ kind: "start", op, urn, type });
    try {
      const result = (await work()) ?? undefined;
      if (op === "create" || op === "update" || op === "delete" || op === "replace" || op === "same") {
        this.#count(op, resource);
      }
      emit({ kind: "done", op, result, urn, type, seconds: seconds(), keys, changes });
    } catch (error) {
      this.options.emit({ kind: "diagnostic", severity: "error", urn, message: messageOf(error) });
      emit({ kind: "failed", op, urn, type, seconds: seconds(), changes });
      throw new StepFailed(error instanceof Protected, error);
    }
  }
}

/** Whether the provider host manages the resource. */
function isManaged({ custom, type }: ResourceState): boolean {
  return custom && type !== providerType;
}

function mark({ inputs, additionalSecretOutputs = [] }: ResourceState, outputs: PropertyMap): PropertyMap {
  return markSecretOutputs(outputs, inputs, additionalSecretOutputs);
}

/** The changed inputs, for display, without the SDK's own properties, which start with `__`. */
function inputChanges(before: PropertyMap, after: PropertyMap): PropertyChange[] {
  const names = changedKeys(before, after).filter((name) => !name.startsWith("__"));
  const shown = (values: PropertyMap, name: string): unknown =>
    name in values ? masked(values[name] ?? null) : undefined;
  return names.map((name) => ({ name, before: shown(before, name), after: shown(after, name) }));
}

function protectedMessage(urn: string): string {
  return (
    `resource ${JSON.stringify(urn)} cannot be deleted\nbecause it is protected. To unprotect the resource, remove the ` +
    "`protect` flag from the resource in your Pulumi program and run `rekey-local up`"
  );
}
