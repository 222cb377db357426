import PQueue from "p-queue";

/** How fast requests may follow each other. The limits hold in one process. */
export interface QueueLimits {
  /** Requests under way at the same time. */
  readonly maxConcurrency: number;
  /** Requests started in a second; no limit when undefined. */
  readonly requestsPerSecond?: number | undefined;
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

  constructor({ maxConcurrency, requestsPerSecond }: QueueLimits) {
    // Without its own interval, which is measured with the system clock.
    this.#queue = new PQueue({ concurrency: maxConcurrency });
    this.#intervalMs = 1000 / (requestsPerSecond ?? Infinity);
  }

  /** Runs a task when its turn has come; a retry goes before what has not begun. */
  run<T>(task: () => Promise<T>, { isRetry = false } = {}): Promise<T> {
    const start = (): Promise<T> => {
      if (this.#intervalMs > 0) this.pauseFor(this.#intervalMs);
      return task();
    };
    this.#pause?.ref();
    return this.#queue.add(start, { priority: isRetry ? 1 : 0 });
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
