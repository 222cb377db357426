/**
 * Remembers what was done in this run, by what asked for it. An engine may repeat a call (an error hook does): it then
 * gets the first call's result, and nothing is sent again.
 */
export class Ledger<T> {
  readonly #entries = new Map<string, Promise<T>>();

  /** Does a thing, or gives what came of it before. A thing that failed was not done, and may be tried again. */
  once(key: string, act: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known) return known;
    const result = act();
    this.#entries.set(key, result);
    result.catch(() => this.#entries.delete(key));
    return result;
  }
}
