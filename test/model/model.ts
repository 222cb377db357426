import {
  adopted,
  completed,
  confirmed,
  differ,
  dutyOf,
  isSettledBy,
  type Memory,
  refreshed,
  settled,
  type Shown,
  unconfirmed,
} from "./memory";
import { attempts, type ResetOutcome, type OutcomeName, outcomes } from "./outcomes";
import { type Result, type UpOptions } from "./inProcessEngine";
import { type Credentials, credentialsOf } from "./fakePlatform";
import { type Delivery, goodReads, type ReadName, type ReadOutcome, readOutcomes, type Reads } from "./reads";
import { type Name, names, type DesiredInputs, type DesiredProgram } from "./desiredInputs";

/** What an `up` is expected to do, in addition to the changes to the model's memories. */
export interface Expected {
  readonly results: Partial<Record<Name, Result>>;
  /** The database of each request that arrives at the platform. */
  readonly arrived: readonly string[];
}

type Settled = { readonly result: "done" | "init error"; readonly memory: Memory } | { readonly result: "failed" };
type Ended = Settled & { readonly engineEnds?: ResetOutcome["engineEnds"] | "now" };
type ReadsOf = Readonly<Record<string, Reads>>;

const killed: Ended = { result: "failed", engineEnds: "now" };
const hasAny = (credentials: Credentials) => Object.keys(credentials).length > 0;

/** What must be true of a stack and its platform, step by step. It knows the rules, and nothing of the code. */
export class Model {
  memories: Partial<Record<Name, Memory>> = {};
  readonly generations = new Map<string, number>();
  desired: DesiredProgram = {};
  delivery: Delivery = "always";
  /** Ends of runs after which a reset is applied, by database. */
  readonly #late = new Map<string, number>();

  /**
   * @param reached collects the names of the duties and faults that occurred; the others are not tested
   * @param canRead whether the program sets the path of reads
   */
  constructor(
    private readonly reached: Set<string>,
    public canRead: boolean,
  ) {}

  /** Whether a confirmed reset is to be completed by a read. */
  isToBeRead(memory: Memory | undefined): boolean {
    return this.canRead && memory?.outcome === "reset" && memory.baseline !== undefined;
  }

