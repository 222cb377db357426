import Queue from "yocto-queue";
import { type FlowControlRecord } from "../flowControl";

/** The limits of a key, as a message sets them. A missing value means no limit. */
export interface Limits {
  /** Maximum number of messages that run at the same time. */
  readonly parallelism?: number | undefined;
  /** Maximum number of messages dispatched in one period. */
  readonly rate?: number | undefined;
  /** Length of the rate period in seconds. Default: 1. */
  readonly period?: number | undefined;
}

/** A flow-control key: its limits, its counters and its wait list. Times are in milliseconds. */
export class FlowControlKey<T> {
  readonly waiting = new Queue<T>();
  /** Whether the key is in the dispatcher's list of keys that may have capacity. */
  isReady = false;
  /** When the dispatcher rechecks the key because a period ends. */
  wakeAt = Infinity;
  isPaused: boolean;
  #limits: Limits;
  #isPinnedParallelism: boolean;
  #isPinnedRate: boolean;
  /** Running messages that were dispatched since the counter was last cleared. */
  #running = 0;
  /** Incremented when the counter is cleared: messages of an earlier epoch must not decrement it. */
  #epoch = 0;
  /** Preset counters, for messages that do not exist. */
  #givenRunning: number;
  #givenWaiting: number;
  #rateCount: number;
  #periodStart: number;
  /** Preset counters are unchanged until a message or an operation affects the key. */
  #asGiven: boolean;

  constructor(
    readonly name: string,
    now: number,
    given: Omit<FlowControlRecord, "flowControlKey"> = {},
    /** Whether the preset waiting messages are delivered as soon as the limits allow it. */
    private readonly isSample = false,
  ) {
    const { parallelismMax, rateMax, ratePeriod } = given;
    this.#limits = { parallelism: parallelismMax, rate: rateMax, period: ratePeriod };
    this.isPaused = given.isPaused ?? false;
    this.#isPinnedParallelism = given.isPinnedParallelism ?? false;
    this.#isPinnedRate = given.isPinnedRate ?? false;
    this.#givenRunning = given.parallelismCount ?? 0;
    this.#givenWaiting = given.waitListSize ?? 0;
    this.#rateCount = given.rateCount ?? 0;
    this.#periodStart = given.ratePeriodStart === undefined ? now : given.ratePeriodStart * 1000;
    this.#asGiven = true;
  }

  get givenRunning(): number {
    return this.#givenRunning;
  }

  /** Whether nothing would be lost if the platform forgot the key. */
  isForgettable(now: number): boolean {
    this.#roll(now);
    const counted = this.waiting.size + this.#givenWaiting + this.#running + this.#givenRunning + this.#rateCount;
    return counted === 0 && !this.isPaused && !this.#isPinnedParallelism && !this.#isPinnedRate;
  }

  /** Sets the limits of a new message, except pinned ones. */
  configure({ parallelism, rate, period }: Limits, now: number): void {
    this.#asGiven = false;
    this.#roll(now);
    const { parallelism: pinnedParallelism, rate: pinnedRate, period: pinnedPeriod } = this.#limits;
    this.#limits = {
      parallelism: this.#isPinnedParallelism ? pinnedParallelism : parallelism,
      ...(this.#isPinnedRate ? { rate: pinnedRate, period: pinnedPeriod } : { rate, period }),
    };
    if (this.#limits.rate === undefined) this.#rateCount = 0;
  }

  /**
   * Whether the first waiting message may be dispatched now. `later` is when the next period starts, if only the rate
   * prevents it.
   */
  capacity(now: number): "yes" | "no" | { readonly later: number } {
    this.#roll(now);
    const { parallelism = Infinity, rate = Infinity } = this.#limits;
    if (this.isPaused || this.waiting.size === 0 || this.#running + this.#givenRunning >= parallelism) {
      return "no";
    }
    if (this.#rateCount < rate) return "yes";
    return rate === 0 ? "no" : { later: this.#periodStart + this.#periodLength };
  }

  /** Counts a dispatched message. @returns the epoch, which `end` needs */
  begin(): number {
    this.#running++;
    if (this.#limits.rate !== undefined) this.#rateCount++;
    return this.#epoch;
  }

  /** Counts a message as ended. */
  end(epoch: number): void {
    if (epoch === this.#epoch) this.#running--;
  }

  /** Clears the parallelism counter. Running messages continue. @see docs/interface.md#reset-a-flow-control-key */
  clearParallelism(): void {
    this.#asGiven = false;
    this.#epoch++;
    this.#running = 0;
    this.#givenRunning = 0;
  }

  /** Clears the rate counter and starts a new period. */
  clearRate(now: number): void {
    this.#asGiven = false;
    this.#rateCount = 0;
    this.#periodStart = now;
  }

  /** Counts the preset waiting messages of a sample key as delivered, as far as the limits allow. */
  deliverSamples(): void {
    const { parallelism = Infinity, rate = Infinity } = this.#limits;
    if (!this.isSample || this.isPaused || this.#running + this.#givenRunning >= parallelism) {
      return;
    }
    const count = Math.min(this.#givenWaiting, rate - this.#rateCount);
    this.#givenWaiting -= count;
    this.#rateCount += count;
  }

  /** Pins the given limits, so that messages cannot change them, and clears the rate counter. */
  pin({ parallelism, rate, period }: Limits, now: number): void {
    this.#roll(now);
    if (parallelism !== undefined) {
      this.#limits = { ...this.#limits, parallelism };
      this.#isPinnedParallelism = true;
    }
    if (rate !== undefined) {
      this.#limits = { ...this.#limits, rate, period };
      this.#isPinnedRate = true;
    }
    this.clearRate(now);
  }

  /** Lets the next message set the limits again. */
  unpin({ parallelism, rate }: { parallelism: boolean; rate: boolean }): void {
    this.#isPinnedParallelism &&= !parallelism;
    this.#isPinnedRate &&= !rate;
  }

  /** Takes over the waiting messages of `other`, which this key replaces. They are part of the preset wait list. */
  replace(other: FlowControlKey<T>): void {
    this.#givenWaiting = Math.max(0, this.#givenWaiting - other.waiting.size);
    for (const item of other.waiting.drain()) {
      this.waiting.enqueue(item);
    }
    this.#asGiven &&= this.waiting.size === 0;
  }

  record(now: number): FlowControlRecord {
    this.#roll(now);
    const { parallelism, rate, period = 1 } = this.#limits;
    return {
      flowControlKey: this.name,
      waitListSize: this.waiting.size + this.#givenWaiting,
      ...(parallelism === undefined ? {} : { parallelismMax: parallelism }),
      parallelismCount: this.#running + this.#givenRunning,
      ...(rate === undefined ? {} : { rateMax: rate }),
      rateCount: this.#rateCount,
      ratePeriod: period,
      ratePeriodStart: Math.floor(this.#periodStart / 1000),
      isPaused: this.isPaused,
      isPinnedParallelism: this.#isPinnedParallelism,
      isPinnedRate: this.#isPinnedRate,
    };
  }

  get #periodLength(): number {
    return (this.#limits.period ?? 1) * 1000;
  }

  /** Starts a new period if the current one is over. Its start is a whole number of periods after the former start. */
  #roll(now: number): void {
    if (this.#asGiven) return;
    const periods = Math.floor((now - this.#periodStart) / this.#periodLength);
    if (periods > 0) {
      this.#periodStart += periods * this.#periodLength;
      this.#rateCount = 0;
    }
  }
}
