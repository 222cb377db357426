import { setImmediate } from "node:timers/promises";
import PQueue from "p-queue";
import { Applier, type ApplyOptions, StepFailed } from "./apply";
import { type Chain, Decisions, type DecisionsOptions, type Goal, Refused } from "./decisions";
import { EngineError, messageOf } from "./errors";
import { type ResourceState } from "./format";
import { deletionWaves, neededBy, withoutLost } from "./graph";
import { type Severity } from "./types";
import { stackType } from "./urns";
import { type PropertyMap } from "./values";

export interface DeploymentOptions extends ApplyOptions, DecisionsOptions {
  /** Number of resources that are processed at the same time. */
  readonly parallel: number;
}

/** The operation has ended or is ending, and accepts no more resources. */
export class Closed extends Error {}

/**
 * One operation on a stack. It decides the steps of the resources in the order of their registration, and executes them
 * in parallel. After a failure, running steps finish, and no others start.
 */
export class Deployment {
  readonly applier: Applier;
  outcome: "running" | "succeeded" | "refused" | "failed" | "canceled" = "running";
  /** Resolves if the operation stops early. */
  readonly stopped: Promise<void>;
  /** The stack outputs that the program has registered so far. */
  outputs: PropertyMap | undefined;
  readonly #slots: PQueue;
  readonly #decisions: Decisions;
  #olds: ResourceState[];
  #queue: Promise<void> = Promise.resolve();
  #finished: Promise<void> | undefined;
  #stop: () => void = () => undefined;
  #close: (error: Error) => void = () => undefined;
  readonly #closed: Promise<never>;

