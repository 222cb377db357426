import { randomUUID } from "node:crypto";
import { messageOf } from "./errors";
import { type DynamicHost, HostGone, InitError } from "./host";
import { settleDiff } from "./plan";
import { type Snapshot } from "./state";
import { type Changes, type Listener, providerType, type ResourceState, type StepOp } from "./types";
import { markSecretOutputs, sameValue, type PropertyMap } from "./values";

/** A step that was not done; it has been reported already. `goOn`: nothing was attempted, so that other steps may go on. */
export class StepFailed extends Error {
  constructor(
    readonly resource: ResourceState,
    readonly goOn: boolean,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}

class Protected extends Error {}

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly snapshot: Snapshot;
  /** Gives the provider host, started on first use. */
  readonly host: () => Promise<DynamicHost>;
  readonly emit: Listener;
}

/** Carries out steps: asks the provider, writes the state down before and after, and tells what happened. */
export class Applier {
  readonly changes: Changes = {};

  constructor(private readonly options: ApplyOptions) {}

  async same(old: ResourceState, fresh: ResourceState): Promise<void> {
    await this.step("same", fresh, async () => {
      Object.assign(fresh, {
        id: old.id,
        outputs: mark(fresh, old.outputs),
        created: old.created,
        modified: old.modified,
      });
      this.options.snapshot.put(fresh, old);
    });
  }

  /** @param replaced what it takes the place of, to be deleted later or deleted already */
  async create(fresh: ResourceState, replaced?: ResourceState, keys?: readonly string[]): Promise<void> {
    const { snapshot, dryRun } = this.options;
    const save = async (id: string | undefined, outputs: PropertyMap): Promise<void> => {
      const now = new Date().toISOString();
      Object.assign(fresh, { id, outputs: mark(fresh, outputs), created: now, modified: now });
      snapshot.changed(fresh);
      if (replaced?.pendingReplacement === true) snapshot.put(fresh, replaced);
      else {
        if (replaced) replaced.delete = true;
        if (replaced) snapshot.changed(replaced);
        snapshot.put(fresh);
      }
      await snapshot.save();
    };
    const work: Work = async () => {
      if (dryRun) return save(undefined, fresh.custom ? fresh.inputs : {});
      if (fresh.type === providerType) return save(randomUUID(), fresh.inputs);
      if (!fresh.custom) return save(undefined, {});
      const end = await snapshot.begin("creating", fresh);
      await this.settle(fresh, end, save, async (host) => {
        const made = await host.create(fresh.urn, fresh.inputs, fresh.customTimeouts?.create ?? 0);
        return save.bind(undefined, made.id, made.outputs);
      });
    };
    await this.step(replaced ? "create-replacement" : "create", fresh, work, keys);
  }

  async update(old: ResourceState, fresh: ResourceState, keys?: readonly string[]): Promise<void> {
    const { snapshot, dryRun } = this.options;
    Object.assign(fresh, { id: old.id, created: old.created, modified: old.modified });
    const save = async (_id: string | undefined, outputs: PropertyMap): Promise<void> => {
      fresh.outputs = mark(fresh, outputs);
      if (fresh.custom) fresh.modified = new Date().toISOString();
      // A half-done update was not made with the new inputs as a whole: the old ones stay, so that it is tried again.
      if (fresh.initErrors) fresh.inputs = old.inputs;
      snapshot.changed(fresh);
      snapshot.put(fresh, old);
      await snapshot.save();
    };
    const work: Work = async () => {
      if (dryRun || !fresh.custom || fresh.type === providerType)
        return save(undefined, fresh.custom ? fresh.inputs : {});
      const end = await snapshot.begin("updating", fresh);
      await this.settle(fresh, end, save, async (host) => {
        const options = { timeout: fresh.customTimeouts?.update ?? 0, ignoreChanges: fresh.ignoreChanges ?? [] };
        const outputs = await host.update(fresh.urn, old.id ?? "", old, fresh.inputs, options);
        return save.bind(undefined, undefined, outputs);
      });
    };
    await this.step("update", fresh, work, keys);
  }

  /** @param mode why: it is gone from the program, it was replaced, or it makes room for what will replace it */
  async delete(old: ResourceState, mode: "removed" | "replaced" | "making-room"): Promise<void> {
    const { snapshot, dryRun } = this.options;
    await this.step(mode === "removed" ? "delete" : "delete-replaced", old, async () => {
      if (mode === "removed" && old.protect === true) throw new Protected(protectedMessage(old.urn));
      if (!dryRun && old.custom && old.type !== providerType && old.retainOnDelete !== true) {
        const end = await snapshot.begin("deleting", old);
        try {
          const host = await this.options.host();
          await host.delete(old.urn, old.id ?? "", old, old.customTimeouts?.delete ?? 0);
        } catch (error) {
          // What nobody knows the end of stays written down as pending.
          if (!(error instanceof HostGone)) end();
          await snapshot.save();
          throw error;
        }
        end();
      }
      if (mode === "making-room") {
        old.pendingReplacement = true;
        snapshot.changed(old);
      } else snapshot.remove(old);
      await snapshot.save();
    });
  }

