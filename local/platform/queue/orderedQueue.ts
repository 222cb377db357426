import Queue from "yocto-queue";
import { removeItem } from "./removeItem";

/** A queue. Its messages are delivered one after the other, including the waits between retries. */
export class OrderedQueue<T> {
  readonly #waiting = new Queue<T>();
  #isDelivering = false;

  add(item: T): void {
    this.#waiting.enqueue(item);
  }

  /** @returns whether the message was waiting */
  remove(item: T): boolean {
    return removeItem(this.#waiting, item);
  }

  /** Takes the next message if it is its turn. */
  next(): T | undefined {
    if (this.#isDelivering) return undefined;
    const item = this.#waiting.dequeue();
    this.#isDelivering = item !== undefined;
    return item;
  }

  /** Ends the turn of a message that was delivered or has finally failed. */
  end(): void {
    this.#isDelivering = false;
  }
}
