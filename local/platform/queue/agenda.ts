import TinyQueue from "tinyqueue";

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly item: T;
}

/** Items that are due later, ordered by time. Those of the same time keep the order in which they were added. */
export class Agenda<T> {
  #entries = ordered<T>([]);
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

  /** @returns whether the item was there */
  remove(item: T): boolean {
    const { data } = this.#entries;
    this.#entries = ordered(data.filter((entry) => entry.item !== item));
    return this.#entries.length < data.length;
  }
}

function ordered<T>(entries: Entry<T>[]): TinyQueue<Entry<T>> {
  return new TinyQueue(entries, (one, other) => one.at - other.at || one.order - other.order);
}
