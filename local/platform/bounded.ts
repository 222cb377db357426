/**
 * Adds to a list of which at least the newest `least` are kept; the others are dropped now and then, many at once,
 * which costs less.
 */
export function addBounded<T>(list: T[], item: T, least: number): void {
  list.push(item);
  if (list.length > least * 1.1) {
    list.splice(0, list.length - least);
  }
}
