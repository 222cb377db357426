import type Queue from "yocto-queue";

/** Removes an item from a queue, which keeps its order. @returns whether it was there */
export function removeItem<T>(queue: Queue<T>, item: T): boolean {
  const before = queue.size;
  for (const one of [...queue.drain()]) {
    if (one !== item) queue.enqueue(one);
  }
  return queue.size < before;
}
