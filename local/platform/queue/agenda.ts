import TinyQueue from "tinyqueue";

/** Items that are due later, ordered by time. */
export class Agenda<T> {
  /** Entries with the same time keep the order in which they were added. */
  readonly #entries = new TinyQueue<{ readonly at: number; readonly order: number; readonly item: T }>(
    [],
    (one, other) => one.at - other.at || one.order - other.order,
  );
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
