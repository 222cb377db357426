/**
 * Appends to a list that keeps at least the newest `least` items. Older ones are removed in batches, which is cheaper.
 */
export function addBounded<T>(list: T[], item: T, least: number): void {
  list.push(item);
  if (list.length > least * 1.1) {
    list.splice(0, list.length - least);
  }
}
