import assert from "node:assert/strict";
import { InProcessEngine } from "./inProcessEngine";
import { FakePlatform } from "./fakePlatform";
import { assertAsExpected, assertInStep, assertInvariants, assertKnown } from "./invariants";
import { type Duty, dutyOf } from "./memory";
import { Model } from "./model";
import { goodReads, type ReadOutcome, readOutcomes, type Reads } from "./reads";
import { plainUp, type Step } from "./steps";
import { type Name, names, type DesiredInputs } from "./desiredInputs";

const bothGood: Readonly<Record<Name, Reads>> = { a: goodReads, b: goodReads };

/** Runs a sequence against the provider, and checks each step against the model and the invariants. */
export class Runner {
  readonly #platform = new FakePlatform();
  readonly #engine = new InProcessEngine(this.#platform);
  readonly #model: Model;

  /**
   * @param canRead whether the program begins with `rekey:databasePath`
   * @param reached collects the names of the duties and outcomes that occurred
   */
  constructor(
    private readonly canRead: boolean,
    reached = new Set<string>(),
  ) {
    this.#model = new Model(reached, canRead);
    this.#engine.canRead = canRead;
    for (const name of names) this.#model.desired[name] = { databaseId: `${name}1` };
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#step(step);
    await this.#finish();
  }

