import { Applier, type ApplyOptions, StepFailed } from "./apply";
import { EngineError, messageOf } from "./errors";
import { deletionWaves, dependentsOf, dropLost, neededBy } from "./graph";
import { ignoreChanges } from "./paths";
import { applyReplaceOnChanges, componentDiff, type Diff, planStep, settleDiff } from "./plan";
import { Slots } from "./slots";
import { type Snapshot } from "./state";
import { type Goal, type Listener, providerType, type ResourceState, type Severity, stackType } from "./types";
import { aliasUrns, makeUrn } from "./urns";
import { isList, type PropertyMap, type PropertyValue, sameValue, Secret, Unknown } from "./values";

export interface DeploymentOptions extends ApplyOptions {
  readonly project: string;
  readonly stack: string;
  readonly parallel: number;
  readonly olds: ResourceState[];
  /** The stack's configuration, which the provider gets and keeps in the state. */
  readonly config: PropertyMap;
}

/** The operation has ended, or is about to: nothing more is taken. */
export class Closed extends Error {}

/** The program wants something that cannot be. */
class Refused extends Error {
  constructor(
    readonly urn: string,
    readonly messages: readonly string[],
  ) {
    super(messages.join("\n"));
  }
}

type Chain = (() => Promise<void>)[];
type Outcome = "running" | "succeeded" | "refused" | "failed" | "canceled";

/**
 * One operation on a stack: decides for each resource of the program, in the order they come, what is to be done, and has it
 * done, as many at a time as allowed. After a failure what runs finishes, and nothing else begins.
 */
export class Deployment {
  readonly applier: Applier;
  outcome: Outcome = "running";
  /** Resolves when the operation stops before its end. */
  readonly stopped: Promise<void>;
  private readonly slots: Slots;
  private readonly snapshot: Snapshot;
  private readonly emit: Listener;
  private olds: ResourceState[];
  private byUrn: Map<string, ResourceState>;
  private queue: Promise<void> = Promise.resolve();
  private finished: Promise<void> | undefined;
  private readonly goals = new Map<string, Goal>();
  private readonly made = new Map<string, ResourceState>();
  /** Old resources that the program still has. */
  private readonly kept = new Set<ResourceState>();
  private readonly aliasOf = new Map<string, string>();
  private readonly madeRoom = new Set<ResourceState>();
  private provider: Promise<string> | undefined;
  private stackOutputs: PropertyMap | undefined;
  private stop: () => void = () => undefined;
  private close: (error: Error) => void = () => undefined;
  private readonly closed: Promise<never>;

  constructor(private readonly options: DeploymentOptions) {
    this.applier = new Applier(options);
    this.slots = new Slots(options.parallel);
    this.snapshot = options.snapshot;
    this.emit = options.emit;
    this.olds = options.olds;
    this.byUrn = byUrn(this.olds);
    this.stopped = new Promise((resolve) => (this.stop = resolve));
    this.closed = new Promise((_, reject) => (this.close = reject));
    this.closed.catch(() => undefined);
  }

  /** Does what is to be done about one resource. @throws Closed when the operation ended first */
  async register(goal: Goal): Promise<{ urn: string; id: string | undefined; outputs: PropertyMap }> {
    const registered = new Promise<ResourceState>((resolve) => {
      this.queue = this.queue.then(() => this.handle(goal, resolve));
    });
    const { urn, id, outputs } = await Promise.race([registered, this.closed]);
    // A component's outputs are what the program says at its end; what the state has may refer to what is not there yet.
    return { urn, id, outputs: goal.custom ? outputs : {} };
  }

  async registerOutputs(urn: string, outputs: PropertyMap): Promise<void> {
    const resource = this.made.get(urn);
    if (!resource) throw new EngineError(`cannot complete ${urn}, which is not registered`);
    if (resource.type === stackType) {
      // Whether old outputs may be dropped is known at the end.
      this.stackOutputs = outputs;
      return;
    }
    if (sameValue(resource.outputs, outputs)) return;
    resource.outputs = outputs;
    this.snapshot.changed(resource);
    await this.snapshot.save();
  }

  /** The outputs that the program has given for the stack so far. */
  get outputs(): PropertyMap | undefined {
    return this.stackOutputs;
  }