  change(databaseId: string): void {
    this.#applyLate(databaseId);
    this.generations.set(databaseId, this.#generation(databaseId) + 1);
  }

  /** Ends a run. */
  end(): void {
    for (const [databaseId, runs] of this.#late) {
      if (runs === 0) this.#applyLate(databaseId);
      else this.#late.set(databaseId, 0);
    }
  }

  refresh(reads: ReadsOf, now: number): void {
    for (const name of names) {
      const memory = this.memories[name];
      if (!memory) continue;
      const { outcome, baseline, databaseId } = memory;
      const isRead = this.canRead && (outcome !== "unknown" || baseline !== undefined);
      const shown = isRead && this.#read(databaseId, reads[databaseId]?.before);
      const read = typeof shown === "object" ? refreshed(memory, shown, now) : memory;
      this.memories[name] = { ...read, initError: false };
    }
  }

  up(
    queued: Readonly<Record<string, readonly OutcomeName[]>>,
    reads: ReadsOf,
    options: UpOptions,
    now: number,
  ): Expected {
    const results: Partial<Record<Name, Result>> = {};
    const arrived: string[] = [];
    let resets = 0;
    let someFailed = false;
    for (const name of names) {
      const desired = this.desired[name];
      if (!desired) continue;
      const saved = this.memories[name];
      const memory = saved?.databaseId === desired.databaseId ? saved : undefined;
      const duty = dutyOf(memory, desired, now);
      this.reached.add(duty);
      if (memory && duty === "keep" && !memory.initError && !options.forced && !this.isToBeRead(memory)) {
        results[name] = "same";
        continue;
      }
      const queue = [...(queued[desired.databaseId] ?? [])];
      const { before, after } = reads[desired.databaseId] ?? goodReads;
      const isLimited = () => options.limit !== undefined && resets >= options.limit;
      const once = (): Ended => {
        if (duty === "keep" && !this.isToBeRead(memory)) {
          return { result: "done", memory: { ...(memory as Memory), initError: false } };
        }
        const mayBeSettled = this.canRead && memory?.outcome === "unknown" && memory.baseline !== undefined;
        if (duty === "stop" && !mayBeSettled) return { result: "failed" };
        if (duty === "reset" && !mayBeSettled && isLimited()) return { result: "failed" };
        const readName = arrived.includes(desired.databaseId) ? after : before;
        const shown = this.canRead ? this.#read(desired.databaseId, readName) : undefined;
        if (shown === "killed") return killed;
        if (memory && duty === "keep") {
          const read = shown === "failed" || !shown ? memory : completed(memory, shown);
          return { result: "done", memory: { ...read, initError: false } };
        }
        if (shown === "failed") return { result: "failed" };
        if (duty === "adopt") return { result: "done", memory: adopted(desired, now, shown) };
        const isSettled = memory && shown && isSettledBy(memory, shown);
        const known = isSettled ? settled(memory, shown, now) : memory;
        const stillDue = isSettled ? dutyOf(known, desired, now) : duty;
        if (isSettled) this.reached.add(`settled, then ${stillDue}`);
        if (known && stillDue === "keep") return { result: "done", memory: known };
        if (stillDue === "stop" || isLimited()) return { result: "failed" };
        const ended = this.#reset(known, desired, now, queue, arrived, shown?.credentials, after);
        if (ended.result !== "failed") resets++;
        return ended;
      };
      // A repeated call does what was certainly not done. Every other result is final.
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
    if (!someFailed) for (const name of names) if (!this.desired[name]) delete this.memories[name];
    return { results, arrived };
  }

  /** One call with all its requests. */
  #reset(
    memory: Memory | undefined,
    desired: DesiredInputs,
    now: number,
    queue: OutcomeName[],
    arrived: string[],
    before: Credentials | undefined,
    after: ReadName,
  ): Ended {
    const { databaseId } = desired;
    const baseline = before && hasAny(before) ? before : undefined;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const outcomeName = queue.shift() ?? "good";
      const outcome: ResetOutcome = outcomes[outcomeName];
      this.reached.add(outcomeName);
      if (outcome.arrives !== false) {
        arrived.push(databaseId);
        this.#applyLate(databaseId);
      }
      const { applies } = outcome;
      const former = this.#generation(databaseId);
      const generation = former + (applies ? 1 : 0);
      if (typeof applies === "object") this.#late.set(databaseId, applies.runs);
      else this.generations.set(databaseId, generation);
      const isLate = typeof applies === "object";
      const compare = (current: number) => {
        const shown = baseline ? this.#read(databaseId, after, current) : "failed";
        if (typeof shown !== "object" || (baseline && differ(baseline, shown.credentials))) return shown;
        return hasAny(shown.credentials) ? ("same" as const) : ("hidden" as const);
      };
      /** What reads show of the new credentials. The first ones may show those of a reset of an earlier run. */
      const read = () => {
        const first = compare(isLate ? former : generation);
        return isLate && applies.reads !== undefined && first === "same" ? compare(generation) : first;
      };
      const ends = outcome.engineEnds && { engineEnds: outcome.engineEnds };
      switch (outcome.verdict) {
        case "again":
          continue;
        case "killed":
          return killed;
        case "refused":
          return { result: "failed", ...ends };
        case "unknown": {
          const shown = read();
          if (shown === "killed") return killed;
          if (typeof shown !== "object") {
            return { result: "init error", memory: unconfirmed(memory, desired, baseline), ...ends };
          }
          this.reached.add("confirmed by a read");
          const made = { generation: shown.generation, ...shown.credentials };
          return { result: "done", memory: confirmed(memory, desired, now, made), ...ends };
        }
        case "confirmed": {
          const isShown = outcome.credentials && (this.delivery === "always" || this.delivery === "once");
          const shown = isShown || !before ? undefined : read();
          if (shown === "killed") return killed;
          const credentials = isShown
            ? credentialsOf(databaseId, generation, ["password", "restToken"])
            : typeof shown === "object" && shown.credentials;
          const mark = (shown === "failed" || shown === "same") && { baseline };
          const made = { generation, password: undefined, ...credentials, ...mark };
          return { result: "done", memory: confirmed(memory, desired, now, made), ...ends };
        }
      }
    }
    return { result: "failed" };
  }

  #applyLate(databaseId: string): void {
    if (this.#late.delete(databaseId)) this.generations.set(databaseId, this.#generation(databaseId) + 1);
  }

  #generation(databaseId: string): number {
    return this.generations.get(databaseId) ?? 1;
  }

  #read(
    databaseId: string,
    name: ReadName = "good",
    generation = this.#generation(databaseId),
  ): Shown | "failed" | "killed" {
    const { shows, kills }: ReadOutcome = readOutcomes[name];
    this.reached.add(`read: ${name}`);
    if (kills) return "killed";
    if (!shows) return "failed";
    const isHidden = this.delivery === "once" || this.delivery === "never";
    return { generation, credentials: isHidden ? {} : credentialsOf(databaseId, generation, shows) };
  }
}