  /** Takes out of the state what was deleted for a replacement that is wanted no more. */
  async forget(old: ResourceState): Promise<void> {
    await this.step("remove-pending-replace", old, async () => {
      this.options.snapshot.remove(old);
      await this.options.snapshot.save();
    });
  }

  /** Tells that a resource was replaced; its parts are steps of their own. */
  async replaced(fresh: ResourceState, keys: readonly string[]): Promise<void> {
    await this.step("replace", fresh, async () => undefined, keys);
  }

  /** Reads what a resource is now. @returns undefined when it is gone */
  async refresh(old: ResourceState, count: boolean): Promise<ResourceState | undefined> {
    const { snapshot } = this.options;
    if (!old.custom || old.type === providerType || old.pendingReplacement === true) {
      await this.step("refresh", old, async () => this.count(old, "same", count));
      return old;
    }
    let fresh: ResourceState | undefined;
    await this.step("refresh", old, async () => {
      const host = await this.options.host();
      const found = await host.read(old.urn, old.id ?? "", old).catch((error: unknown) => {
        if (!(error instanceof InitError)) throw error;
        const message = `Refreshed resource is in an unhealthy state:\n* ${error.reasons.join("\n* ")}`;
        this.options.emit({ kind: "diagnostic", severity: "warning", urn: old.urn, message });
        return { id: error.id, inputs: undefined, outputs: error.properties, initErrors: error.reasons };
      });
      if (!found) {
        snapshot.remove(old);
        await snapshot.save();
        return this.count(old, "delete", count);
      }
      const inputs = found.inputs ?? old.inputs;
      const initErrors = "initErrors" in found ? found.initErrors : undefined;
      fresh = { ...old, id: found.id, inputs, initErrors };
      fresh.outputs = mark(fresh, found.outputs);
      if (!sameValue(inputs, old.inputs) || !sameValue(found.outputs, old.outputs))
        fresh.modified = new Date().toISOString();
      const answer = await host.diff(old.urn, found.id, inputs, fresh.outputs, old.inputs);
      snapshot.replace(old, fresh);
      await snapshot.save();
      return this.count(old, settleDiff(answer, inputs, old.inputs).changed ? "update" : "same", count);
    });
    return fresh;
  }

  /** Asks the provider to make or change something, and writes down what came of it, good or bad. */
  private async settle(
    fresh: ResourceState,
    end: () => void,
    save: (id: string | undefined, outputs: PropertyMap) => Promise<void>,
    ask: (host: DynamicHost) => Promise<() => Promise<void>>,
  ): Promise<void> {
    let saveAnswer: () => Promise<void>;
    try {
      saveAnswer = await ask(await this.options.host());
    } catch (error) {
      if (!(error instanceof HostGone)) end();
      if (error instanceof InitError) {
        fresh.initErrors = error.reasons;
        await save(error.id, error.properties);
      } else await this.options.snapshot.save();
      throw error;
    }
    end();
    await saveAnswer();
  }

  private count(
    resource: ResourceState,
    result: "same" | "update" | "delete",
    count: boolean,
  ): "same" | "update" | "delete" {
    if (count && resource.type !== providerType) this.changes[result] = (this.changes[result] ?? 0) + 1;
    return result;
  }

  private async step(op: StepOp, resource: ResourceState, work: Work, keys?: readonly string[]): Promise<void> {
    const { urn, type } = resource;
    // The default provider is our own affair.
    const emit: Listener = type === providerType ? () => undefined : this.options.emit;
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    emit({ kind: "start", op, urn, type });
    try {
      const result = (await work()) ?? undefined;
      const counted = op === "create" || op === "update" || op === "delete" || op === "replace" || op === "same";
      if (counted && type !== providerType) this.changes[op] = (this.changes[op] ?? 0) + 1;
      emit({ kind: "done", op, result, urn, type, seconds: seconds(), keys });
    } catch (error) {
      this.options.emit({ kind: "diagnostic", severity: "error", urn, message: messageOf(error) });
      emit({ kind: "failed", op, urn, type, seconds: seconds() });
      throw new StepFailed(resource, error instanceof Protected, error);
    }
  }
}

type Work = () => Promise<"same" | "update" | "delete" | undefined | void>;

function mark(fresh: ResourceState, outputs: PropertyMap): PropertyMap {
  return markSecretOutputs(outputs, fresh.inputs, fresh.additionalSecretOutputs ?? []);
}

function protectedMessage(urn: string): string {
  return (
    `resource ${JSON.stringify(urn)} cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the ` +
    "`protect` flag from the resource in your Pulumi program and run `pulumi up`, or use the command:\n" +
    `\`pulumi state unprotect '${urn}'\``
  );
}
