import { Applier, type ApplyOptions, StepFailed } from "./apply";
import { EngineError, messageOf } from "./errors";
import { type Chain, Decisions, Refused } from "./decisions";
import { deletionWaves, dropLost, neededBy } from "./graph";
import { Slots } from "./slots";
import { type Snapshot } from "./state";
import { type Goal, type Listener, type ResourceState, type Severity, stackType } from "./types";
import { makeUrn } from "./urns";
import { type PropertyMap, sameValue } from "./values";

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
  private readonly decisions: Decisions;
  private olds: ResourceState[];
  private queue: Promise<void> = Promise.resolve();
  private finished: Promise<void> | undefined;
  private stackOutputs: PropertyMap | undefined;
  private outputsSettled = false;
  private stop: () => void = () => undefined;
  private close: (error: Error) => void = () => undefined;
  private readonly closed: Promise<never>;

  constructor(private readonly options: DeploymentOptions) {
    this.applier = new Applier(options);
    this.slots = new Slots(options.parallel);
    this.snapshot = options.snapshot;
    this.emit = options.emit;
    this.olds = options.olds;
    const report = this.report.bind(this);
    this.decisions = new Decisions({ ...options, applier: this.applier, report });
    this.decisions.compareWith(this.olds);
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
    const resource = this.decisions.made.get(urn);
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
    if (this.outcome === "running" || this.outcome === "succeeded") this.outcome = outcome;
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
    this.decisions.compareWith(this.olds);
    await this.snapshot.save();
    if (failures.length > 0) this.fail("failed");
  }

  /** Called when the program has said all it has to say: deletes what it has no more. May be called twice. */
  finish(): Promise<void> {
    this.finished ??= (async () => {
      await this.settled();
      if (this.outcome === "running") await this.deleteTheRest();
      if (this.outcome === "running") this.outcome = "succeeded";
      this.settleOutputs();
    })();
    return this.finished;
  }

  /** Waits for what runs, writes the stack's outputs down, and turns away whoever still waits. */
  async end(): Promise<void> {
    await this.settled();
    await this.finished?.catch(() => undefined);
    this.settleOutputs();
    await this.snapshot.save();
    this.close(new Closed());
  }

  private settleOutputs(): void {
    const stack = [...this.decisions.made.values()].find(({ type }) => type === stackType);
    if (!stack || !this.stackOutputs || this.outputsSettled) return;
    this.outputsSettled = true;
    // After a failure an output that is missing may only not have been reached.
    const before = this.outcome === "succeeded" ? {} : (this.decisions.oldOf(stack.urn)?.outputs ?? {});
    stack.outputs = { ...before, ...this.stackOutputs };
    this.snapshot.changed(stack);
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
      [fresh, chain] = await this.decisions.decide(urn, goal);
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

  private async deleteTheRest(): Promise<void> {
    const condemned = new Set(
      this.olds.filter((old) => (old.delete ? !this.decisions.madeRoom.has(old) : !this.decisions.kept.has(old))),
    );
    const needed = new Set<ResourceState>();
    let failed = false;
    for (const wave of deletionWaves(condemned, this.olds)) {
      await Promise.all(
        wave.map(async (old) => {
          await this.slots.take();
          try {
            if (this.outcome !== "running" || needed.has(old)) return;
            if (old.pendingReplacement === true && !old.delete) await this.applier.forget(old);
            else await this.applier.delete(old, old.delete ? "replaced" : "removed");
          } catch (error) {
            failed = true;
            // What a protected resource needs must stay with it; the rest may go.
            if (error instanceof StepFailed && error.goOn)
              neededBy(old, this.olds).forEach((other) => needed.add(other));
            else this.fail("failed", error instanceof StepFailed ? undefined : messageOf(error));
          } finally {
            this.slots.give();
          }
        }),
      );
    }
    if (failed) this.fail("failed");
  }
}
