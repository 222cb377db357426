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
  /** How many resources are worked on at a time. */
  readonly parallel: number;
}

/** The operation has ended, or is about to: nothing more is taken. */
export class Closed extends Error {}

/**
 * One operation on a stack: decides for each resource of the program, in the order they come, what is to be done, and
 * has it done, as many at a time as allowed. After a failure what runs finishes, and nothing else begins.
 */
export class Deployment {
  readonly applier: Applier;
  outcome: "running" | "succeeded" | "refused" | "failed" | "canceled" = "running";
  /** Resolves when the operation stops before its end. */
  readonly stopped: Promise<void>;
  /** The outputs that the program has given for the stack so far. */
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

  /** Does what is to be done about one resource. @throws Closed when the operation ended first */
  async register(goal: Goal): Promise<{ urn: string; id: string | undefined; outputs: PropertyMap }> {
    const registered = new Promise<ResourceState>((resolve) => {
      this.#queue = this.#queue.then(() => this.#handle(goal, resolve));
    });
    const { urn, id, custom, outputs } = await Promise.race([registered, this.#closed]);
    // A component's outputs are what the program says at its end; what the state has may refer to what is not there
    // yet.
    return { urn, id, outputs: custom ? outputs : {} };
  }

  async registerOutputs(urn: string, outputs: PropertyMap): Promise<void> {
    const resource = this.#decisions.made.get(urn);
    if (!resource) throw new EngineError(`cannot complete ${urn}, which is not registered`);
    // Whether old outputs of the stack may be dropped is known at the end.
    if (resource.type === stackType) this.outputs = outputs;
    else {
      this.options.snapshot.change(resource, { outputs });
      await this.options.snapshot.save();
    }
  }

  /** Ends the operation for a reason that lies outside its steps. */
  fail(outcome: "refused" | "failed" | "canceled", message?: string, urn?: string): void {
    if (message !== undefined) this.report("error", message, urn);
    if (this.outcome === "running" || this.outcome === "succeeded") this.outcome = outcome;
    this.#stop();
  }

  report(severity: Severity, message: string, urn?: string): void {
    this.options.emit({ kind: "diagnostic", severity, urn, message });
  }

  /** Reads every resource anew. With `alone`, that is all there is to do, and is counted. */
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

  /** Called when the program has said all it has to say: deletes what it has no more. May be called twice. */
  finish(): Promise<void> {
    this.#finished ??= (async () => {
      await this.#settled();
      if (this.outcome === "running") await this.#deleteTheRest();
      if (this.outcome === "running") this.outcome = "succeeded";
    })();
    return this.#finished;
  }

  /** Waits for what runs, writes the stack's outputs down, and turns away whoever still waits. */
  async end(): Promise<void> {
    await this.#settled();
    await this.#finished?.catch(() => undefined);
    const stack = [...this.#decisions.made.values()].find(({ type }) => type === stackType);
    if (stack && this.outputs) {
      // After a failure an output that is missing may only not have been reached.
      const before = this.outcome === "succeeded" ? {} : this.#decisions.oldOf(stack.urn)?.outputs;
      this.options.snapshot.change(stack, { outputs: { ...before, ...this.outputs } });
    }
    await this.options.snapshot.save();
    this.#close(new Closed());
  }

  async #settled(): Promise<void> {
    // Whoever waits in the queue may start something that runs, and the other way round.
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
      // As the engine does it, the next decision waits until somebody is free to carry this one out.
      await new Promise<void>((started) => {
        void this.#slots.add(async () => {
          started();
          // What the program sends in the same breath is looked at first: it may be a reason to do nothing at all.
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

  /** @returns whether the step was done; unless nothing was even attempted, its failure is the operation's */
  async #attempt(step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!(error instanceof StepFailed)) this.report("error", messageOf(error));
      if (!(error instanceof StepFailed && error.goOn)) this.fail("failed");
      return false;
    }
  }

  async #deleteTheRest(): Promise<void> {
    const { kept, madeRoom } = this.#decisions;
    const condemned = new Set(this.#olds.filter((old) => (old.delete ? !madeRoom.has(old) : !kept.has(old))));
    const needed = new Set<ResourceState>();
    let failed = false;
    const remove = async (old: ResourceState): Promise<void> => {
      if (this.outcome !== "running" || needed.has(old)) return;
      const mode = old.delete ? "replaced" : old.pendingReplacement ? "forgotten" : "removed";
      if (await this.#attempt(() => this.applier.delete(old, mode))) return;
      failed = true;
      // What a protected resource needs must stay with it; the rest may go.
      neededBy(old, this.#olds).forEach((other) => needed.add(other));
    };
    for (const wave of deletionWaves(condemned, this.#olds)) {
      await this.#slots.addAll(wave.map((old) => () => remove(old)));
    }
    if (failed) this.fail("failed");
  }
}
