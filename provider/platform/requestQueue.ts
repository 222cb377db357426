import PQueue from "p-queue";

/** How fast requests may follow each other. The limits hold in one process. */
export interface QueueLimits {
  /** Requests under way at the same time. */
  readonly maxConcurrency: number;
  /** Requests started in a second; no limit when undefined. */
  readonly requestsPerSecond?: number | undefined;
}

/** Counts the password resets of a process, over all its queues. */
export class ResetCount {
  /** Resets that wait for their turn. */
  waiting = 0;
  /** Resets that wait or are under way. */
  unfinished = 0;
  /** Called when a reset begins to wait, and when one is finished. */
  onChange = (): void => undefined;
}

/** The queue of all requests of a process. */
export class RequestQueue {
  readonly #queue: PQueue;
  /** Milliseconds between the starts of two requests. */
  readonly #intervalMs: number;
  /** Measured with the monotonic clock: setting the system clock back must not stop the queue. */
  #pausedUntilMs = 0;
  /** Ends the pause. It keeps the process alive only while a request waits. */
  #pause: NodeJS.Timeout | undefined;

  constructor(
    { maxConcurrency, requestsPerSecond }: QueueLimits,
    private readonly resets = new ResetCount(),
  ) {
    // Without its own interval, which is measured with the system clock.
    this.#queue = new PQueue({ concurrency: maxConcurrency });
    this.#intervalMs = 1000 / (requestsPerSecond ?? Infinity);
  }

  /** Runs a task when its turn has come; one that already began goes before those that have not. */
  run<T>(task: () => Promise<T>, isRetry = false): Promise<T> {
    const start = (): Promise<T> => {
      if (this.#intervalMs > 0) this.pauseFor(this.#intervalMs);
      return task();
    };
    this.#pause?.ref();
    return this.#queue.add(start, { priority: isRetry ? 1 : 0 });
  }

  /** Runs a task that sends a password reset. */
  async runReset<T>(task: () => Promise<T>, isRetry: boolean): Promise<T> {
    const { resets } = this;
    resets.waiting++;
    resets.unfinished++;
    resets.onChange();
    const begin = (): Promise<T> => {
      resets.waiting--;
      return task();
    };
    try {
      return await this.run(begin, isRetry);
    } finally {
      resets.unfinished--;
      resets.onChange();
    }
  }

  /** Starts no request for a time. */
  pauseFor(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
    this.#queue.pause();
    clearTimeout(this.#pause);
    // A timer may fire a millisecond early.
    this.#pause = setTimeout(() => this.#queue.start(), this.#pausedUntilMs - performance.now() + 1);
    if (this.#queue.size === 0) this.#pause.unref();
  }
}