  /** Ends the operation for a reason that lies outside its steps. */
  fail(outcome: "refused" | "failed" | "canceled", message?: string, urn?: string): void {
    if (message !== undefined) this.report("error", message, urn);
    if (this.outcome === "running") this.outcome = outcome;
    this.stop();
  }

  report(severity: Severity, message: string, urn?: string): void {
    this.emit({ kind: "diagnostic", severity, urn, message });
  }

  /** Reads every resource anew. With `alone`, that is all there is to do, and is counted. */
  async refresh(alone: boolean): Promise<void> {
    const parents = new Map(this.olds.map(({ urn, parent }) => [urn, parent]));
    const failures: unknown[] = [];
    const found = await Promise.all(
      this.olds.map(async (old) => {
        await this.slots.take();
        try {
          return this.outcome === "running" ? await this.applier.refresh(old, alone) : old;
        } catch (error) {
          failures.push(error);
          return old;
        } finally {
          this.slots.give();
        }
      }),
    );
    this.olds = found.filter((resource) => resource !== undefined);
    dropLost(this.olds, parents);
    for (const resource of this.olds) this.snapshot.changed(resource);
    this.byUrn = byUrn(this.olds);
    await this.snapshot.save();
    if (failures.length > 0) this.fail("failed");
  }

  /** Called when the program has said all it has to say: deletes what it has no more. May be called twice. */
  finish(): Promise<void> {
    this.finished ??= (async () => {
      await this.settled();
      if (this.outcome === "running") await this.deleteTheRest();
      if (this.outcome === "running") this.outcome = "succeeded";
    })();
    return this.finished;
  }

  /** Waits for what runs, writes the stack's outputs down, and turns away whoever still waits. */
  async end(): Promise<void> {
    await this.settled();
    await this.finished?.catch(() => undefined);
    const stack = [...this.made.values()].find(({ type }) => type === stackType);
    if (stack && this.stackOutputs) {
      // After a failure an output that is missing may only not have been reached.
      const before = this.outcome === "succeeded" ? {} : (this.byUrn.get(stack.urn)?.outputs ?? {});
      stack.outputs = { ...before, ...this.stackOutputs };
      this.snapshot.changed(stack);
    }
    await this.snapshot.save();
    this.close(new Closed());
  }

  private async settled(): Promise<void> {
    // Whoever waits in the queue may start something that runs, and the other way round.
    for (let queue; queue !== this.queue;) {
      queue = this.queue;
      await queue;
      await this.slots.whenIdle();
    }
  }

  private async handle(goal: Goal, done: (resource: ResourceState) => void): Promise<void> {
    if (this.outcome !== "running") return;
    const urn = makeUrn(this.options.stack, this.options.project, goal.parent, goal.type, goal.name);
    let chain: Chain;
    let fresh: ResourceState;
    try {
      [fresh, chain] = await this.decide(urn, goal);
    } catch (error) {
      const messages = error instanceof Refused ? error.messages : [messageOf(error)];
      for (const message of messages) this.report("error", message, urn);
      return this.fail("refused");
    }
    // As the engine does it, the next decision waits until somebody is free to carry this one out.
    await this.slots.take();
    // What the program sends in the same breath is looked at first: it may be a reason to do nothing at all.
    setImmediate(() => {
      void this.run(chain)
        .then((completed) => completed && done(fresh))
        .finally(() => this.slots.give());
    });
  }

  private async run(chain: Chain): Promise<boolean> {
    for (const step of chain) {
      if (this.outcome !== "running") return false;
      try {
        await step();
      } catch (error) {
        if (!(error instanceof StepFailed)) this.report("error", messageOf(error));
        if (!(error instanceof StepFailed && error.goOn)) this.fail("failed");
        return false;
      }
    }
    return true;
  }

