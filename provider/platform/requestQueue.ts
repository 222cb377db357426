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
  /** Measured with the monotonic clock: setting the system clock back must not stop the queue. */
  #pausedUntilMs = 0;

  constructor(
    { maxConcurrency, requestsPerSecond }: QueueLimits,
    private readonly resets = new ResetCount(),
  ) {
    this.#queue = new PQueue({
      concurrency: maxConcurrency,
      ...(requestsPerSecond !== undefined && { interval: 1000 / requestsPerSecond, intervalCap: 1 }),
    });
  }

  /** Runs a task when its turn has come; one that already began goes before those that have not. */
  run<T>(task: () => Promise<T>, isRetry: boolean): Promise<T> {
    return this.#queue.add(task, { priority: isRetry ? 1 : 0 });
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

  /** Starts no request for a time, because the platform asked clients to wait. */
  pauseFor(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
    this.#queue.pause();
    setTimeout(() => {
      if (performance.now() >= this.#pausedUntilMs) this.#queue.start();
    }, durationMs + 1);
  }
}
