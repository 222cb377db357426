import {
  adopted,
  confirmed,
  dutyOf,
  isSettledBy,
  judge,
  knownIn,
  type Memory,
  missingOf,
  pendingAfter,
  refreshed,
  replaced,
  savedIn,
  settled,
  type Shown,
  unconfirmed,
} from "./memory";
import { attempts, type ResetOutcome, type OutcomeName, outcomes } from "./outcomes";
import { type Result, type UpOptions } from "./inProcessEngine";
import { credentialsOf } from "./fakePlatform";
import {
  credentialNames,
  type Credentials,
  type Delivery,
  goodReads,
  type ReadName,
  type ReadOutcome,
  readOutcomes,
  type Reads,
} from "./reads";
import { type Name, names, type DesiredInputs, type DesiredProgram } from "./desiredInputs";

/** What an `up` is expected to do, in addition to the changes to the model's memories. */
export interface Expected {
  readonly results: Partial<Record<Name, Result>>;
  /** The database of each request that arrives at the platform. */
  readonly arrived: readonly string[];
}

type Settled = { readonly result: "done" | "init error"; readonly memory: Memory } | { readonly result: "failed" };
type Ended = Settled & {
  readonly engineEnds?: ResetOutcome["engineEnds"] | "now";
  /** Whether a repeated call tries again, because nothing was sent or it was rejected. */
  readonly isOpen?: boolean;
};
type ReadsOf = Readonly<Record<string, Reads>>;