  private async decide(urn: string, goal: Goal): Promise<[ResourceState, Chain]> {
    if (this.goals.has(urn)) throw new Refused(urn, [`Duplicate resource URN '${urn}'; try giving it a unique name`]);
    const parent = goal.parent === undefined ? undefined : this.goals.get(goal.parent);
    const inherited = {
      protect: goal.protect ?? parent?.protect,
      retainOnDelete: goal.retainOnDelete ?? parent?.retainOnDelete,
    };
    const wanted = { ...goal, ...inherited };
    this.goals.set(urn, wanted);
    const old = this.findOld(urn, wanted);
    const fresh = newState(urn, wanted, goal.custom ? await this.defaultProvider() : undefined);
    this.made.set(urn, fresh);
    if (old) this.kept.add(old);
    const recreating = old !== undefined && this.madeRoom.has(old);

    fresh.inputs = wanted.inputs;
    if (old && !recreating) {
      const { inputs, invalid } = ignoreChanges(wanted.inputs, old.inputs, wanted.ignoreChanges);
      fresh.inputs = inputs;
      if (invalid.length > 0) {
        const paths = JSON.stringify(invalid.join(", "));
        this.report("info", `cannot ignore changes in added or removed elements of the path: ${paths}`, urn);
      }
    }
    if (goal.custom) fresh.inputs = await this.check(urn, goal, recreating ? undefined : old, fresh.inputs);
    const diff = old && !recreating ? await this.diff(old, fresh) : componentDiff(false);
    const plan = planStep(old, recreating, diff, wanted);
    switch (plan.do) {
      case "create":
        return [fresh, [() => this.applier.create(fresh)]];
      case "same":
        return [fresh, [() => this.applier.same(required(old), fresh)]];
      case "update":
        return [fresh, [() => this.applier.update(required(old), fresh, plan.keys)]];
      case "refuse":
        throw new Refused(urn, [plan.why]);
      case "replace": {
        // What the provider carried over from the old resource does not hold for a new one.
        if (goal.custom && !recreating) fresh.inputs = await this.check(urn, goal, undefined, goal.inputs);
        return [fresh, await this.replacement(required(old), fresh, plan, recreating)];
      }
    }
  }

  private async replacement(
    old: ResourceState,
    fresh: ResourceState,
    plan: { keys: readonly string[]; deleteFirst: boolean },
    recreating: boolean,
  ): Promise<Chain> {
    const create = (): Promise<void> => this.applier.create(fresh, old, plan.keys);
    const tell = (): Promise<void> => this.applier.replaced(fresh, plan.keys);
    if (recreating) return [tell, create];
    if (!plan.deleteFirst) return [create, tell];
    const condemned = old.pendingReplacement === true ? [] : [old];
    condemned.push(...(await this.replacedWith(old)));
    const deletes = condemned.reverse().map((resource) => () => this.applier.delete(resource, "making-room"));
    return [...deletes, tell, create];
  }

  /** What depends on a resource that must be deleted first, and would be replaced itself if that one's outputs changed. */
  private async replacedWith(root: ResourceState): Promise<ResourceState[]> {
    const replaced = new Set([root.urn]);
    const found: ResourceState[] = [];
    for (const candidate of dependentsOf(root, this.olds, this.kept)) {
      const changing = Object.entries(candidate.propertyDependencies ?? {})
        .filter(([, urns]) => urns.some((urn) => replaced.has(urn)))
        .map(([key]) => key)
        .filter((key) => key in candidate.inputs);
      if (!candidate.custom || changing.length === 0 || this.madeRoom.has(candidate)) continue;
      const news = { ...candidate.inputs, ...Object.fromEntries(changing.map((key) => [key, Unknown.value])) };
      const host = await this.options.host();
      const answer = await host.diff(candidate.urn, candidate.id ?? "", candidate.inputs, candidate.outputs, news);
      const diff = applyReplaceOnChanges(
        settleDiff(answer, candidate.inputs, news),
        candidate.replaceOnChanges ?? [],
        false,
      );
      if (diff.replaces.length === 0) continue;
      if (candidate.protect === true) {
        throw new Refused(root.urn, [
          `unable to replace resource ${JSON.stringify(candidate.urn)} as part of replacing ${JSON.stringify(root.urn)} as it is ` +
            "currently marked for protection. To unprotect the resource, remove the `protect` flag from the resource in your " +
            "Pulumi program and run `pulumi up`",
        ]);
      }
      replaced.add(candidate.urn);
      this.madeRoom.add(candidate);
      found.push(candidate);
    }
    return found;
  }

  private async check(
    urn: string,
    goal: Goal,
    old: ResourceState | undefined,
    news: PropertyMap,
  ): Promise<PropertyMap> {
    const host = await this.options.host();
    const { inputs, failures } = await host.check(urn, old?.inputs ?? {}, news);
    if (failures.length === 0) return inputs;
    const messages = failures.map(({ property, reason }) => {
      const about = `${goal.type} resource '${goal.name}'`;
      if (property === "") return `${about} has a problem: ${reason}`;
      return `${about}: property ${property} value {${shown(goal.inputs[property])}} has a problem: ${reason}`;
    });
    throw new Refused(urn, messages);
  }

