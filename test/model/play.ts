import assert from "node:assert/strict";
import { FakeEngine } from "./fakeEngine";
import { FakePlatform } from "./fakePlatform";
import { type OutcomeName } from "./outcomes";
import { assertAsExpected, assertInStep, assertInvariants } from "./invariants";
import { dutyOf } from "./memory";
import { Model } from "./model";
import { plainUp, type Step } from "./steps";
import { type Name, names, type DesiredInputs } from "./desiredInputs";

/** Runs a sequence against the provider, and checks each step against the model and the invariants. */
export class Play {
  readonly #platform = new FakePlatform();
  readonly #engine = new FakeEngine(this.#platform);
  readonly #model: Model;

  /** @param reached gets the name of everything that came about */
  constructor(reached = new Set<string>()) {
    this.#model = new Model(reached);
    for (const name of names) this.#model.wanted[name] = { databaseId: `${name}1` };
  }

  async all(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#step(step);
    await this.#end();
  }

  /** However a sequence went: after a new version and an `up` without faults the state is in step with the platform. */
  async #end(): Promise<void> {
    for (const name of names) await this.#step({ do: "edit", name, change: { version: `last of ${name}` } });
    const before = names.map((name) => this.#platform.generation(this.#desired(name).databaseId));
    await this.#step({ do: "up", meets: { a: [], b: [] }, ...plainUp });
    names.forEach((name, index) => {
      const adopts = this.#engine.state[name]?.outputs["outcome"] === "adopted";
      if (!adopts) assertInStep(this.#platform, this.#engine, name);
      const resets = this.#platform.generation(this.#desired(name).databaseId) - (before[index] ?? 0);
      assert.equal(resets, adopts ? 0 : 1, "one reset for a new version");
    });
    const quiet = { ...plainUp, forced: true, repeats: 1 };
    await this.#step({ do: "up", meets: { a: [], b: [] }, ...quiet });
    assert.deepEqual(this.#platform.arrived, [], "nothing is left to be done");
  }

  async #step(step: Step): Promise<void> {
    const { wanted } = this.#model;
    switch (step.do) {
      case "edit":
        wanted[step.name] = { ...this.#desired(step.name), ...step.change };
        return;
      case "move":
        wanted[step.name] = { ...this.#desired(step.name), databaseId: `${step.name}${step.databaseId}` };
        return;
      case "remove":
        delete wanted[step.name];
        return;
      case "wait":
        this.#engine.now += step.hours * 3_600_000;
        return;
      case "upgrade":
        this.#engine.providerText += "+";
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

  async #up({ meets, ...options }: Extract<Step, { do: "up" }>): Promise<void> {
    const coming = this.#coming(meets);
    const killed = this.#platform.begin(coming);
    const expected = this.#model.up(coming, options, this.#engine.now);
    const results = await this.#engine.up(this.#model.wanted, killed, options);
    assert.deepEqual(results, expected.results);
    assert.deepEqual(this.#platform.arrived, expected.arrived);
  }

  /** What must never send anything. */
  async #without(step: Extract<Step, { do: "preview" | "refresh" | "destroy" }>): Promise<void> {
    void this.#platform.begin();
    if (step.do === "refresh") {
      this.#model.refresh();
      return this.#engine.refresh();
    }
    if (step.do === "destroy") {
      this.#model.memories = {};
      return this.#engine.destroy();
    }
    const found = await this.#engine.preview(this.#model.wanted, step.versionIsKnown);
    for (const name of names) {
      const desired = this.#model.wanted[name];
      if (!desired) continue;
      const memory = this.#model.memories[name];
      const does: boolean = !step.versionIsKnown || !memory || dutyOf(memory, desired, this.#engine.now) !== "keep";
      assert.equal(found[name], does, `the preview of ${name}`);
    }
  }

  #desired(name: Name): DesiredInputs {
    return this.#model.wanted[name] ?? { databaseId: `${name}1` };
  }

  #coming(meets: Readonly<Record<Name, readonly OutcomeName[]>>): Record<string, readonly OutcomeName[]> {
    return Object.fromEntries(names.map((name) => [this.#desired(name).databaseId, meets[name]]));
  }
}