const killed: Ended = { result: "failed", engineEnds: "now" };

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

  /** Whether credentials are still to be read. */
  isToBeRead(memory: Memory | undefined): boolean {
    return this.canRead && memory !== undefined && memory.outcome !== "unknown" && memory.missing.length > 0;
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
      const { outcome, pending, databaseId } = memory;
      const isRead = this.canRead && (outcome !== "unknown" || pending !== undefined);
      const shown = isRead && this.#read(databaseId, reads[databaseId]?.before);
      const read = typeof shown === "object" ? refreshed(memory, shown, now) : memory;
      this.memories[name] = { ...read, every: memory.every, initError: false };
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
      const isSaved = memory?.outcome === "unknown" || memory?.every === desired.rotateEvery;
      if (memory && duty === "keep" && !memory.initError && !options.forced && !this.isToBeRead(memory) && isSaved) {
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
        const mayBeSettled = this.canRead && memory?.outcome === "unknown" && memory.pending !== undefined;
        if (duty === "stop" && !mayBeSettled) return { result: "failed" };
        if (duty === "reset" && !mayBeSettled && isLimited()) return { result: "failed" };
        const readName = arrived.includes(desired.databaseId) ? after : before;
        const shown = this.canRead ? this.#read(desired.databaseId, readName) : undefined;
        if (shown === "killed") return killed;
        if (memory && duty === "keep") {
          const read = shown === "failed" || !shown ? memory : refreshed(memory, shown, now);
          return { result: "done", memory: { ...read, initError: false } };
        }
        if (shown === "failed") return { result: "failed" };
        if (duty === "adopt") return { result: "done", memory: adopted(desired, now, shown) };
        const isSettled = memory && shown && isSettledBy(memory, shown);
        const known = isSettled ? settled(memory, shown, now) : memory;
        const stillDue = isSettled ? dutyOf(known, desired, now) : duty;
        if (isSettled) this.reached.add(`settled, then ${stillDue}`);
        if (known && stillDue === "keep") return { result: "done", memory: known };
        /** What the read has settled is saved, although the reset failed. */
        const failed = (ended: Ended): Ended =>
          isSettled && known && ended.engineEnds !== "now"
            ? { ...ended, result: "init error", memory: { ...known, initError: true }, isOpen: true }
            : ended;
        if (stillDue === "stop" || isLimited()) return failed({ result: "failed" });
        const ended = this.#reset(known, desired, now, queue, arrived, shown, after);
        if (ended.result !== "failed") resets++;
        return ended.result === "failed" ? failed(ended) : ended;
      };
      // A repeated call does what was certainly not done. Every other result is final.
      let ended = once();
      let engineEnds = ended.engineEnds;
      const isOpen = () => (ended.result === "failed" || ended.isOpen) && engineEnds !== "now";
      for (let repeat = 0; repeat < options.repeats && isOpen(); repeat++) {
        ended = once();
        engineEnds = ended.engineEnds ?? engineEnds;
      }
      results[name] = engineEnds === "now" || engineEnds === "unsaved" ? "killed" : ended.result;
      if (results[name] === "killed") return { results, arrived };
      if (ended.result !== "failed") this.memories[name] = { ...ended.memory, every: desired.rotateEvery };
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
    shownBefore: Shown | undefined,
    after: ReadName,
  ): Ended {
    const { databaseId } = desired;
    const before = shownBefore?.credentials;
    const unsure = before ? pendingAfter(memory, before) : { ...knownIn(memory), pending: undefined };
    const sure = replaced(knownIn(memory, before), savedIn(memory), before ?? {});
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
      /** What reads show of the new credentials. The first ones may show those of a reset of an earlier run. */
      const read = () => {
        const first = this.#read(databaseId, after, isLate ? former : generation);
        const isEarly = typeof first === "object" && judge(sure, first.credentials) === "stale";
        return isEarly && isLate && applies.reads !== undefined ? this.#read(databaseId, after, generation) : first;
      };
      const isCurrent = (shown: Shown | string | undefined): shown is Shown =>
        typeof shown === "object" && judge(sure, shown.credentials) === "current";
      const { formers, rank } = sure;
      const ends = outcome.engineEnds && { engineEnds: outcome.engineEnds };
      switch (outcome.verdict) {
        case "again":
          continue;
        case "killed":
          return killed;
        case "refused":
          return { result: "failed", ...ends };
        case "unknown": {
          const shown = unsure.pending === undefined ? undefined : read();
          if (shown === "killed") return killed;
          if (!isCurrent(shown)) {
            // What the read before it has shown is saved.
            const isKnown = memory && memory.outcome !== "unknown" && shownBefore;
            const saved = isKnown ? refreshed(memory, shownBefore, now) : memory;
            const ofRead = memory ? {} : { generation: shownBefore?.generation };
            return {
              result: "init error",
              memory: { ...unconfirmed(saved, desired, now, unsure), ...ofRead },
              ...ends,
            };
          }
          this.reached.add("confirmed by a read");
          const missing = missingOf(sure.names, shown.credentials);
          const made = { generation: shown.generation, ...shown.credentials, formers, rank, missing };
          // It may be the reset of an earlier run, which was applied late.
          const at = Math.min(memory?.firstAttempt ?? now, now);
          return { result: "done", memory: confirmed(memory, desired, at, made), ...ends };
        }
        case "confirmed": {
          const isDelivered = this.delivery === "always" || this.delivery === "once";
          const sent = isDelivered ? (outcome.credentials ?? []) : [];
          const response = credentialsOf(databaseId, outcome.repeats ? former : generation, sent);
          const verdict = judge(sure, response);
          const returned = this.#returned(verdict, response, [savedIn(memory), before ?? {}]);
          const isComplete = missingOf(sure.names, returned).length === 0;
          const shown = isComplete || !before ? undefined : read();
          if (shown === "killed") return killed;
          const credentials = isCurrent(shown) ? { ...returned, ...shown.credentials } : returned;
          const isOld = outcome.repeats && verdict === "stale";
          // What the read before showed is newer than the saved record.
          const earlier = before && judge(knownIn(memory), before) !== "stale" ? former : memory?.generation;
          const ofResponse = isOld ? earlier : outcome.repeats ? former : generation;
          const made = {
            generation: isCurrent(shown) ? shown.generation : ofResponse,
            ...credentials,
            formers,
            rank,
            missing: before ? missingOf(sure.names, credentials) : [],
          };
          return { result: "done", memory: confirmed(memory, desired, now, made), ...ends };
        }
      }
    }
    return { result: "failed" };
  }

  /** What counts of the response to a reset: if its best credential is hidden, only what differs from before. */
  #returned(verdict: ReturnType<typeof judge>, response: Credentials, before: readonly Credentials[]): Credentials {
    if (verdict === "current") return response;
    if (verdict === "stale") return {};
    const isNew = credentialNames.filter((name) => before.every((one) => one[name] !== response[name]));
    return Object.fromEntries(isNew.flatMap((name) => (response[name] ? [[name, response[name]]] : [])));
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