  private async diff(old: ResourceState, fresh: ResourceState): Promise<Diff> {
    if (old.custom !== fresh.custom)
      return { changed: true, replaces: ["provider"], deleteBeforeReplace: false, keys: [] };
    if (!fresh.custom) return componentDiff(!sameValue(old.inputs, fresh.inputs));
    const host = await this.options.host();
    const answer = await host.diff(fresh.urn, old.id ?? "", old.inputs, old.outputs, fresh.inputs);
    return settleDiff(answer, old.inputs, fresh.inputs);
  }

  private findOld(urn: string, goal: Goal): ResourceState | undefined {
    const { stack, project } = this.options;
    const identity = { stack, project, parent: goal.parent, type: goal.type, name: goal.name };
    const aliases = aliasUrns(identity, goal.aliases, (parent) => this.aliasOf.get(parent));
    for (const candidate of [urn, ...aliases]) {
      const old = this.byUrn.get(candidate);
      if (!old) continue;
      if (this.kept.has(old)) {
        throw new Refused(urn, [
          `Duplicate resource alias '${candidate}' applied to resource with URN '${urn}'; another one has it`,
        ]);
      }
      if (candidate !== urn) this.aliasOf.set(urn, candidate);
      return old;
    }
    return undefined;
  }

  /** The resource that stands for the provider itself: it keeps the configuration that the provider was given. */
  private defaultProvider(): Promise<string> {
    this.provider ??= (async () => {
      const urn = makeUrn(this.options.stack, this.options.project, undefined, providerType, "default");
      const old = this.byUrn.get(urn);
      const inputs = this.options.config;
      const fresh: ResourceState = { urn, custom: true, type: providerType, inputs, outputs: {} };
      if (!old) await this.applier.create(fresh);
      else {
        this.kept.add(old);
        if (sameValue(old.inputs, inputs)) await this.applier.same(old, fresh);
        else await this.applier.update(old, fresh);
      }
      return `${urn}::${fresh.id ?? unknownId}`;
    })();
    return this.provider;
  }

  private async deleteTheRest(): Promise<void> {
    const condemned = new Set(this.olds.filter((old) => (old.delete ? !this.madeRoom.has(old) : !this.kept.has(old))));
    const needed = new Set<ResourceState>();
    for (const wave of deletionWaves(condemned, this.olds)) {
      await Promise.all(
        wave.map(async (old) => {
          await this.slots.take();
          try {
            if (this.outcome !== "running" || needed.has(old)) return;
            if (old.pendingReplacement === true && !old.delete) await this.applier.forget(old);
            else await this.applier.delete(old, old.delete ? "replaced" : "removed");
          } catch (error) {
            if (error instanceof StepFailed && error.goOn)
              for (const other of neededBy(old, this.olds)) needed.add(other);
            else this.fail("failed", error instanceof StepFailed ? undefined : messageOf(error));
            this.protectedLeft = true;
          } finally {
            this.slots.give();
          }
        }),
      );
    }
    if (this.protectedLeft) this.fail("failed");
  }

  private protectedLeft = false;
}

const unknownId = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

function byUrn(resources: readonly ResourceState[]): Map<string, ResourceState> {
  return new Map(resources.filter((resource) => !resource.delete).map((resource) => [resource.urn, resource]));
}

function newState(urn: string, goal: Goal, provider: string | undefined): ResourceState {
  return {
    urn,
    custom: goal.custom,
    type: goal.type,
    inputs: {},
    outputs: {},
    parent: goal.parent,
    protect: goal.protect,
    dependencies: goal.dependencies,
    provider,
    propertyDependencies: goal.propertyDependencies,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    customTimeouts: goal.customTimeouts,
    retainOnDelete: goal.retainOnDelete,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
  };
}

function required(old: ResourceState | undefined): ResourceState {
  if (!old) throw new EngineError("a plan for an old resource without one");
  return old;
}

/** A value in a message: never a secret. */
function shown(value: PropertyValue | undefined): string {
  if (value === undefined || value === null) return "<nil>";
  return JSON.stringify(hide(value)).replace(/^"(.*)"$/s, "$1");
}

function hide(value: PropertyValue): unknown {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown) return "<unknown>";
  if (isList(value)) return value.map(hide);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hide(item)]));
}
