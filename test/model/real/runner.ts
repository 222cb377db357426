import assert from "node:assert/strict";
import {
  confirmed,
  dutyOf,
  knownIn,
  pendingAfter,
  replaced,
  savedIn,
  isSettledBy,
  type Memory,
  refreshed,
  settled,
  type Shown,
  unconfirmed,
} from "../memory";
import { type DesiredInputs } from "../desiredInputs";
import { outcomes, type ResetOutcome } from "../outcomes";
import { type Done, Fixture, type Seen } from "./fixture";
import { type Name, names, programOf, type Step } from "./steps";

type All<T> = Record<Name, T>;
type Memories = Partial<Record<Name, Memory | undefined>>;

/** Runs a sequence with real processes. If a kill leaves open how much was done, the state decides. */
export class Runner {
  #memories: Memories = {};
  readonly #desired: All<DesiredInputs> = { a: { databaseId: "a" }, b: { databaseId: "b" }, c: { databaseId: "c" } };

  private constructor(
    private readonly fixture: Fixture,
    private readonly reads: boolean,
  ) {}

  static async run(steps: readonly Step[], reads: boolean): Promise<void> {
    // A reset that was not applied is read for until the deadline.
    const environment = reads ? { REKEY_DEADLINE_SECONDS: "8" } : {};
    const fixture = await Fixture.start(names, { reads, environment });
    try {
      const runner = new Runner(fixture, reads);
      for (const [index, step] of [...steps, last].entries()) {
        await runner.#step(step).catch((error: unknown) => {
          const sequence = JSON.stringify(steps);
          throw new Error(`step ${index + 1}: ${(error as Error).message}\nSequence: ${sequence}`, { cause: error });
        });
      }
    } finally {
      await fixture.end();
    }
  }

  async #step(step: Step): Promise<void> {
    for (const name of names) {
      const version = step.versions[name];
      if (version !== undefined) this.#desired[name] = { databaseId: name, ...(version !== null && { version }) };
    }
    const shown = this.#shown();
    const before = { ...this.#memories };
    const resets = this.#resets();
    this.fixture.project.rewrite(programOf(this.#desired));
    const done = await this.fixture.run(step.do, step);
    const { resources: seen } = await this.fixture.see();
    const clean =
      !done.struck &&
      (step.do !== "up" || names.every((name) => this.#endsWell(afterRead(before[name], shown[name]), name, step)));
    // The process that was struck may have been done already.
    if (!done.struck) assert.equal(done.code === 0, clean, `ended with code ${done.code}:\n${done.printed}`);
    this.#assertQuietAfter(step, done);
    for (const name of names) {
      const made = this.#resets()[name] - resets[name];
      try {
        if (step.do === "up") this.#afterUp(name, step, done, { seen: seen[name], made, clean, shown: shown[name] });
        else this.#afterOther(name, step, seen[name], made, shown[name]);
      } catch (error) {
        throw new Error(`resource ${name}: ${(error as Error).message}\n${done.printed}`, { cause: error });
      }
    }
    if (step !== last) return;
    for (const name of names) {
      assert.equal(seen[name]?.outputs["password"], this.fixture.platform.database(name).password);
    }
  }

  /** Nothing queued is sent once the engine is gone; one request, past its last check, may be under way. */
  #assertQuietAfter({ strike, concurrency }: Step, { lost, arrivedByThen }: Done): void {
    if (strike?.at === undefined || strike.victim !== "engine" || !lost || concurrency > 1) return;
    const underWay = arrivedByThen + (strike.point === "responded" ? 1 : 0);
    assert.ok(this.fixture.gate.arrivals.length <= underWay, "more was sent after the engine's end");
  }

  #afterOther(name: Name, step: Step, seen: Seen | undefined, made: number, shown: Shown | undefined): void {
    assert.deepEqual(
      { made, arrivals: this.fixture.gate.arrivals },
      { made: 0, arrivals: [] },
      `${step.do} sent something`,
    );
    const memory = step.do === "destroy" ? undefined : this.#memories[name];
    // A refresh saves what a killed run has reset and not saved.
    const read = memory && shown ? refreshed(memory, shown, 0) : memory;
    const isRead = step.do === "refresh" && read !== undefined;
    this.#memories[name] = matching(seen, [isRead ? { ...read, initError: false } : memory]);
  }

  #afterUp(name: Name, step: Step, { lost, struck }: Done, { seen, made, clean, shown }: Observed): void {
    const { gate, platform } = this.fixture;
    const saved = this.#memories[name];
    const memory = afterRead(saved, shown);
    const desired = this.#desired[name];
    const due = dutyOf(memory, desired, 0) === "reset";
    const arrivals = gate.arrivals.filter((one) => one === name).length;
    const fault = this.#faultOf(step, name);
    assert.ok(made <= (due ? 1 : 0), `${made} resets where ${due ? "one" : "none"} was due`);
    assert.ok(arrivals <= (!due ? 0 : fault.verdict === "again" ? 2 : 1), `${arrivals} requests`);
    if (clean) assert.equal(made, due ? 1 : 0, "resets of a run that was not disturbed");

    // After a 429, the second request succeeds.
    const hasPassword = fault.credentials?.includes("password") || fault.verdict === "again";
    const { password } = platform.database(name);
    // Only the password is compared with the state, and what a read is judged by.
    const known = knownIn(memory, shown?.credentials);
    const { formers, rank } = replaced(known, savedIn(memory), shown?.credentials ?? {});
    const confirmation = { formers, rank, missing: [], ...(hasPassword && { password }) };
    const candidates: (Memory | undefined)[] = [];
    const gotResponse = gate.responded.has(name) || (arrivals > 0 && fault.code !== undefined && !struck);
    const mayBeSaved = arrivals > 0 && made + (fault.verdict === "unknown" ? 1 : 0) > 0;
    const mustBeSaved = mayBeSaved && gotResponse && !lost;
    if (mayBeSaved && fault.verdict !== "unknown") candidates.push(confirmed(memory, desired, 0, confirmation));
    if (mayBeSaved && (fault.verdict === "unknown" || struck)) {
      const unsure = shown ? pendingAfter(memory, shown.credentials) : { ...known, pending: undefined };
      candidates.push(unconfirmed(memory, desired, 0, unsure));
    }
    if (!mustBeSaved) {
      const unchanged = saved ? [saved, { ...saved, initError: false }] : [undefined];
      candidates.push(...(memory === saved ? [] : [memory]), ...unchanged);
    }
    const match = matching(seen, candidates);
    if (match) this.#memories[name] = match;
    else delete this.#memories[name];
  }

  /** Whether the resource's part of an undisturbed `up` succeeds. */
  #endsWell(memory: Memory | undefined, name: Name, step: Step): boolean {
    const duty = dutyOf(memory, this.#desired[name], 0);
    if (duty === "stop") return false;
    return duty === "keep" || ["confirmed", "again"].includes(this.#faultOf(step, name).verdict);
  }

  /** What a reset meets. Reads show one that was applied, whatever its response. */
  #faultOf(step: Step, name: Name): ResetOutcome {
    const fault: ResetOutcome = outcomes[step.faults[name] ?? "good"];
    return this.reads && fault.applies ? { ...fault, verdict: "confirmed", credentials: ["password"] } : fault;
  }

  /** What a read of each database shows before a step. Undefined if the program does not read. */
  #shown(): Partial<All<Shown>> {
    if (!this.reads) return {};
    const of = (name: Name): Shown => {
      return { generation: 0, credentials: { password: this.fixture.platform.database(name).password } };
    };
    return { a: of("a"), b: of("b"), c: of("c") };
  }

  #resets(): All<number> {
    const of = (name: Name) => this.fixture.platform.database(name).resets;
    return { a: of("a"), b: of("b"), c: of("c") };
  }
}

/** What an `up` did to a resource, and what a read showed before it. */
interface Observed {
  readonly seen: Seen | undefined;
  readonly made: number;
  readonly clean: boolean;
  readonly shown: Shown | undefined;
}

/** An unconfirmed reset is settled by the read before the next one, if a killed run has made one since. */
function afterRead(memory: Memory | undefined, shown: Shown | undefined): Memory | undefined {
  return memory && shown && isSettledBy(memory, shown) ? settled(memory, shown, 0) : memory;
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