  /** However a sequence went: after a new version and an `up` without faults the state is in step with the platform. */
  async #finish(): Promise<void> {
    await this.#step({ do: "refresh" });
    for (const name of names) await this.#step({ do: "edit", name, change: { version: `last of ${name}` } });
    await this.#step({ do: "set", canRead: this.canRead });
    await this.#step({ do: "deliver", delivery: this.canRead ? "read" : "always" });
    const before = names.map((name) => this.#platform.generation(this.#desired(name).databaseId));
    await this.#step({ do: "up", requests: { a: [], b: [] }, ...plainUp });
    names.forEach((name, index) => {
      const adopts = this.#engine.state[name]?.outputs["outcome"] === "adopted";
      if (!adopts || this.canRead) assertInStep(this.#platform, this.#engine, name);
      const resets = this.#platform.generation(this.#desired(name).databaseId) - (before[index] ?? 0);
      assert.equal(resets, adopts ? 0 : 1, "one reset for a new version");
    });
    const quiet = { ...plainUp, forced: true, repeats: 1 };
    await this.#step({ do: "up", requests: { a: [], b: [] }, ...quiet });
    assert.deepEqual([...this.#platform.arrived, ...this.#platform.read], [], "nothing is left to be done");
    if (!this.canRead) return;
    for (const name of names) await this.#step({ do: "change", name });
    await this.#step({ do: "refresh" });
    for (const name of names) assertInStep(this.#platform, this.#engine, name);
  }

  async #step(step: Step): Promise<void> {
    const { desired } = this.#model;
    switch (step.do) {
      case "edit":
        desired[step.name] = { ...this.#desired(step.name), ...step.change };
        return;
      case "move":
        desired[step.name] = { ...this.#desired(step.name), databaseId: `${step.name}${step.databaseId}` };
        return;
      case "remove":
        delete desired[step.name];
        return;
      case "wait":
        this.#engine.now += step.hours * 3_600_000;
        return;
      case "upgrade":
        this.#engine.providerText += "+";
        return;
      case "set":
        this.#model.canRead = this.#engine.canRead = step.canRead;
        return;
      case "deliver":
        this.#model.delivery = this.#platform.delivery = step.delivery;
        return;
      case "change":
        this.#model.change(this.#desired(step.name).databaseId);
        this.#platform.change(this.#desired(step.name).databaseId);
        return;
      case "up":
        await this.#up(step);
        break;
      default:
        await this.#without(step);
        assert.deepEqual(this.#platform.arrived, [], `${step.do} sent something`);
    }
    assertAsExpected(this.#model, this.#platform, this.#engine);
    assertInvariants(this.#platform, this.#engine);
  }

  async #up({ requests, reads = bothGood, ...options }: Extract<Step, { do: "up" }>): Promise<void> {
    const queued = this.#byDatabase(requests);
    const killed = this.#platform.begin(queued, this.#byDatabase(reads));
    const duties = names.map((name) => this.#dutyOf(name));
    // A reset of an earlier run that is applied during this one cannot be told from one of this run.
    const isLate = names.map((name) => this.#platform.passwordsOf(this.#desired(name).databaseId).length > 1);
    const isNew = names.map((name) => this.#model.memories[name] === undefined);
    const expected = this.#model.up(queued, this.#byDatabase(reads), options, this.#engine.now);
    const results = await this.#engine.up(this.#model.desired, killed, options);
    this.#end();
    assert.deepEqual(results, expected.results);
    assert.deepEqual(this.#platform.arrived, expected.arrived);
    names.forEach((name, index) => {
      const isKept = results[name] === "same" || duties[index] === "keep" || duties[index] === "save";
      if (isKept || !this.#engine.canRead) this.#assertNotRead(name);
      // Without a former reset, or a read that shows it, an old record cannot be distinguished from a new one.
      const { shows }: ReadOutcome = readOutcomes[reads[name].before];
      const isMasked = isNew[index] === true && shows?.length === 0;
      const isBlind = !this.#engine.canRead || this.#platform.delivery === "once" || isMasked;
      const isRepeated = isBlind && requests[name].includes("the record from before");
      if (results[name] === "done" && !isKept && !isLate[index] && !isRepeated) this.#assertKnown(name, reads[name]);
    });
  }

  /** Ends a run. */
  #end(): void {
    this.#platform.end();
    this.#model.end();
  }

  #assertNotRead(name: Name): void {
    assert.ok(!this.#platform.read.includes(this.#desired(name).databaseId), `${name} was read`);
  }

  #assertKnown(name: Name, reads: Reads): void {
    const isShown = ["always", "read"].includes(this.#platform.delivery);
    const isGood = reads.before === "good" && reads.after === "good";
    assertKnown(this.#platform, this.#engine, name, this.#engine.canRead && isShown && isGood);
  }

  /** What is to be done for a resource, a read included. */
  #dutyOf(name: Name): Duty | "read" | "save" {
    const { desired, memories } = this.#model;
    const inputs = desired[name];
    if (!inputs) return "keep";
    const memory = memories[name];
    const duty = dutyOf(memory, inputs, this.#engine.now);
    if (duty !== "keep" || memory === undefined) return duty;
    if (this.#model.isToBeRead(memory)) return "read";
    return memory.outcome !== "unknown" && memory.every !== inputs.rotateEvery ? "save" : "keep";
  }

  /** What must never reset anything. */
  async #without(step: Extract<Step, { do: "preview" | "refresh" | "destroy" }>): Promise<void> {
    if (step.do === "refresh") {
      const reads = this.#byDatabase(step.reads ?? bothGood);
      void this.#platform.begin({}, reads);
      this.#model.refresh(reads, this.#engine.now);
      await this.#engine.refresh();
      this.#end();
      if (!this.#engine.canRead) assert.deepEqual(this.#platform.read, []);
      return;
    }
    void this.#platform.begin();
    if (step.do === "destroy") {
      this.#model.memories = {};
      return this.#engine.destroy();
    }
    const found = await this.#engine.preview(this.#model.desired, step.versionIsKnown);
    for (const name of names) {
      const desired = this.#model.desired[name];
      if (!desired) continue;
      const memory = this.#model.memories[name];
      const does: boolean = !step.versionIsKnown || !memory || this.#dutyOf(name) !== "keep";
      assert.equal(found[name], does, `the preview of ${name}`);
    }
    assert.deepEqual(this.#platform.read, []);
  }

  #desired(name: Name): DesiredInputs {
    return this.#model.desired[name] ?? { databaseId: `${name}1` };
  }

  #byDatabase<T>(values: Readonly<Record<Name, T>>): Record<string, T> {
    return Object.fromEntries(names.map((name) => [this.#desired(name).databaseId, values[name]]));
  }
}
