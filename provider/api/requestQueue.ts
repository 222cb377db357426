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

/** The one line in which all requests of a process wait for their turn. */
export class RequestQueue {
  readonly #queue: PQueue;
  /** By a clock that nobody sets back: the line would never go on. */
  #quietUntil = 0;

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
  run<T>(task: () => Promise<T>, begun: boolean): Promise<T> {
    return this.#queue.add(task, { priority: begun ? 1 : 0 });
  }

  /** Runs a task that sends a password reset. */
  async runReset<T>(task: () => Promise<T>, begun: boolean): Promise<T> {
    const { resets } = this;
    resets.waiting++;
    resets.unfinished++;
    resets.onChange();
    const begin = (): Promise<T> => {
      resets.waiting--;
      return task();
    };
    try {
      return await this.run(begin, begun);
    } finally {
      resets.unfinished--;
      resets.onChange();
    }
  }

  /** Lets nobody start for a time, because the platform asked for quiet. */
  quiet(milliseconds: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, performance.now() + milliseconds);
    this.#queue.pause();
    setTimeout(() => {
      if (performance.now() >= this.#quietUntil) this.#queue.start();
    }, milliseconds + 1);
  }
}
