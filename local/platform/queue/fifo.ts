/** First in, first out, also with very many items: `Array.shift` moves all that follow. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    if (this.size > 0) {
      this.#items[this.#first++] = undefined;
    }
    if (this.#first === this.#items.length) {
      this.#items = [];
      this.#first = 0;
    } else if (this.#first > 1024 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
