import Queue from "yocto-queue";
import { removeItem } from "./removeItem";

/** The record of a queue. */
export interface QueueRecord {
  readonly name: string;
  /** Maximum number of messages in delivery at the same time; with 1, they are delivered strictly in order. */
  readonly parallelism: number;
  /** Number of messages that are waiting or in delivery. */
  readonly lag: number;
  readonly paused: boolean;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A queue. A message has its turn until it is delivered or has finally failed, including the waits between retries. */
export class OrderedQueue<T> {
  readonly #waiting = new Queue<T>();
  parallelism = 1;
  isPaused = false;
  updatedAt: number;
  #inDelivery = 0;

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
    if (this.isPaused || this.#inDelivery >= this.parallelism || this.#waiting.size === 0) {
      return undefined;
    }
    this.#inDelivery++;
    return this.#waiting.dequeue();
  }

  /** Ends the turn of a message. */
  end(): void {
    this.#inDelivery--;
  }

  /** Removes a message that waits for its turn. @returns whether it waited */
  remove(item: T): boolean {
    return removeItem(this.#waiting, item);
  }

  /** Removes all waiting messages. */
  drop(): T[] {
    return [...this.#waiting.drain()];
  }

  record(): QueueRecord {
    const { name, parallelism, isPaused: paused, createdAt, updatedAt } = this;
    return { name, parallelism, lag: this.#waiting.size + this.#inDelivery, paused, createdAt, updatedAt };
  }
}
