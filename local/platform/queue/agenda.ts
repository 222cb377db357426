import TinyQueue from "tinyqueue";

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly item: T;
}

/** Items that are due later, ordered by time. Those of the same time keep the order in which they were added. */
export class Agenda<T> {
  readonly #entries = new TinyQueue<Entry<T>>([], (one, other) => one.at - other.at || one.order - other.order);
  #order = 0;

  /** When the next item is due. */
  get nextAt(): number | undefined {
    return this.#entries.peek()?.at;
  }

  add(at: number, item: T): void {
    this.#entries.push({ at, order: this.#order++, item });
  }

  /** Takes the first item that is due at `now`. */
  takeDue(now: number): T | undefined {
    return (this.nextAt ?? Infinity) <= now ? this.#entries.pop()?.item : undefined;
  }
}
