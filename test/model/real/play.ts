import assert from "node:assert/strict";
import { confirmed, dutyOf, type Memory, unconfirmed } from "../memory";
import { type DesiredInputs } from "../desiredInputs";
import { type Fault, faults } from "./faults";
import { type Done, Scene, type Seen } from "./scene";
import { type Name, names, type Step } from "./steps";

type All<T> = Record<Name, T>;
type Memories = Partial<Record<Name, Memory | undefined>>;

/** Runs a sequence with real processes. If a kill leaves open how far things came, the state decides. */
export class Play {
  #memories: Memories = {};
  readonly #wanted: All<DesiredInputs> = { a: { databaseId: "a" }, b: { databaseId: "b" }, c: { databaseId: "c" } };

  private constructor(private readonly scene: Scene) {}

  static async all(steps: readonly Step[]): Promise<void> {
    const scene = await Scene.start();
    try {
      const play = new Play(scene);
      for (const [index, step] of [...steps, last].entries()) {
        await play.#step(step).catch((error: unknown) => {
          const told = JSON.stringify(steps);
          throw new Error(`step ${index + 1}: ${(error as Error).message}\nSequence: ${told}`, { cause: error });
        });
      }
    } finally {
      await scene.end();
    }
  }

  async #step(step: Step): Promise<void> {
    for (const name of names) {
      const version = step.versions[name];
      if (version !== undefined) this.#wanted[name] = { databaseId: name, ...(version !== null && { version }) };
    }
    const before = { ...this.#memories };
    const resets = this.#resets();
    const done = await this.scene.run(this.#wanted, step);
    const seen = await this.scene.see();
    const clean = !done.struck && (step.do !== "up" || names.every((name) => this.#endsWell(before[name], name, step)));
    // The process that was struck may have been done already.
    if (!done.struck) assert.equal(done.code === 0, clean, `ended with code ${done.code}:\n${done.printed}`);
    this.#assertQuietAfter(step, done);
    for (const name of names) {
      const made = this.#resets()[name] - resets[name];
      try {
        if (step.do === "up") this.#afterUp(name, step, done, seen[name], made, clean);
        else this.#afterOther(name, step, seen[name], made);
      } catch (error) {
        throw new Error(`resource ${name}: ${(error as Error).message}\n${done.printed}`, { cause: error });
      }
    }
    if (step !== last) return;
    for (const name of names) {
      assert.equal(seen[name]?.outputs["password"], this.scene.platform.database(name).password);
    }
  }

  /** Nothing queued is sent once the engine is gone; one request, past its last check, may be under way. */
  #assertQuietAfter({ strike, concurrency }: Step, { lost, arrivedByThen }: Done): void {
    if (!strike || !("victim" in strike) || strike.victim !== "engine" || !lost || concurrency > 1) return;
    const underWay = arrivedByThen + (strike.point === "responded" ? 1 : 0);
    assert.ok(this.scene.gate.arrivals.length <= underWay, "more was sent after the engine's end");
  }

  #afterOther(name: Name, step: Step, seen: Seen | undefined, made: number): void {
    assert.deepEqual([made, this.scene.gate.arrivals], [0, []], `${step.do} sent something`);
    const memory = step.do === "destroy" ? undefined : this.#memories[name];
    const isRead = step.do === "refresh" && memory !== undefined;
    this.#memories[name] = matching(seen, [isRead ? { ...memory, initError: false } : memory]);
  }

  #afterUp(name: Name, step: Step, { lost, struck }: Done, seen: Seen | undefined, made: number, clean: boolean): void {
    const { gate, platform } = this.scene;
    const memory = this.#memories[name];
    const desired = this.#wanted[name];
    const due = dutyOf(memory, desired, 0) === "reset";
    const arrivals = gate.arrivals.filter((one) => one === name).length;
    const fault: Fault = faultOf(step, name);
    assert.ok(made <= (due ? 1 : 0), `${made} resets where ${due ? "one" : "none"} was due`);
    assert.ok(arrivals <= (!due ? 0 : fault.verdict === "again" ? 2 : 1), `${arrivals} requests`);
    if (clean) assert.equal(made, due ? 1 : 0, "resets of a run that was not disturbed");

    const withheld = fault.response !== undefined && fault.verdict === "confirmed";
    const password = withheld ? undefined : platform.database(name).password;
    const candidates: (Memory | undefined)[] = [];
    const gotResponse = gate.responded.has(name) || (arrivals > 0 && fault.response === "cut" && !struck);
    const mayBeSaved = arrivals > 0 && made + (fault.verdict === "unknown" ? 1 : 0) > 0;
    const mustBeSaved = mayBeSaved && gotResponse && !lost;
    if (mayBeSaved && fault.verdict !== "unknown") candidates.push(confirmed(memory, desired, 0, { password }));
    if (mayBeSaved && (fault.verdict === "unknown" || struck)) candidates.push(unconfirmed(memory, desired));
    if (!mustBeSaved) candidates.push(...(memory ? [memory, { ...memory, initError: false }] : [undefined]));
    const match = matching(seen, candidates);
    if (match) this.#memories[name] = match;
    else delete this.#memories[name];
  }

  /** Whether the resource's part of an undisturbed `up` succeeds. */
  #endsWell(memory: Memory | undefined, name: Name, step: Step): boolean {
    const duty = dutyOf(memory, this.#wanted[name], 0);
    if (duty === "stop") return false;
    return duty === "keep" || ["confirmed", "again"].includes(faultOf(step, name).verdict);
  }

  #resets(): All<number> {
    const of = (name: Name) => this.scene.platform.database(name).resets;
    return { a: of("a"), b: of("b"), c: of("c") };
  }
}

const good: Fault = { verdict: "confirmed", forwarded: true };

function faultOf(step: Step, name: Name): Fault {
  const fault = step.faults[name];
  return fault ? faults[fault] : good;
}

/** However a sequence went: after new versions and an `up` without faults the state agrees with the platform. */
const last: Step = { do: "up", versions: { a: "last", b: "last", c: "last" }, faults: {}, concurrency: 8 };

/** The one of several memories that agrees with the state. */
function matching(seen: Seen | undefined, candidates: readonly (Memory | undefined)[]): Memory | undefined {
  const found = candidates.findIndex((memory) => {
    if (!memory || !seen) return !memory && !seen;
    const { outcome, rotationCount, unconfirmedResets = 0, password } = seen.outputs;
    const same =
      outcome === memory.outcome &&
      rotationCount === memory.confirmed &&
      unconfirmedResets === memory.unconfirmed &&
      password === memory.password;
    return same && seen.initError === memory.initError;
  });
  assert.ok(found >= 0, `the state has ${JSON.stringify(seen)}, expected one of ${JSON.stringify(candidates)}`);
  return candidates[found];
}
