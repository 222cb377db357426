import { adopted, confirmed, dutyOf, type Memory, unconfirmed } from "./memory";
import { attempts, type ResetOutcome, type OutcomeName, outcomes } from "./outcomes";
import { type Result, type UpOptions } from "./fakeEngine";
import { passwordOf } from "./fakePlatform";
import { type Name, names, type DesiredInputs, type DesiredProgram } from "./desiredInputs";

/** What an `up` is expected to do, in addition to the changes to the model's memories. */
export interface Expected {
  readonly results: Partial<Record<Name, Result>>;
  /** Databases to whose platform a request comes, once for each. */
  readonly arrived: readonly string[];
}

type Settled = { readonly result: "done" | "init error"; readonly memory: Memory } | { readonly result: "failed" };
type Ended = Settled & { readonly engineEnds?: ResetOutcome["engineEnds"] | "now" };

/** What must be true of a stack and its platform, step by step. It knows the rules, and nothing of the code. */
export class Model {
  memories: Partial<Record<Name, Memory>> = {};
  readonly generations = new Map<string, number>();
  wanted: DesiredProgram = {};

  /** @param reached collects the names of the duties and faults that occurred; the others are not tested */
  constructor(private readonly reached: Set<string>) {}

  refresh(): void {
    for (const name of names) {
      const memory = this.memories[name];
      if (memory) this.memories[name] = { ...memory, initError: false };
    }
  }

  up(coming: Readonly<Record<string, readonly OutcomeName[]>>, options: UpOptions, now: number): Expected {
    const results: Partial<Record<Name, Result>> = {};
    const arrived: string[] = [];
    let resets = 0;
    let someFailed = false;
    for (const name of names) {
      const desired = this.wanted[name];
      if (!desired) continue;
      const memory = this.memories[name];
      const duty = dutyOf(memory, desired, now);
      this.reached.add(duty);
      if (memory && duty === "keep" && !memory.initError && !options.forced) {
        results[name] = "same";
        continue;
      }
      const queue = [...(coming[desired.databaseId] ?? [])];
      const once = (): Ended => {
        if (duty === "stop") return { result: "failed" };
        if (duty === "adopt") return { result: "done", memory: adopted(desired, now) };
        if (duty === "keep") return { result: "done", memory: { ...(memory as Memory), initError: false } };
        if (options.limit !== undefined && resets >= options.limit) return { result: "failed" };
        const settled = this.#reset(memory, desired, now, queue, arrived);
        if (settled.result !== "failed") resets++;
        return settled;
      };
      // Repeated, it does again what was certainly not done; anything else has come to its end.
      let ended = once();
      let engineEnds = ended.engineEnds;
      for (let repeat = 0; repeat < options.repeats && ended.result === "failed" && engineEnds !== "now"; repeat++) {
        ended = once();
        engineEnds = ended.engineEnds ?? engineEnds;
      }
      results[name] = engineEnds === "now" || engineEnds === "unsaved" ? "killed" : ended.result;
      if (results[name] === "killed") return { results, arrived };
      if (ended.result !== "failed") this.memories[name] = ended.memory;
      if (engineEnds === "saved") return { results, arrived };
      if (ended.result === "done") continue;
      someFailed = true;
      if (!options.goesOn) break;
    }
    if (!someFailed) for (const name of names) if (!this.wanted[name]) delete this.memories[name];
    return { results, arrived };
  }

  /** One call's way through what its requests meet. */
  #reset(
    memory: Memory | undefined,
    desired: DesiredInputs,
    now: number,
    queue: OutcomeName[],
    arrived: string[],
  ): Ended {
    const { databaseId } = desired;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const outcomeName = queue.shift() ?? "good";
      const outcome: ResetOutcome = outcomes[outcomeName];
      this.reached.add(outcomeName);
      if (outcome.arrives !== false) arrived.push(databaseId);
      const generation = (this.generations.get(databaseId) ?? 1) + (outcome.applies ? 1 : 0);
      this.generations.set(databaseId, generation);
      const ends = outcome.engineEnds && { engineEnds: outcome.engineEnds };
      switch (outcome.verdict) {
        case "again":
          continue;
        case "killed":
          return { result: "failed", engineEnds: "now" };
        case "refused":
          return { result: "failed", ...ends };
        case "unknown":
          return { result: "init error", memory: unconfirmed(memory, desired), ...ends };
        case "confirmed": {
          const password = outcome.credentials ? passwordOf(databaseId, generation) : undefined;
          return { result: "done", memory: confirmed(memory, desired, now, { generation, password }), ...ends };
        }
      }
    }
    return { result: "failed" };
  }
}
