import Queue from "yocto-queue";

/** A queue as clients read it. */
export interface QueueRecord {
  readonly name: string;
  /** Most of its messages that are under way at once; with 1, they are delivered strictly in order. */
  readonly parallelism: number;
  /** Messages that are not done yet, those under way included. */
  readonly lag: number;
  readonly paused: boolean;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A queue: a message has its turn until it is delivered or given up, the waits between its retries included. */
export class OrderedQueue<T> {
  readonly #waiting = new Queue<T>();
  parallelism = 1;
  isPaused = false;
  updatedAt: number;
  #underWay = 0;

  constructor(
    readonly name: string,
    readonly createdAt: number,
  ) {
    this.updatedAt = createdAt;
  }

  add(item: T): void {
    this.#waiting.enqueue(item);
  }

  /** Takes the next message whose turn it is. */
  next(): T | undefined {
    if (this.isPaused || this.#underWay >= this.parallelism || this.#waiting.size === 0) {
      return undefined;
    }
    this.#underWay++;
    return this.#waiting.dequeue();
  }

  /** A message is delivered or given up. */
  end(): void {
    this.#underWay--;
  }

  /** Takes all messages whose turn has not come. */
  drop(): T[] {
    return [...this.#waiting.drain()];
  }

  record(): QueueRecord {
    const { name, parallelism, isPaused: paused, createdAt, updatedAt } = this;
    return { name, parallelism, lag: this.#waiting.size + this.#underWay, paused, createdAt, updatedAt };
  }
}
