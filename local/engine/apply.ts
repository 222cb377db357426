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
 * A step that was not done; it has been reported already. `goOn`: nothing was attempted, so that other steps may go on.
 */
export class StepFailed extends Error {
  constructor(
    readonly goOn: boolean,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

class Protected extends EngineError {}

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly snapshot: Snapshot;
  /** Gives the provider host, started on first use. */
  readonly host: () => Promise<DynamicHost>;
  readonly emit: Listener;
}

interface About {
  /** The properties for which the step is taken. */
  readonly keys?: readonly string[] | undefined;
  /** The inputs before. */
  readonly before?: PropertyMap | undefined;
}

/** Carries out steps: asks the provider, writes the state down before and after, and tells what happened. */
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

  /** @param replaced what it takes the place of, to be deleted later or deleted already */
  create(fresh: ResourceState, replaced?: ResourceState, keys?: readonly string[]): Promise<void> {
    const { snapshot } = this.options;
    const note = ({ id, outputs }: Made): void => {
      const now = new Date().toISOString();
      Object.assign(fresh, { id, outputs: mark(fresh, outputs), created: now, modified: now });
      snapshot.put(fresh, replaced?.pendingReplacement ? replaced : undefined);
      if (replaced && !replaced.pendingReplacement) snapshot.change(replaced, { delete: true });
    };
    const work = (): Promise<void> => this.#make("creating", fresh, (host) => host.create(fresh), note);
    return this.#step(replaced ? "create-replacement" : "create", fresh, work, { keys, before: replaced?.inputs });
  }

  update(old: ResourceState, fresh: ResourceState, keys: readonly string[]): Promise<void> {
    const { id, created, modified, inputs: before } = old;
    Object.assign(fresh, { id, created, modified });
    const note = ({ outputs }: Made): void => {
      fresh.outputs = mark(fresh, outputs);
      if (fresh.custom) fresh.modified = new Date().toISOString();
      // A half-done update was not made with the new inputs as a whole: the old ones stay, so that it is tried again.
      if (fresh.initErrors) fresh.inputs = before;
      this.options.snapshot.put(fresh, old);
    };
    const work = (): Promise<void> => this.#make("updating", fresh, (host) => host.update(old, fresh), note);
    return this.#step("update", fresh, work, { keys, before });
  }

  /**
   * @param mode why: it is gone from the program, it was replaced, it makes room for what will replace it, or it made
   * room for what is wanted no more
   */
  delete(old: ResourceState, mode: "removed" | "replaced" | "making-room" | "forgotten"): Promise<void> {
    const { snapshot, dryRun } = this.options;
    const op = mode === "removed" ? "delete" : mode === "forgotten" ? "remove-pending-replace" : "delete-replaced";
    const note = (): void => {
      if (mode === "making-room") snapshot.change(old, { pendingReplacement: true });
      else snapshot.remove(old);
    };
    return this.#step(op, old, async () => {
      if (mode === "removed" && old.protect) throw new Protected(protectedMessage(old.urn));
      if (dryRun || !isManaged(old) || old.retainOnDelete || mode === "forgotten") note();
      else await this.#attempt("deleting", old, (host) => host.delete(old), note);
      await snapshot.save();
    });
  }

  /** Tells that a resource was replaced; its parts are steps of their own. */
  replaced(fresh: ResourceState, keys: readonly string[]): Promise<void> {
    return this.#step("replace", fresh, async () => undefined, { keys });
  }

  /** Reads what a resource is now, and writes it down. @returns whether it is still there */
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

  /** Makes or changes a resource; what no provider is asked for comes out as it went in. */
  async #make(
    type: "creating" | "updating",
    fresh: ResourceState,
    ask: (host: DynamicHost) => Promise<Made>,
    note: (made: Made) => void,
  ): Promise<void> {
    const { dryRun, snapshot } = this.options;
    if (!dryRun && isManaged(fresh)) return this.#attempt(type, fresh, ask, note);
    const id = fresh.type === providerType && !dryRun ? (fresh.id ?? randomUUID()) : fresh.id;
    note({ id, outputs: fresh.custom ? fresh.inputs : {} });
    await snapshot.save();
  }

  /**
   * Has the provider do something, and notes what came of it, good or bad. What nobody knows the end of stays written
   * down as pending.
   */
  async #attempt<T>(
    type: "creating" | "updating" | "deleting",
    resource: ResourceState,
    ask: (host: DynamicHost) => Promise<T>,
    note: (answer: T) => void,
  ): Promise<void> {
    const end = await this.options.snapshot.begin(type, resource);
    try {
      const answer = await ask(await this.options.host());
      // The answer is noted with the end, at once: another's write may come at any moment.
      end();
      note(answer);
    } catch (error) {
      if (!(error instanceof HostGone)) end();
      if (error instanceof InitError) {
        resource.initErrors = error.reasons;
        note(error as T);
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
    // The default provider is our own affair.
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

/** What is different, for people; the SDK's own properties, which begin with `__`, say nothing to them. */
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
