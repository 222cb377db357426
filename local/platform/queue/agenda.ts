interface Entry<T> {
  readonly at: number;
  /** Entries of the same time keep the order in which they came. */
  readonly order: number;
  readonly item: T;
}

/** What is to happen later, by time: a binary heap, so that very many delayed messages cost little. */
export class Agenda<T> {
  readonly #heap: Entry<T>[] = [];
  #order = 0;

  /** When the next item is due. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  add(at: number, item: T): void {
    const entry = { at, order: this.#order++, item };
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    for (let parent; index > 0 && before(entry, heap[(parent = (index - 1) >> 1)]!); index = parent) {
      heap[index] = heap[parent]!;
    }
    heap[index] = entry;
  }

  /** Takes the first item that is due at `now`. */
  takeDue(now: number): T | undefined {
    const heap = this.#heap;
    const [first] = heap;
    if (first === undefined || first.at > now) {
      return undefined;
    }
    const last = heap.pop()!;
    if (heap.length > 0) {
      let index = 0;
      for (let child; (child = this.#earlierChild(index)) !== undefined && before(heap[child]!, last); index = child) {
        heap[index] = heap[child]!;
      }
      heap[index] = last;
    }
    return first.item;
  }

  #earlierChild(index: number): number | undefined {
    const left = 2 * index + 1;
    const right = left + 1;
    const heap = this.#heap;
    if (left >= heap.length) {
      return undefined;
    }
    return right < heap.length && before(heap[right]!, heap[left]!) ? right : left;
  }
}

function before<T>(one: Entry<T>, other: Entry<T>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