  constructor(readonly options: DeploymentOptions) {
    this.applier = new Applier(options);
    this.#slots = new PQueue({ concurrency: options.parallel });
    this.#olds = options.snapshot.state.resources;
    this.#decisions = new Decisions(options, this.applier, this.report.bind(this));
    this.#decisions.compareWith(this.#olds);
    this.stopped = new Promise((resolve) => (this.#stop = resolve));
    this.#closed = new Promise((_, reject) => (this.#close = reject));
    this.#closed.catch(() => undefined);
  }

  /** Executes the steps of one resource. @throws Closed if the operation ends first */
  async register(goal: Goal): Promise<{ urn: string; id: string | undefined; outputs: PropertyMap }> {
    const registered = new Promise<ResourceState>((resolve) => {
      this.#queue = this.#queue.then(() => this.#handle(goal, resolve));
    });
    const { urn, id, custom, outputs } = await Promise.race([registered, this.#closed]);
    // The program registers a component's outputs at its end. The saved ones may refer to resources that do not exist
    // yet.
    return { urn, id, outputs: custom ? outputs : {} };
  }

  async registerOutputs(urn: string, outputs: PropertyMap): Promise<void> {
    const resource = this.#decisions.made.get(urn);
    if (!resource) throw new EngineError(`cannot complete ${urn}, which is not registered`);
    // Whether old stack outputs are removed is only known at the end.
    if (resource.type === stackType) this.outputs = outputs;
    else {
      this.options.snapshot.change(resource, { outputs });
      await this.options.snapshot.save();
    }
  }

  /** Ends the operation for a reason other than a step. */
  fail(outcome: "refused" | "failed" | "canceled", message?: string, urn?: string): void {
    if (message !== undefined) this.report("error", message, urn);
    if (this.outcome === "running" || this.outcome === "succeeded") this.outcome = outcome;
    this.#stop();
  }

  report(severity: Severity, message: string, urn?: string): void {
    this.options.emit({ kind: "diagnostic", severity, urn, message });
  }

  /** Refreshes all resources. @param alone whether this is the whole operation, and its changes are counted */
  async refresh(alone: boolean): Promise<void> {
    const { snapshot } = this.options;
    const parents = new Map(this.#olds.map(({ urn, parent }) => [urn, parent]));
    const lost = new Set<ResourceState>();
    let failed = false;
    const refresh = async (old: ResourceState): Promise<void> => {
      if (this.outcome === "running" && !(await this.applier.refresh(old, alone))) lost.add(old);
    };
    await this.#slots.addAll(this.#olds.map((old) => () => refresh(old).catch(() => void (failed = true))));
    this.#olds = this.#olds.filter((old) => !lost.has(old));
    for (const [resource, changes] of withoutLost(this.#olds, parents)) snapshot.change(resource, changes);
    this.#decisions.compareWith(this.#olds);
    await snapshot.save();
    if (failed) this.fail("failed");
  }

  /** Called at the end of the program: deletes the resources that are no longer in it. May be called twice. */
  finish(): Promise<void> {
    this.#finished ??= (async () => {
      await this.#settled();
      if (this.outcome === "running") await this.#deleteTheRest();
      if (this.outcome === "running") this.outcome = "succeeded";
    })();
    return this.#finished;
  }

  /** Waits for running steps, saves the stack's outputs, and rejects waiting registrations. */
  async end(): Promise<void> {
    await this.#settled();
    await this.#finished?.catch(() => undefined);
    const stack = [...this.#decisions.made.values()].find(({ type }) => type === stackType);
    if (stack && this.outputs) {
      // After a failure, the program may not have reached a missing output, so keep the old ones.
      const before = this.outcome === "succeeded" ? {} : this.#decisions.oldOf(stack.urn)?.outputs;
      this.options.snapshot.change(stack, { outputs: { ...before, ...this.outputs } });
    }
    await this.options.snapshot.save();
    this.#close(new Closed());
  }

  async #settled(): Promise<void> {
    // A queued registration may start a step, and a step may queue a registration.
    for (let queue; queue !== this.#queue;) {
      queue = this.#queue;
      await queue;
      await this.#slots.onIdle();
    }
  }

  async #handle(goal: Goal, done: (resource: ResourceState) => void): Promise<void> {
    if (this.outcome !== "running") return;
    try {
      const [fresh, chain] = await this.#decisions.decide(goal);
      // Like Pulumi's engine, decide the next resource only when this one has a free slot.
      await new Promise<void>((started) => {
        void this.#slots.add(async () => {
          started();
          // First handle messages that the program has sent at the same time: one of them may fail the operation.
          await setImmediate();
          if (await this.#run(chain)) done(fresh);
        });
      });
    } catch (error) {
      const messages = error instanceof Refused ? error.messages : [messageOf(error)];
      for (const message of messages) this.report("error", message, goal.resource.urn);
      this.fail("refused");
    }
  }

  async #run(chain: Chain): Promise<boolean> {
    for (const step of chain) if (this.outcome !== "running" || !(await this.#attempt(step))) return false;
    return true;
  }

  /** @returns whether the step succeeded. A failed step fails the operation, unless nothing was attempted. */
  async #attempt(step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!(error instanceof StepFailed)) this.report("error", messageOf(error));
      if (!(error instanceof StepFailed && error.othersMayContinue)) this.fail("failed");
      return false;
    }
  }

  async #deleteTheRest(): Promise<void> {
    const { kept, madeRoom } = this.#decisions;
    const toDelete = new Set(this.#olds.filter((old) => (old.delete ? !madeRoom.has(old) : !kept.has(old))));
    const needed = new Set<ResourceState>();
    let failed = false;
    const remove = async (old: ResourceState): Promise<void> => {
      if (this.outcome !== "running" || needed.has(old)) return;
      const mode = old.delete ? "replaced" : old.pendingReplacement ? "forgotten" : "removed";
      if (await this.#attempt(() => this.applier.delete(old, mode))) return;
      failed = true;
      // The dependencies of a resource that was not deleted must stay; others may be deleted.
      neededBy(old, this.#olds).forEach((other) => needed.add(other));
    };
    for (const wave of deletionWaves(toDelete, this.#olds)) {
      await this.#slots.addAll(wave.map((old) => () => remove(old)));
    }
    if (failed) this.fail("failed");
  }
}
